# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import pathlib
from typing import Any, Callable

import pytest
from ansible.module_utils.basic import AnsibleModule

from ansible_collections.podnet.kubeadm.plugins.module_utils import _hosts_cni
from ansible_collections.podnet.kubeadm.plugins.modules import cni_leftovers

RunModule = Callable[..., "dict[str, Any]"]
WITNESS, PROXY, GONE = "f" * 64, "2" * 64, "d" * 64
# As `crictl pods -o json` and `crictl inspectp -o json` (1.37.0, containerd 2.4.2) answered on a node of the lab, with
# only what is read kept and ids of a letter.
PODS = {
    "items": [
        {
            "id": WITNESS,
            "metadata": {"name": "witness-x7fsk", "uid": "8dfd3692", "namespace": "witness", "attempt": 0},
            "state": "SANDBOX_READY",
            "createdAt": "1796071531146593291",
        },
        {
            "id": PROXY,
            "metadata": {"name": "kube-proxy-9z2wj", "uid": "8103507d", "namespace": "kube-system", "attempt": 0},
            "state": "SANDBOX_READY",
            "createdAt": "1796071245342768914",
        },
    ]
}
# What `crictl stopp` said while a file of Calico, whose plugin was not there, was the first.
UNDO = (
    'rpc error: code = Unknown desc = failed to destroy network for sandbox: plugin type="calico" failed (delete): '
    'failed to find plugin "calico" in path [/opt/cni/bin]'
)
NETWORK = {WITNESS: "POD", PROXY: "NODE"}
# Of `iptables-save -t nat` on a node whose pod with a hostPort had gone; the id is as above.
NAT = f"""*nat
:CNI-DN-dead - [0:0]
:CNI-HOSTPORT-DNAT - [0:0]
-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"cbr0\\" id: \\"{GONE}\\"" \
-m multiport --dports 18080 -j CNI-DN-dead
-A CNI-DN-dead -p tcp -m tcp --dport 18080 -j DNAT --to-destination 10.88.0.3:8080
COMMIT
"""


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> dict[str, Any]:
    """A host with the sandboxes of PODS, a bridge cni0 without ports, a leaked lease, and what it was asked to do."""
    state: dict[str, Any] = {"pods": PODS, "kubelet": "inactive", "asked": [], "stuck": set()}
    bridge = tmp_path / "net" / "cni0" / "brif"
    bridge.mkdir(parents=True)
    state["ports"] = bridge
    leases = tmp_path / "networks" / "cbr0"
    leases.mkdir(parents=True)
    state["lease"] = leases / "10.244.1.9"
    state["lease"].write_text(f"{GONE}\r\neth0")

    def run_command(_self: Any, command: list[str], **_options: Any) -> tuple[int, str, str]:
        if "crictl" in command:
            words = command[command.index("crictl") + 3 :]
            if words[0] == "pods":
                return 0, json.dumps(state["pods"]), ""
            if words[0] == "inspectp":
                options = {"network": NETWORK[words[-1]], "pid": "CONTAINER"}
                return 0, json.dumps({"status": {"linux": {"namespaces": {"options": options}}}}), ""
            if words[0] == "stopp" and words[-1] in state["stuck"]:
                return 1, "", UNDO
            state["pods"] = {"items": [one for one in state["pods"]["items"] if one["id"] != words[-1]]}
        elif command[:2] == ["systemctl", "is-active"]:
            return (0 if state["kubelet"] == "active" else 3), "", ""
        elif command[0].endswith("-save"):
            return 0, NAT if command[0] == "iptables-save" else "", ""
        state["asked"].append(" ".join(word for word in command if word not in ("timeout", "60")))
        return 0, "", ""

    monkeypatch.setattr(AnsibleModule, "run_command", run_command)
    monkeypatch.setattr(AnsibleModule, "get_bin_path", lambda _self, name, *_rest: f"/usr/sbin/{name}")
    monkeypatch.setattr(_hosts_cni, "SETTLE", 0)
    sys_net = str(tmp_path / "net")
    monkeypatch.setattr(_hosts_cni, "there", lambda link: (tmp_path / "net" / link).is_dir())
    members = _hosts_cni.members
    monkeypatch.setattr(_hosts_cni, "members", lambda bridge: members(bridge, sys_net))
    leaked = _hosts_cni.leaked_leases
    monkeypatch.setattr(
        _hosts_cni, "leaked_leases", lambda live: leaked(live, str(tmp_path / "networks"), now=4_000_000_000.0)
    )
    return state


