# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the running cluster, else the intent, asks of its hosts: backend, proxy mode, families, interface, version."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from .._finding import Missing
from .._view import View
from ._flannel import NetConf
from ._host import Host
from ._item import Item
from ._kube import Pod
from ._texts import flags, yaml_documents
from ._versions import Version, version

OVERHEAD = {"vxlan": 50, "wireguard": 60, "ipip": 20, "udp": 28, "host-gw": 0}
"""Bytes that a backend adds to a packet between IPv4 nodes; flannel itself leaves 80 for WireGuard."""
OVERHEAD_V6 = {"vxlan": 70, "wireguard": 80}


def net_conf(view: View) -> NetConf | None:
    """flannel's net-conf.json: the cluster's, else the user's own in the intent; None where neither can be read."""
    for part in (view.cluster, view.intent):
        try:
            return part.net_conf
        except Missing:
            continue
    return None


def backend(view: View) -> str:
    """flannel's backend. Raises `Missing` where neither a cluster nor an intent says which."""
    conf = net_conf(view)
    if conf is not None:
        return conf.backend_type
    if not view.has_intent:
        raise Missing("cluster.flannel_config")
    return flannel_intent(view).text("backend").lower() or "vxlan"


def backend_option(view: View, key: str, intent_key: str) -> int | bool | None:
    """A number or flag of the Backend object (``VNI``, ``Port``, ``DirectRouting``), None where it is not set."""
    conf = net_conf(view)
    source, name = (conf.backend, key) if conf is not None else (flannel_intent(view), intent_key)
    flag = source.flag(name)
    return flag if flag is not None else source.number(name)


def flannel_intent(view: View) -> Item:
    try:
        return view.intent.flannel
    except Missing:
        return Item({})


def flannel_nftables(view: View) -> bool:
    conf = net_conf(view)
    if conf is not None:
        return conf.enable_nftables
    said = flannel_intent(view).flag("enable_nftables")
    return said if said is not None else proxy_mode(view) == "nftables"


def proxy_mode(view: View) -> str:
    """kube-proxy's mode: iptables where none is set."""
    try:
        return view.cluster.kube_proxy_config.text("mode") or "iptables"
    except Missing:
        pass
    try:
        return view.intent.kube_proxy_mode or "iptables"
    except Missing:
        return "iptables"


def pod_versions(view: View) -> set[int]:
    """IP versions that pods have: of the nodes' ranges, else of the pod ranges; empty where none is known."""
    try:
        if found := view.cluster.node_pod_versions:
            return set(found)
    except Missing:
        pass
    try:
        return {one.version for one in view.pod_networks}
    except Missing:
        return set()


def kubernetes_version(view: View, node: Host | None = None) -> Version | None:
    """The kubelet's version on the host, else kubeadm's, the API server's or the intent's."""
    if node is not None:
        for key in ("kubelet_version", "kubeadm_version"):
            try:
                if found := version(getattr(node, key)):
                    return found
            except Missing:
                continue
    try:
        if found := version(view.cluster.server_version):
            return found
    except Missing:
        pass
    try:
        return version(view.intent.kubernetes_version)
    except Missing:
        return None


def kubelet_asked(view: View) -> Item:
    """The KubeletConfiguration that a user's own kubeadm file holds, empty where there is none."""
    try:
        documents = yaml_documents(view.intent.raw.get("kubeadm_config", ""))
    except ValueError:
        documents = []
    own = Item(view.intent.raw.get("kubelet_config"))
    found = next((one for one in documents if one.text("kind") == "KubeletConfiguration"), Item({}))
    return Item({**found.raw, **own.raw})


@dataclass(frozen=True)
class Interfaces:
    """How flannel is told its interface: values of ``--iface``, ``--iface-regex``, ``--iface-can-reach``.

    ``public_ip``: whether it is told its address by ``--public-ip``."""

    names: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    reach: str = ""
    public_ip: bool = False

    @property
    def given(self) -> bool:
        return bool(self.names or self.patterns or self.reach)


def interfaces(view: View, node_name: str = "") -> Interfaces:
    """What flannel is told on that node: by its pod there, else by its DaemonSet, else by the intent."""
    for words in _argument_lists(view, node_name):
        return _interfaces(words)
    asked = flannel_intent(view)
    return Interfaces(
        tuple(filter(None, [asked.text("interface"), *asked.texts("interface")])),
        tuple(filter(None, [asked.text("interface_regex"), *asked.texts("interface_regex")])),
    )


def _argument_lists(view: View, node_name: str) -> list[list[str]]:
    found: list[list[str]] = []
    try:
        pods = view.cluster.pods_by_node.get(node_name, [])
        found = [words for pod in pods if (words := _words(pod.items("spec", "containers")))]
    except Missing:
        pass
    with contextlib.suppress(Missing):
        found += [
            words for one in view.cluster.flannel_daemonsets if (words := _words(one.pod_spec.items("containers")))
        ]
    return found


def _words(containers: list[Item]) -> list[str]:
    for one in containers:
        words = one.texts("command") + one.texts("args")
        if any(word.rpartition("/")[2] == "flanneld" or word.startswith("--kube-subnet-mgr") for word in words):
            return words
    return []


def _interfaces(words: list[str]) -> Interfaces:
    def every(name: str) -> tuple[str, ...]:
        found = []
        for index, word in enumerate(words):
            key, separator, value = word.lstrip("-").partition("=")
            if word.startswith("-") and key == name:
                found.append(value if separator else words[index + 1] if index + 1 < len(words) else "")
        return tuple(one for one in found if one)

    said = flags(words)
    return Interfaces(
        every("iface"),
        every("iface-regex"),
        said.get("iface-can-reach", ""),
        "public-ip" in said or "public-ipv6" in said,
    )


def component_pods(view: View, node_name: str, *names: str) -> list[Pod]:
    """Pods on that node whose name begins with one of the names."""
    return [pod for pod in view.cluster.pods_by_node.get(node_name, []) if pod.name.startswith(names)]
