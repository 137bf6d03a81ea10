# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""flannel's objects against the manifest that upstream ships with the same version, in its Go module.

The role renders them through Ansible itself, in check mode on a host without a cluster: what the module would create is
what it was given. All variants are rendered in one run, each as a host of its own.
"""

from __future__ import annotations

import copy
import json
import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any

import pytest
import yaml

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._flannel import NetConf
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._overlay import overlay
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

VERSION = "0.28.10"
VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "range": {"cluster_pod_cidr": "10.42.0.0/16", "cluster_service_cidr": "10.43.0.0/16"},
    "nftables": {"cluster_kube_proxy_mode": "nftables"},
    "dual": {"cluster_pod_cidr": "10.42.0.0/16,fd42::/48", "cluster_service_cidr": "10.96.0.0/16,fd96::/108"},
    "hostgw": {"flannel_backend": "host-gw", "flannel_mtu": 1400},
    "vxlan": {
        "flannel_vni": 7,
        "flannel_port": 4789,
        "flannel_mtu": 1400,
        "flannel_direct_routing": True,
        "flannel_learning": True,
        "flannel_gbp": True,
    },
    "wireguard": {
        "flannel_backend": "wireguard",
        "flannel_port": 51000,
        "flannel_port_v6": 51001,
        "flannel_psk": "c2VjcmV0",
        "flannel_tunnel_mode": "auto",
        "flannel_keepalive_interval": 25,
        "flannel_vni": 7,
    },
    "own": {
        "flannel_image": "mirror.example/flannel:v1",
        "flannel_cni_plugin_image": "mirror.example/plugin:v1",
        "flannel_interface": "eth1",
        "flannel_interface_regex": "^eth[01]$",
        "flannel_max_unavailable": "20%",
    },
}
Objects = dict[str, dict[str, Any]]


def by_title(objects: list[dict[str, Any]]) -> Objects:
    return {f"{one['kind']}/{one['metadata']['name']}": one for one in objects}


@pytest.fixture(scope="session")
def upstream() -> Objects:
    module = f"github.com/flannel-io/flannel@v{VERSION}"
    cache = pathlib.Path(os.environ.get("PODNET_CACHE", "~/.cache/podnet.kubeadm")).expanduser()
    manifest = cache / "go/mod" / module / "Documentation/kube-flannel.yml"
    if not manifest.exists():
        if not shutil.which("go"):
            pytest.skip("upstream's manifest is in flannel's Go module: neither a built lab nor Go has it")
        answer = subprocess.run(
            ["go", "mod", "download", "-json", module], capture_output=True, check=True, timeout=120
        )
        manifest = pathlib.Path(json.loads(answer.stdout)["Dir"]) / "Documentation/kube-flannel.yml"
    return by_title(list(yaml.safe_load_all(manifest.read_text())))


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with what the role gave its module, and what the cluster's intent says, for each variant."""
    folder = tmp_path_factory.mktemp("flannel")
    hosts = {
        name: {"ansible_connection": "local", "ansible_python_interpreter": sys.executable, **variables}
        | {"cluster_control_plane_group": f"cp_{name}"}
        for name, variables in VARIANTS.items()
    }
    groups = {f"cp_{name}": {"hosts": {name: {}}} for name in VARIANTS}
    (folder / "hosts.yml").write_text(json.dumps({"all": {"hosts": hosts, "children": groups}}))
    write = {"content": "{{ __flannel_applied.diff | to_json }}", "dest": f"{folder}/{{{{ inventory_hostname }}}}.json"}
    intent = {"content": "{{ cluster_intent | to_json }}", "dest": f"{folder}/{{{{ inventory_hostname }}}}.intent"}
    play = {
        "hosts": "all",
        "gather_facts": False,
        "tasks": [
            {
                "ansible.builtin.include_role": {"name": "podnet.kubeadm.flannel", "public": True},
                "vars": {"ansible_check_mode": True},
            },
            {"ansible.builtin.copy": write, "check_mode": False},
            {"ansible.builtin.copy": intent, "check_mode": False},
        ],
    }
    (folder / "play.yml").write_text(json.dumps([play]))
    command = [
        sys.executable,
        "-m",
        "ansible",
        "playbook",
        "--check",
        "-i",
        f"{folder}/hosts.yml",
        f"{folder}/play.yml",
    ]
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=600, check=False, env={**os.environ, "ANSIBLE_FORKS": "10"}
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder


