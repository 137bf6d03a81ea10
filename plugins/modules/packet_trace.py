#!/usr/bin/python
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: packet_trace
short_description: Watch where one connection comes by on a host
description:
  - Watches all links of a host, and those of some of its pods, for the packets of one connection of TCP or UDP
    (O(state=watching)). Makes that connection from a pod or from the host (O(state=connecting)), and answers what
    came by (O(state=collected)).
  - Only headers are read, through packet sockets with a filter of the kernel, so that a busy host does not notice.
    Nothing is installed, and nothing is written to a disk.
  - The watch is a process of its own on the host that ends when it is asked, or after O(life).
author:
  - podnet.kubeadm contributors (@podnet)
extends_documentation_fragment:
  - podnet.kubeadm._attributes
attributes:
  check_mode:
    support: full
    details:
      - Does nothing in check mode.
  diff_mode:
    support: none
  idempotent:
    support: full
    details:
      - Changes nothing that lasts, and never reports a change.
options:
  state:
    description:
      - V(watching) starts the watch, and returns when it sees everything.
      - V(connecting) makes the connection from the pod O(pods), or from the host where it is empty, and waits for its
        end.
      - V(collected) ends the watch.
    type: str
    required: true
    choices: [watching, connecting, collected]
  word:
    description: Name of this trace, letters and digits.
    type: str
    required: true
  pods:
    description: Pods on this host, each C(NAMESPACE/NAME); with O(state=connecting) the one that connects.
    type: list
    elements: str
    default: []
  source_port:
    description: The port from which the connection starts, by which its packets are known.
    type: int
  sequence:
    description:
      - By which its packets are known where an address translation changes the port. TCP's initial sequence number,
        32 bits, or the first two bytes of the datagram, 16 bits.
      - Without it the kernel chooses TCP's, and datagrams have 0.
    type: int
  protocol:
    description:
      - What is tried. With V(udp) a question is sent that every DNS server answers at once, and again each second.
    type: str
    choices: [tcp, udp]
    default: tcp
  address:
    description: The address that is asked.
    type: str
  port:
    description: The port that is asked.
    type: int
  peers:
    description: Other ends that the connection may have after address translation, each C(ADDRESS PORT).
    type: list
    elements: str
    default: []
  vxlan_port:
    description: UDP port within which the same packets are looked for. 0 for none.
    type: int
    default: 8472
  limit:
    description: Seconds that the connection may take.
    type: float
    default: 3.0
  life:
    description: Seconds after which the watch ends by itself.
    type: int
    default: 120
  socket:
    description: The runtime's CRI socket.
    type: str
    default: unix:///run/containerd/containerd.sock
"""

EXAMPLES = r"""
- name: Watch for a connection
  podnet.kubeadm.packet_trace:
    state: watching
    word: 4f0c21
    pods: [default/client]
    source_port: 23456
    address: 10.244.1.3
    port: 80

- name: Make it
  podnet.kubeadm.packet_trace:
    state: connecting
    word: 4f0c21
    pods: [default/client]
    source_port: 23456
    address: 10.244.1.3
    port: 80

- name: Ask what came by
  podnet.kubeadm.packet_trace:
    state: collected
    word: 4f0c21
  register: seen
"""

RETURN = r"""
outcome:
  description:
    - How the connection ended, V(connected) (of UDP V(answered)), V(refused), V(no answer), or in the kernel's words.
  type: str
  returned: O(state=connecting), outside check mode
  sample: connected
ms:
  description: Milliseconds that it took.
  type: float
  returned: O(state=connecting), outside check mode
  sample: 0.6
packets:
  description:
    - Headers of the packets in the order in which they came by, with C(place) (V(host) or the pod), C(link), C(out)
      (whether the link sent it), C(time) (seconds since the epoch), C(source), C(destination), C(source_port),
      C(destination_port) and C(sequence), of TCP also C(flags) and C(acknowledged). Within VXLAN also
      C(outer_source), C(outer_destination) and C(vni).
    - Of an ICMP error C(error) (type and code), C(reporter), and the addresses and ports of the packet it quotes.
  type: list
  elements: dict
  returned: O(state=collected), outside check mode
  sample: []
