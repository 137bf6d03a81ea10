#!/usr/bin/python
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: pod_probe
short_description: Send real traffic between pods, from inside their network namespaces
description:
  - Enters the network namespace of a pod from its host, and answers there (O(state=serving)) or asks from there
    (O(state=probing)). Nothing is installed, copied or executed in the pod, so a pod that does nothing but hold an
    address is enough, and no image has to be pulled.
  - An answer counts by what it says. It has a word in it that only this run knows, or what only that part of the
    cluster would say. A gateway that answers for a dead pod is a failure.
  - The answering end is a process on the host that ends with the pod, or after O(life).
author:
  - podnet.kubeadm contributors (@podnet)
extends_documentation_fragment:
  - podnet.kubeadm._attributes
attributes:
  check_mode:
    support: full
    details:
      - Does nothing in check mode; there are no pods to probe.
  diff_mode:
    support: none
  idempotent:
    support: full
    details:
      - Changes nothing that lasts, and never reports a change.
options:
  state:
    description:
      - V(serving) waits for the pod's sandbox and starts the answering end in it.
      - V(probing) asks all of O(peers) and O(targets) from the pod, side by side.
    type: str
    required: true
    choices: [serving, probing]
  node:
    description: Name of this node, which answers carry.
    type: str
    required: true
  namespace:
    description: The pod's namespace.
    type: str
    required: true
  local_namespace:
    description: A second namespace, whose pods on this host answer too, for O(peers[].local_addresses).
    type: str
  word:
    description: The word of this run, letters and digits.
    type: str
    required: true
  port:
    description: Port, TCP and UDP, of the answering end.
    type: int
    default: 9898
  socket:
    description: The runtime's CRI socket.
    type: str
    default: unix:///run/containerd/containerd.sock
  wait_timeout:
    description: Seconds to wait for the pod's sandbox.
    type: int
    default: 90
  life:
    description: Seconds after which the answering end goes away, though the pod stays.
    type: int
    default: 600
  peers:
    description: The nodes and their pods, this one among them.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: The node's name.
        type: str
        required: true
      addresses:
        description: Addresses of its pod, as RV(peer) has them.
        type: list
        elements: str
        default: []
      local_addresses:
        description: Addresses of another pod on it, that its own pod shall ask.
        type: list
        elements: str
        default: []
      hostname:
        description: The node's name in the cluster, where it is another.
        type: str
  node_addresses:
    description: The nodes' own addresses, by their names in the cluster, for the paths to kubelets and hostPorts.
    type: dict
    default: {}
  targets:
    description: What there is to ask beside pods. What is left out is not asked.
    type: dict
    default: {}
    suboptions:
      services:
        description: Addresses of the service over the pods.
        type: list
        elements: str
        default: []
      service_port:
        description: Port of that service.
        type: int
        default: 9898
      name:
        description: That service's name in the cluster's DNS.
        type: str
      dns:
        description: Addresses of the cluster's DNS.
        type: list
        elements: str
        default: []
      api:
        description: Addresses of the API server's service.
        type: list
        elements: str
        default: []
      api_port:
        description: Port of the API server's service.
        type: int
        default: 443
      ca_file:
        description: File on the host with the cluster's CA.
        type: path
        default: /etc/kubernetes/pki/ca.crt
      host_port:
        description: The hostPort under which pods answer on every node.
        type: int
      outside:
        description: Addresses outside of the cluster, each C(HOST:PORT).
        type: list
        elements: str
        default: []
  paths:
    description:
      - Which paths are asked, as shell patterns; V(!) excludes. All where it is empty.
      - The paths are V(tcp/pod), V(udp/pod), V(icmp/pod), V(bulk/pod), V(tcp/local), V(tcp/vip), V(udp/vip),
        V(tcp/hairpin), V(udp/name), V(tcp/name), V(tcp/service), V(tcp/kubelet), V(tcp/node), V(tcp/hostport) and
        V(tcp/outside).
    type: list
    elements: str
    default: []
  partial:
    description:
      - Whether there are pods behind the service on hosts that are not among O(peers). Nothing answers in them, so
        they refuse, which is no failure then.
    type: bool
    default: false
  all_pairs:
    description: Ask every other node, also in a cluster of more than twelve.
    type: bool
    default: false
  limit:
    description: Seconds that one try may take.
    type: float
    default: 2.0
  patience:
    description: Seconds for which a path that fails is tried again, for a cluster that is still coming up.
    type: float
    default: 0.0