@pytest.fixture(scope="session")
def rendered(played: pathlib.Path) -> dict[str, Objects]:
    return {
        name: by_title([json.loads(one["after"]) for one in json.loads((played / f"{name}.json").read_text())])
        for name in VARIANTS
    }


def net_conf(objects: Objects) -> dict[str, Any]:
    return json.loads(objects["ConfigMap/kube-flannel-cfg"]["data"]["net-conf.json"])


def parsed(objects: Objects) -> Objects:
    """With the files in the ConfigMap read, for their layout is nobody's concern."""
    objects = copy.deepcopy(objects)
    data = objects["ConfigMap/kube-flannel-cfg"]["data"]
    for name in data:
        data[name] = json.loads(data[name])
    return objects


def differences(ours: Any, theirs: Any, at: str = "") -> dict[str, tuple[Any, Any]]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        found = {}
        for key in sorted(ours.keys() | theirs.keys()):
            found.update(differences(ours.get(key), theirs.get(key), f"{at}.{key}" if at else key))
        return found
    return {} if ours == theirs else {at: (ours, theirs)}


def test_differences_to_upstream_are_these(rendered: dict[str, Objects], upstream: Objects) -> None:
    ours = parsed(rendered["default"])
    template = "DaemonSet/kube-flannel-ds.spec.template.metadata.annotations"
    found = differences(ours, parsed(upstream))
    checksum = found.pop(template)[0]  # so that a changed configuration replaces the pods
    assert list(checksum) == ["podnet.kubeadm/config-checksum"] and len(next(iter(checksum.values()))) == 64
    config = "ConfigMap/kube-flannel-cfg.data.net-conf.json"
    assert found == {
        # flannel's defaults, written out by the address plan for every family
        f"{config}.EnableIPv4": (True, None),
        f"{config}.EnableIPv6": (False, None),
        # the server's defaults, written out so that a change of the number is taken back
        "DaemonSet/kube-flannel-ds.spec.updateStrategy": (
            {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
            None,
        ),
    }


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("range", {"Network": "10.42.0.0/16"}),
        ("nftables", {"EnableNFTables": True}),
        ("dual", {"Network": "10.42.0.0/16", "EnableIPv6": True, "IPv6Network": "fd42::/48"}),
        ("hostgw", {"Backend": {"Type": "host-gw"}}),
        (
            "vxlan",
            {
                "Backend": {
                    "Type": "vxlan",
                    "VNI": 7,
                    "Port": 4789,
                    "MTU": 1400,
                    "DirectRouting": True,
                    "Learning": True,
                    "GBP": True,
                }
            },
        ),
        (
            "wireguard",
            {
                "Backend": {
                    "Type": "wireguard",
                    "ListenPort": 51000,
                    "ListenPortV6": 51001,
                    "PSK": "c2VjcmV0",
                    "Mode": "auto",
                    "PersistentKeepaliveInterval": 25,
                }
            },
        ),
    ],
)
def test_net_conf(rendered: dict[str, Objects], variant: str, expected: dict[str, Any]) -> None:
    assert net_conf(rendered[variant]) == {**net_conf(rendered["default"]), **expected}


def test_images_interface_and_pace(rendered: dict[str, Objects]) -> None:
    spec = rendered["own"]["DaemonSet/kube-flannel-ds"]["spec"]
    pod = spec["template"]["spec"]
    assert {one["image"] for one in pod["initContainers"] + pod["containers"]} == {
        "mirror.example/flannel:v1",
        "mirror.example/plugin:v1",
    }
    assert pod["containers"][0]["args"][-2:] == ["--iface=eth1", "--iface-regex=^eth[01]$"]
    assert spec["updateStrategy"]["rollingUpdate"]["maxUnavailable"] == "20%"


def test_a_changed_configuration_changes_the_pods(rendered: dict[str, Objects]) -> None:
    templates = {
        name: json.dumps(objects["DaemonSet/kube-flannel-ds"]["spec"]["template"]["metadata"]["annotations"])
        for name, objects in rendered.items()
        if name != "own"  # has no other configuration, and other containers
    }
    assert len(set(templates.values())) == len(templates)


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_the_intent_asks_for_the_tunnel_that_is_rendered(
    name: str, played: pathlib.Path, rendered: dict[str, Objects]
) -> None:
    asked = View({"intent": json.loads((played / f"{name}.intent").read_text())}).overlay
    assert asked == overlay(NetConf(net_conf(rendered[name])))
