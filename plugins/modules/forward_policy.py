#!/usr/bin/python
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: forward_policy
short_description: Tell whether a host forwards pod traffic and lets other nodes in, and make it so
description:
  - Walks the packets that a node of a flannel cluster has to forward through all rules of the host, iptables of both
    backends and nftables alike, in the kernel's order. Says which rule stops one, in which table, and who loads it.
  - O(state=permitted) makes the smallest lasting change, in the language of whoever owns the rule that drops. That is a
    policy of firewalld (from 2.1 on with a zone C(podnet-pods), which accepts what pods send to their own host, too), a
    route rule of ufw, Docker's chain C(DOCKER-USER), or else a chain C(PODNET-FORWARD) that is entered right before
    what drops.
  - Never changes the policy of a chain, never flushes, and never edits an nft table that neither a program nor a file
    of the host is known to keep. There it fails and says the rules to add.
  - Never puts an accept in front of a policy engine's chains or of other rules that deny something. A rule that is
    about some of the pods' traffic only, such as a part of the range, one protocol or the way to outside, is taken for
    meant. There it fails and says the command that removes it.
extends_documentation_fragment:
  - podnet.kubeadm._attributes
attributes:
  check_mode:
    support: full
    details:
      - What would be changed is walked as if it were, so that a further rule behind the first one is told as well.
  diff_mode:
    support: full
  idempotent:
    support: full
author:
  - podnet.kubeadm contributors (@podnet)
options:
  state:
    description:
      - V(asserted) fails unless everything is accepted, and changes nothing.
      - V(permitted) sees to it that everything is accepted. Where it is already, nothing is changed.
      - V(absent) takes back what V(permitted) has added, and nothing else.
    type: str
    choices: [asserted, permitted, absent]
    default: asserted
  pod_cidrs:
    description:
      - The cluster's pod ranges. Traffic from and to them is to be forwarded.
      - With O(state=permitted) the list is all that is let in. What an earlier run let in and the list no longer names
        is taken back, an empty list takes back all. Where the option is left out, what was let in stays.
    type: list
    elements: str
  ports:
    description:
      - Ports of this host that other nodes have to reach.
      - With O(state=permitted) the list is all that is let in, as with O(pod_cidrs).
    type: list
    elements: dict
    suboptions:
      port:
        description: A port, or a range such as V(2379-2380).
        type: str
        required: true
      protocol:
        description: The protocol.
        type: str
        choices: [tcp, udp]
        default: tcp
      sources:
        description: Addresses or networks that reach it. Addresses of the host itself are passed over.
        type: list
        elements: str
        required: true
  undetermined:
    description:
      - What to do where the rules alone do not tell, because a rule depends on what no listing shows (a rate limit, an
        ipset) or because a listing could not be made.
    type: str
    choices: [fail, warn]
    default: fail
  probe:
    description:
      - Sends a packet as well, between two temporary network namespaces on both sides of the host's forward hook, with
        addresses of O(pod_cidrs) that no one uses. They are removed whatever happens.
      - Where the packet contradicts the walk the module fails. That is a fault of this collection.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Fail unless this host forwards pod traffic
  podnet.kubeadm.forward_policy:
    pod_cidrs: [10.244.0.0/16]

- name: See to it that pod traffic is forwarded and that the other nodes reach the API server
  podnet.kubeadm.forward_policy:
    state: permitted
    pod_cidrs: [10.244.0.0/16]
    ports:
      - port: "6443"
        sources: [192.0.2.11, 192.0.2.12]

- name: Take it back
  podnet.kubeadm.forward_policy:
    state: absent
"""

RETURN = r"""
verdict:
  description: V(accept), V(drop) or V(undetermined), the worst of all packets. After the change, where there was one.
  type: str
  returned: when state is not absent
  sample: accept
packets:
  description:
    - Each packet that was walked, with its verdict, the rule that decides (C(by)) and what it met before (C(trail)).
  type: list
  elements: dict
  returned: when state is not absent
  sample:
    - name: pod to pod on another node
      verdict: drop
      by: {table: filter, chain: FORWARD, rule: (policy drop), backend: legacy, owner: null}
reason:
  description: What is dropped, by which rule, who loads it and what to do. Empty where all is accepted.
  type: str
  returned: when state is not absent
  sample: "n2: pods are not forwarded: table inet filter, chain forward, policy drop; no rule accepts 10.42.0.0/16."
remedies:
  description: Who was told to accept, or would be.
  type: list
  elements: str
  returned: always
  sample: [filter/FORWARD]
probe:
  description: Whether the packet that was sent arrived, by IP version.
  type: dict
  returned: when O(probe=true)
  sample: {"4": true}
"""

import platform
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.accepts import AcceptError, accepts_of
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.change import ChangeError, Tools
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.host import Host
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.judgement import worst
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.probe import ProbeError, contradictions, send
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.remedy import describe
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.sentences import refusal


def main() -> None:
    port = {
        "port": {"type": "str", "required": True},
        "protocol": {"type": "str", "choices": ["tcp", "udp"], "default": "tcp"},
        "sources": {"type": "list", "elements": "str", "required": True},
    }
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["asserted", "permitted", "absent"], "default": "asserted"},
            "pod_cidrs": {"type": "list", "elements": "str"},
            "ports": {"type": "list", "elements": "dict", "options": port},
            "undetermined": {"type": "str", "choices": ["fail", "warn"], "default": "fail"},
            "probe": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    try:
        run(module)
    except (AcceptError, ChangeError, ProbeError) as error:
        module.fail_json(msg=str(error))


def run(module: AnsibleModule) -> None:
    state = module.params["state"]
    host = Host(Tools(module.run_command), apply=not module.check_mode)
    if state == "absent":
        remedies = host.take_back()
        module.exit_json(changed=host.changed, remedies=remedies, diff=host.diff())
    cidrs, ports = module.params["pod_cidrs"], module.params["ports"]
    accepts = accepts_of(cidrs or [], ports or [])
    if state == "permitted":
        accepts = accepts.completed(host.known, cidrs is not None, ports is not None)
    if not accepts.cidrs and not accepts.ports:
        module.fail_json(
            msg="forward_policy: nothing to accept; set pod_cidrs or ports, or take all back with state=absent"
        )
    host.look(accepts)
    planned = host.permit(accepts) if state == "permitted" else []
    result: dict[str, Any] = {
        "changed": host.changed,
        "verdict": worst(host.judged),
        "packets": [one.as_dict() for one in host.judged],
        "reason": refusal(platform.node(), host.rules, host.judged, accepts, host.idle),
        "remedies": describe(planned),
    }
    if state == "permitted":
        result["diff"] = host.diff()
    if module.params["probe"] and not module.check_mode:
        arrived = send(accepts, Tools(module.run_command))
        result["probe"] = {str(version): came for version, came in arrived.items()}
        wrong = contradictions(arrived, host.node, accepts)
        if wrong:
            module.fail_json(msg=" ".join(wrong), **result)
    if result["verdict"] == "undetermined" and module.params["undetermined"] == "warn":
        module.warn(result["reason"])
    elif result["verdict"] != "accept":
        module.fail_json(msg=result["reason"], **result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
