#!/usr/bin/python
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: cni_leftovers
short_description: Clear what pods left on a host, and stop those whose network is to be made anew
description:
  - Removes leases of addresses, hostPort rules and links whose pods are gone. What a living pod uses is never touched.
  - With O(stop_sandboxes=true) the sandboxes of all pods that have a network of their own are stopped first. Their
    network is undone with the configuration that is there at that moment, which is why this has to come before a
    change of that configuration. The kubelet must not run meanwhile; it makes the sandboxes anew when it starts.
author:
  - podnet.kubeadm contributors (@podnet)
extends_documentation_fragment:
  - podnet.kubeadm._attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
options:
  stop_sandboxes:
    description: Whether the sandboxes of pods are stopped and removed.
    type: bool
    default: false
  allow_stuck:
    description:
      - Whether sandboxes may stay whose network the present configuration cannot undo, because its plugins are gone.
        They are answered as RV(stuck), to be stopped once flannel's configuration is the only one.
    type: bool
    default: false
  leases:
    description: Whether host-local's leases without a sandbox are removed, if they are older than two minutes.
    type: bool
    default: false
  host_ports:
    description: Whether portmap's rules without a sandbox are removed.
    type: bool
    default: false
  links:
    description: Links that shall not be there. A bridge that has ports is refused, for pods would lose their network.
    type: list
    elements: str
    default: []
  configurations:
    description: Texts of CNI configurations whose bridges shall not be there, as O(links).
    type: list
    elements: str
    default: []
  socket:
    description: The runtime's CRI socket.
    type: str
    default: unix:///run/containerd/containerd.sock
"""

EXAMPLES = r"""
- name: Remove addresses that are reserved for pods that are gone
  podnet.kubeadm.cni_leftovers:
    leases: true

- name: Delete the pods' bridge
  podnet.kubeadm.cni_leftovers:
    links: [cni0]
"""

RETURN = r"""
removed:
  description: What was removed, or would be.
  type: list
  elements: str
  returned: success
  sample: [lease /var/lib/cni/networks/cbr0/10.244.1.9, link cni0]
stuck:
  description: Pods whose sandboxes could not be stopped, with what the runtime said.
  type: list
  elements: str
  returned: O(stop_sandboxes=true)
  sample: ['default/web-0: failed to find plugin "calico" in path [/opt/cni/bin]']
"""

import os
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.podnet.kubeadm.plugins.module_utils import _hosts_cni as cni


def stop_sandboxes(module: AnsibleModule, runtime: cni.Runtime) -> tuple[list[str], list[str]]:
    """Stops and removes the sandboxes that have a network of their own; answers them, and those that could not be."""
    sandboxes = [one for one in runtime.sandboxes() if runtime.own_network(one["id"])]
    stuck: list[str] = []
    if not module.check_mode:
        if sandboxes and module.run_command(["systemctl", "is-active", "--quiet", "kubelet"])[0] == 0:
            raise cni.CniError(
                "The kubelet runs and would start the pods again at once. Stop it first, and start it afterwards."
            )
        for one in list(sandboxes):
            try:
                runtime.remove(one["id"])
            except cni.CniError as error:
                if not module.params["allow_stuck"]:
                    raise
                sandboxes.remove(one)
                stuck.append(f"{cni.title_of(one)}: {error}")
    return [f"sandbox of {cni.title_of(one)}" for one in sandboxes], stuck


def clear_links(module: AnsibleModule) -> list[str]:
    """Deletes the links that shall not be there; answers them."""
    wanted = [*module.params["links"], *cni.bridges_of(module.params["configurations"])]
    found = [link for link in dict.fromkeys(wanted) if cni.there(link)]
    for link in found:
        ports = cni.members(link)
        if ports and not (module.check_mode and module.params["stop_sandboxes"]):
            raise cni.CniError(
                f"{link} has {len(ports)} ports ({', '.join(ports[:8])}), so pods are on it and would lose "
                "their network. Drain the node and stop its pods first."
            )
        if not module.check_mode:
            cni.delete_link(link, module.run_command)
    return [f"link {link}" for link in found]


def clear_host_ports(module: AnsibleModule, live: set[str]) -> list[str]:
    """Removes portmap's rules of sandboxes that are gone; answers their chains."""
    removed = []
    for tool in ("iptables", "ip6tables"):
        if not module.get_bin_path(f"{tool}-save"):
            continue
        _code, saved, _err = module.run_command([f"{tool}-save", "-t", "nat"])
        dead = cni.dead_host_ports(saved, live)
        if not module.check_mode:
            cni.remove_host_ports(dead, module.run_command, tool)
        removed += [f"{tool} chain {chain}" for _rule, chain in dead]
    return removed


def run(module: AnsibleModule) -> dict[str, Any]:
    runtime = cni.Runtime(module.run_command, module.params["socket"])
    removed, stuck = stop_sandboxes(module, runtime) if module.params["stop_sandboxes"] else ([], [])
    removed += clear_links(module)
    if module.params["leases"] or module.params["host_ports"]:
        live = {one["id"] for one in runtime.sandboxes()}
        if module.params["leases"]:
            leaked = cni.leaked_leases(live)
            for path in [] if module.check_mode else leaked:
                os.unlink(path)
            removed += [f"lease {path}" for path in leaked]
        if module.params["host_ports"]:
            removed += clear_host_ports(module, live)
    diff = {"before": "".join(f"{one}\n" for one in removed), "after": ""}
    result = {"changed": bool(removed), "removed": removed, "diff": diff}
    return {**result, "stuck": stuck} if module.params["stop_sandboxes"] else result


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "stop_sandboxes": {"type": "bool", "default": False},
            "allow_stuck": {"type": "bool", "default": False},
            "leases": {"type": "bool", "default": False},
            "host_ports": {"type": "bool", "default": False},
            "links": {"type": "list", "elements": "str", "default": []},
            "configurations": {"type": "list", "elements": "str", "default": []},
            "socket": {"type": "str", "default": "unix:///run/containerd/containerd.sock"},
        },
        supports_check_mode=True,
    )
    try:
        module.exit_json(**run(module))
    except (cni.CniError, OSError) as error:
        module.fail_json(msg=str(error))


if __name__ == "__main__":
    main()