cut:
  description: Whether there were more packets than are kept.
  type: bool
  returned: O(state=collected), outside check mode
  sample: false
drops:
  description: Packets that this host's kernel dropped meanwhile, by counter. Counters that did not move are left out.
  type: dict
  returned: O(state=collected), outside check mode
  sample: {}
"""

import ipaddress
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.podnet.kubeadm.plugins.module_utils import _netns, _trace_filter, _trace_watch


def namespaces(module: AnsibleModule) -> dict[str, str]:
    """The paths of the pods' network namespaces by the pods' names."""
    runtime = _netns.Runtime(module.run_command, module.params["socket"], module.get_bin_path("crictl", True))
    found = {}
    for name in module.params["pods"]:
        namespace, _slash, pod = name.partition("/")
        sandboxes = runtime.sandboxes(namespace, pod)
        if not sandboxes:
            raise _netns.NetnsError(
                f"pod {name} has no sandbox with an address on this host; "
                f"see kubectl -n {namespace} get pod {pod} -o wide"
            )
        found[name] = sandboxes[0].netns
    return found


def ends(module: AnsibleModule) -> list[tuple[str, int]]:
    """The other ends, all of the family of the address that is asked."""
    params = module.params
    found = [(params["address"], params["port"])]
    for text in params["peers"]:
        address, _space, port = text.partition(" ")
        if not port.isdigit():
            raise _netns.NetnsError(f"peers has {text!r}; an address, a blank and a port are expected")
        found.append((address, int(port)))
    try:
        version = ipaddress.ip_address(found[0][0]).version
        return [one for one in found if ipaddress.ip_address(one[0]).version == version]
    except ValueError as exc:
        raise _netns.NetnsError(f"address or peers: {exc}") from exc


def act(module: AnsibleModule) -> dict[str, Any]:
    params = module.params
    if params["state"] == "collected":
        return {} if module.check_mode else _trace_watch.collect(params["word"], 10)
    peers = ends(module)
    if module.check_mode:
        return {}
    pods = namespaces(module)
    udp = params["protocol"] == "udp"
    if params["state"] == "connecting":
        if len(pods) > 1:
            raise _netns.NetnsError(f"pods has {len(pods)} pods; one of them makes the connection")
        netns = next(iter(pods.values()), "")
        start = params["source_port"], *peers[0], params["limit"]
        return _trace_watch.connect(netns, *start, params["sequence"], udp)
    version = 6 if ":" in peers[0][0] else 4
    protocol = _trace_filter.UDP if udp else _trace_filter.TCP
    wanted = _trace_filter.patterns(version, params["source_port"], peers, params["vxlan_port"], protocol)
    _trace_watch.start(params["word"], wanted, params["vxlan_port"], pods, params["life"])
    return {}


def main() -> None:
    strings = {"type": "list", "elements": "str", "default": []}
    needed = ["source_port", "address", "port"]
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "required": True, "choices": ["watching", "connecting", "collected"]},
            "word": {"type": "str", "required": True},
            "pods": strings,
            "source_port": {"type": "int"},
            "sequence": {"type": "int"},
            "protocol": {"type": "str", "choices": ["tcp", "udp"], "default": "tcp"},
            "address": {"type": "str"},
            "port": {"type": "int"},
            "peers": strings,
            "vxlan_port": {"type": "int", "default": 8472},
            "limit": {"type": "float", "default": 3.0},
            "life": {"type": "int", "default": 120},
            "socket": {"type": "str", "default": "unix:///run/containerd/containerd.sock"},
        },
        required_if=[("state", "watching", needed), ("state", "connecting", needed)],
        supports_check_mode=True,
    )
    try:
        result = act(module)
    except (_netns.NetnsError, _trace_watch.WatchError) as exc:
        module.fail_json(msg=str(exc))
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