def test_pods_of_the_pod_network_are_stopped_and_those_of_the_host_stay(
    run_module: RunModule, host: dict[str, Any]
) -> None:
    result = run_module(cni_leftovers, {"stop_sandboxes": True})
    assert result["changed"] and result["removed"] == ["sandbox of witness/witness-x7fsk"]
    assert [one["id"] for one in host["pods"]["items"]] == [PROXY]
    assert run_module(cni_leftovers, {"stop_sandboxes": True})["changed"] is False


def test_what_the_present_configuration_cannot_undo_stays_where_that_is_allowed(
    run_module: RunModule, host: dict[str, Any]
) -> None:
    host["stuck"] = {WITNESS}
    result = run_module(cni_leftovers, {"stop_sandboxes": True, "allow_stuck": True})
    assert result["removed"] == [] and len(host["pods"]["items"]) == 2
    assert result["stuck"][0].startswith("witness/witness-x7fsk: crictl stopp") and "calico" in result["stuck"][0]
    result = run_module(cni_leftovers, {"stop_sandboxes": True})
    assert result["failed"] and "calico" in result["msg"]


def test_a_kubelet_that_runs_is_refused(run_module: RunModule, host: dict[str, Any]) -> None:
    host["kubelet"] = "active"
    result = run_module(cni_leftovers, {"stop_sandboxes": True})
    assert result["failed"] and "kubelet runs" in result["msg"]
    assert len(host["pods"]["items"]) == 2


def test_a_bridge_with_ports_is_refused(run_module: RunModule, host: dict[str, Any]) -> None:
    (host["ports"] / "veth1").touch()
    result = run_module(cni_leftovers, {"links": ["cni0", "flannel.1"]})
    assert result["failed"] and "cni0 has 1 ports (veth1)" in result["msg"]
    assert host["asked"] == []


def test_a_link_that_is_there_is_deleted_and_no_other(run_module: RunModule, host: dict[str, Any]) -> None:
    config = json.dumps({"plugins": [{"type": "bridge", "bridge": "cni0"}, {"type": "portmap"}]})
    result = run_module(cni_leftovers, {"links": ["flannel.1"], "configurations": [config]})
    assert result["removed"] == ["link cni0"] and host["asked"] == ["ip link delete cni0"]


def test_leases_and_host_ports_of_the_dead_go(run_module: RunModule, host: dict[str, Any]) -> None:
    result = run_module(cni_leftovers, {"leases": True, "host_ports": True})
    assert result["removed"] == [f"lease {host['lease']}", "iptables chain CNI-DN-dead"]
    assert not host["lease"].exists()
    assert [command.split()[5] for command in host["asked"]] == ["-D", "-F", "-X"]


def test_check_mode_says_the_same_and_does_nothing(run_module: RunModule, host: dict[str, Any]) -> None:
    options = {"stop_sandboxes": True, "links": ["cni0"], "leases": True, "host_ports": True}
    (host["ports"] / "veth1").touch()  # of the pod that would have been stopped
    result = run_module(cni_leftovers, options, check=True)
    assert result["removed"] == [
        "sandbox of witness/witness-x7fsk",
        "link cni0",
        f"lease {host['lease']}",
        "iptables chain CNI-DN-dead",
    ]
    assert result["diff"]["before"].splitlines() == result["removed"]
    assert host["asked"] == [] and host["lease"].exists() and len(host["pods"]["items"]) == 2
