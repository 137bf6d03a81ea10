#!/usr/bin/python
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_evidence_info
short_description: Gather what a cluster says about its pod network
description:
  - Gathers what the API server, etcd and the static pods of a control plane say, in the collection's evidence format.
    It runs on one control plane host.
  - It changes nothing. Its only request that is not a read is the SubjectAccessReview, which is not stored anywhere.
  - When the API server does not answer, files and etcd are still read.
  - No Secret is read; variables of containers are copied only when they are known to be harmless.
  - It speaks to the API server itself, without C(kubectl). Each request has five seconds; logs and events are bounded.
  - It has to be root to read kubeadm's kubeconfig.
author: podnet.kubeadm contributors (@podnet)
extends_documentation_fragment:
  - podnet.kubeadm._attributes
  - podnet.kubeadm._evidence_info
options:
  gather:
    description:
      - Keys of the evidence format, or names of groups of keys.
      - V(all) is everything, V(proof) what is compared before and after flannel is applied.
    type: list
    elements: str
    default: [all]
  kubeconfig:
    description:
      - A kubeconfig with one cluster and a client certificate, as kubeadm writes it.
      - Without it the module takes C(/etc/kubernetes/admin.conf) or C(/etc/kubernetes/super-admin.conf), and turns to
        the API server of the same host when the endpoint in it does not answer.
    type: path
  name:
    description: The host's name in the inventory, under which its static pods are listed.
    type: str
    required: true
seealso:
  - module: podnet.kubeadm.node_evidence_info
"""

EXAMPLES = r"""
- name: Gather everything that the rules can judge
  podnet.kubeadm.cluster_evidence_info:
    name: "{{ inventory_hostname }}"
  register: cluster_evidence

- name: Gather the ranges that the running cluster has
  podnet.kubeadm.cluster_evidence_info:
    name: "{{ inventory_hostname }}"
    gather: [nodes, kubeadm_config, flannel_config]
  register: cluster_ranges
"""

RETURN = r"""
evidence:
  description: >-
    The part of the evidence that belongs below C(cluster). A key that is absent was not looked at; an empty value means
    that there was nothing.
  type: dict
  returned: always
  sample:
    version:
      serverVersion:
        gitVersion: v1.37.2
    crds: []
    flannel_config:
      namespace: kube-flannel
      net-conf.json: '{"Network": "10.244.0.0/16", "Backend": {"Type": "vxlan"}}'
      cni-conf.json: '{"name": "cbr0", "plugins": []}'
missing:
  description: What was asked for and could not be looked at, with the reason. A dot leads to a part of a key.
  type: dict
  returned: always
  sample:
    nodes: "no API server answers: https://192.168.10.11:6443: [Errno 111] Connection refused"
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.cluster import GROUPS, TABLE, ControlPlane
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.gather import gather, selected


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "gather": {"type": "list", "elements": "str", "default": ["all"]},
            "kubeconfig": {"type": "path"},
            "name": {"type": "str", "required": True},
        },
        supports_check_mode=True,
    )
    try:
        keys = selected(module.params["gather"], TABLE, GROUPS)
    except ValueError as error:
        module.fail_json(msg=f"gather: {error}")
    source = ControlPlane(module.params["name"], module.params["kubeconfig"] or "")
    evidence: dict[str, Any]
    evidence, missing = gather(source, TABLE, keys)
    module.exit_json(changed=False, evidence=evidence, missing=missing)


if __name__ == "__main__":
    main()