"""

EXAMPLES = r"""
- name: Let the probe pods answer
  podnet.kubeadm.pod_probe:
    state: serving
    node: "{{ inventory_hostname }}"
    namespace: podnet-verify
    word: 4f0c21
  register: served

- name: Ask a pod on another node
  podnet.kubeadm.pod_probe:
    state: probing
    node: n1
    namespace: podnet-verify
    word: 4f0c21
    peers:
      - name: n1
        addresses: [10.244.0.7]
      - name: n2
        addresses: [10.244.1.3]
    paths: [tcp/pod, udp/pod]
"""

RETURN = r"""
peer:
  description: This node as one of O(peers), with the addresses of its pods.
  type: dict
  returned: O(state=serving), outside check mode
  sample:
    name: n2
    hostname: n2
    addresses: [10.244.1.3]
    local_addresses: []
drops:
  description: Packets that this host's kernel dropped meanwhile, by counter. Counters that did not move are left out.
  type: dict
  returned: O(state=probing), outside check mode
  sample: {}
probes:
  description:
    - One entry per path and target, with C(from), C(to), C(what), C(address), C(ok), C(ms) (null where nothing right
      came back), C(tries), C(detail) (why it failed, or empty) and, for V(icmp/pod), C(bytes) of payload.
  type: list
  elements: dict
  returned: O(state=probing)
  sample: []
failures:
  description: Sentences about the paths that failed.
  type: list
  elements: str
  returned: O(state=probing)
  sample: []
"""

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.podnet.kubeadm.plugins.module_utils import (
    _detached,
    _netns,
    _probe_asker,
    _probe_plan,
    _probe_server,
)

THREADS = 24


def find(module: AnsibleModule, namespace: str, limit: float) -> _netns.Sandbox:
    """This host's pod of *namespace*, waited for at most *limit* seconds."""
    params = module.params
    runtime = _netns.Runtime(module.run_command, params["socket"], module.get_bin_path("crictl", True))
    end = time.monotonic() + limit
    seen = "the runtime has none yet"
    while True:
        try:
            found = runtime.sandboxes(namespace)
            if found:
                return found[0]
        except _netns.NetnsError as exc:
            seen = str(exc)
        if time.monotonic() > end:
            raise _netns.NetnsError(
                f"no pod of namespace {namespace} has an address on this host after {limit:.0f} s: {seen}; see kubectl "
                f"-n {namespace} get pods,events"
            )
        time.sleep(0.3)


def start_server(module: AnsibleModule, sandbox: _netns.Sandbox) -> None:
    """Start the answering end as a process of its own; returns when it answers, or raises with what it said."""
    params = module.params

    def prepare() -> Callable[[], None]:
        _netns.enter(sandbox.netns)
        _probe_server.serve(params["port"], params["word"], params["node"])
        return lambda: _probe_server.stay(sandbox.pid, params["life"])

    said = _detached.start(prepare)
    if said:
        raise _netns.NetnsError(f"nothing can answer in pod {sandbox.pid} on port {params['port']}: {said}")


def serving(module: AnsibleModule) -> dict[str, Any]:
    if module.check_mode:
        return {}
    params = module.params
    peer: dict[str, Any] = {"name": params["node"], "hostname": socket.gethostname().lower()}
    for namespace, key in ((params["namespace"], "addresses"), (params["local_namespace"], "local_addresses")):
        peer[key] = []
        if namespace:
            sandbox = find(module, namespace, params["wait_timeout"])
            _probe_server.stop_others(sandbox.netns)
            start_server(module, sandbox)
            peer[key] = list(sandbox.addresses)
    return {"peer": peer}


