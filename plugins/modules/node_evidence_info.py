#!/usr/bin/python
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: node_evidence_info
short_description: Gather what a host says about its pod network
description:
  - Gathers the raw output of standard commands and the text of standard files, in the collection's evidence format.
  - It changes nothing. It loads no kernel module, makes no table or chain, restarts nothing.
  - Commands run side by side, each for at most five seconds. Logs and journals are cut to their last warnings.
author: podnet.kubeadm contributors (@podnet)
extends_documentation_fragment:
  - podnet.kubeadm._attributes
  - podnet.kubeadm._evidence_info
options:
  gather:
    description:
      - Keys of the evidence format, or names of groups of keys.
      - V(all) is everything, V(before) what is judged before a cluster is built, and V(proof) what is read back after
        flannel was applied.
    type: list
    elements: str
    default: [all]
  inventory_address:
    description: The address at which the inventory reaches the host; returned as it is.
    type: str
  roles:
    description: What the host is in the cluster; returned as it is.
    type: list
    elements: str
    choices: [control_plane, worker]
  controller_clock:
    description:
      - Seconds since the epoch on the controller when the task starts; returned beside the host's own clock.
      - Both differ by the time that starting the module takes, too.
    type: float
seealso:
  - module: podnet.kubeadm.cluster_evidence_info
"""

EXAMPLES = r"""
- name: Gather everything that the rules can judge
  podnet.kubeadm.node_evidence_info:
    inventory_address: "{{ ansible_host | default(inventory_hostname) }}"
    roles: "{{ ['control_plane'] if inventory_hostname in groups['kube_control_plane'] else ['worker'] }}"
    controller_clock: "{{ now().timestamp() }}"
  register: node_evidence

- name: Gather what bears on the address plan
  podnet.kubeadm.node_evidence_info:
    gather: [ip_address, ip_route, ip6_route, resolv_conf]
  register: node_networks
"""

RETURN = r"""
evidence:
  description: >-
    The part of the evidence that belongs below C(nodes.NAME). A key that is absent was not looked at; an empty value
    means that there was nothing.
  type: dict
  returned: always
  sample:
    hostname: node1
    ip_route:
      - dst: default
        gateway: 192.168.10.1
        dev: eth0
    subnet_env: |
      FLANNEL_NETWORK=10.244.0.0/16
      FLANNEL_SUBNET=10.244.1.1/24
      FLANNEL_MTU=1450
      FLANNEL_IPMASQ=true
missing:
  description: What was asked for and could not be looked at, with the reason. A dot leads to a part of a key.
  type: dict
  returned: always
  sample:
    link_offload: ethtool is not installed
    journal.crio: "'journalctl -u crio.service' did not end within 5 s"
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.gather import gather, selected
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.node import GROUPS, TABLE
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.source import Source


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "gather": {"type": "list", "elements": "str", "default": ["all"]},
            "inventory_address": {"type": "str"},
            "roles": {"type": "list", "elements": "str", "choices": ["control_plane", "worker"]},
            "controller_clock": {"type": "float"},
        },
        supports_check_mode=True,
    )
    try:
        keys = selected(module.params["gather"], TABLE, GROUPS)
    except ValueError as error:
        module.fail_json(msg=f"gather: {error}")
    evidence: dict[str, Any]
    evidence, missing = gather(Source(), TABLE, keys)
    for name in ("inventory_address", "roles", "controller_clock"):
        if module.params[name] is not None:
            evidence[name] = module.params[name]
    module.exit_json(changed=False, evidence=evidence, missing=missing)


if __name__ == "__main__":
    main()