def sentence(result: dict[str, Any]) -> str:
    other = f" on {result['to']}" if result["to"] != result["from"] else ""
    return f"{result['what']} from {result['from']} to {result['address']}{other}: {result['detail']}"


def probing(module: AnsibleModule) -> dict[str, Any]:
    params = module.params
    unknown = _probe_plan.unknown_patterns(params["paths"])
    if unknown:
        raise _netns.NetnsError(f"no path is called {', '.join(unknown)}; there are {', '.join(_probe_plan.PATHS)}")
    if module.check_mode:
        return {"probes": [], "failures": []}
    for peer in params["peers"]:
        names = params["node_addresses"]
        peer["host_addresses"] = names.get(peer["hostname"]) or names.get(peer["name"]) or []
    probes = _probe_plan.plan(params["node"], params["peers"], params["targets"], params["paths"], params["all_pairs"])
    asker = _probe_asker.Asker(params)
    end = time.monotonic() + params["patience"]
    sandbox = find(module, params["namespace"], 5)
    drops = _netns.drops()
    results: list[dict[str, Any]] = []
    for where in ("node", "pod"):  # there is no way back from the pod's namespace
        if where == "pod":
            _netns.enter(sandbox.netns)
            asker.mtu = _netns.mtu_of("eth0")
        asked = [probe for probe in probes if probe.where == where]
        if asked:
            with ThreadPoolExecutor(THREADS) as pool:
                results += pool.map(lambda probe: asker.ask(probe, end), asked)
    if _probe_plan.chosen("tcp/hairpin", params["paths"]):
        results += asker.hairpins(results)
    results = [result for result in results if _probe_plan.chosen(result["what"], params["paths"])]
    now = _netns.drops()
    return {
        "probes": results,
        "failures": [sentence(result) for result in results if not result["ok"]],
        "drops": {name: count - drops.get(name, 0) for name, count in now.items() if count > drops.get(name, 0)},
    }


def main() -> None:
    strings = {"type": "list", "elements": "str", "default": []}
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "required": True, "choices": ["serving", "probing"]},
            "node": {"type": "str", "required": True},
            "namespace": {"type": "str", "required": True},
            "local_namespace": {"type": "str"},
            "word": {"type": "str", "required": True},
            "port": {"type": "int", "default": 9898},
            "socket": {"type": "str", "default": "unix:///run/containerd/containerd.sock"},
            "wait_timeout": {"type": "int", "default": 90},
            "life": {"type": "int", "default": 600},
            "peers": {
                "type": "list",
                "elements": "dict",
                "default": [],
                "options": {
                    "name": {"type": "str", "required": True},
                    "addresses": strings,
                    "local_addresses": strings,
                    "hostname": {"type": "str"},
                },
            },
            "node_addresses": {"type": "dict", "default": {}},
            "targets": {
                "type": "dict",
                "default": {},
                "options": {
                    "services": strings,
                    "service_port": {"type": "int", "default": 9898},
                    "name": {"type": "str"},
                    "dns": strings,
                    "api": strings,
                    "api_port": {"type": "int", "default": 443},
                    "ca_file": {"type": "path", "default": "/etc/kubernetes/pki/ca.crt"},
                    "host_port": {"type": "int"},
                    "outside": strings,
                },
            },
            "paths": strings,
            "partial": {"type": "bool", "default": False},
            "all_pairs": {"type": "bool", "default": False},
            "limit": {"type": "float", "default": 2.0},
            "patience": {"type": "float", "default": 0.0},
        },
        supports_check_mode=True,
    )
    try:
        result = serving(module) if module.params["state"] == "serving" else probing(module)
    except _netns.NetnsError as exc:
        module.fail_json(msg=str(exc))
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
