# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The proof that flannel can give every node its lease, and afterwards that it did.

A rule tells what is wrong, and says nothing where it was not shown anything. This is the other direction, for the two
moments at which a build has to know: before flannel is applied, nothing may speak against it; afterwards, everything
has to be shown. The containment is that of the rules, and of flanneld: the five ways in which flanneld refuses a lease
are those of AcquireLease in its pkg/subnet/kube/kube.go (v0.28.10).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ._evidence._flannel import NetConf
from ._evidence._host import Host
from ._evidence._kube import KubeNode
from ._evidence._net import contains, interface, network
from ._finding import Malformed, Missing
from ._judge import judge
from ._registry import load_rules
from ._view import View

RULES = (
    "live-cidr-change",
    "pod-cidr-lost",
    "pod-cidr-missing",
    "node-cidr-duplicate",
    "node-cidr-unassigned",
    "flannel-network-mismatch",
    "flannel-network-narrow",
    "flannel-ipv6-mismatch",
    "flannel-netconf-invalid",
)
"""What is asked of the rules: ranges against ranges, and the intent against the running cluster."""

STORED_BY_INIT = ("kubeadm_config", "kube_proxy_config")


def refusals(node: KubeNode, conf: NetConf) -> list[str]:
    """Why flanneld would refuse *node* a lease under *conf*; empty where it would not. (The fifth way, a node that
    cannot be read, is a list of nodes that cannot be read.)"""
    texts = node.pod_cidr_texts
    if not texts:
        return [f"node {node.name} has no pod range (spec.podCIDR)"]
    if len(texts) > 2:
        return [f"node {node.name} has {len(texts)} pod ranges; flannel takes one, or one of each family"]
    found = []
    for one in node.pod_networks:
        enabled, key = (conf.enable_ipv4, "Network") if one.version == 4 else (conf.enable_ipv6, "IPv6Network")
        outer = network(conf.text(key))
        if enabled and not (outer and contains(outer, one)):
            found.append(f"flannel's {key} {outer or 'is not set and'} does not contain {one} of node {node.name}")
    return found


def before(cluster: dict[str, Any], net_conf: str, intent: dict[str, Any], taken_at: str) -> list[str]:
    """Sentences on what speaks against applying flannel with the text *net_conf* to the cluster as it runs.

    A node that has no range yet because it registered just now does not; what was not looked at does not either, nor
    what a kubeadm init that was broken off did not come to: it stores its configuration after the API server answers,
    and kube-proxy's last.
    """
    cluster = {key: value for key, value in cluster.items() if value or key not in STORED_BY_INIT}
    running = View({"stage": "cluster", "taken_at": taken_at, "cluster": cluster}, intent)
    rendered = {**cluster, "flannel_config": {"namespace": "kube-flannel", "net-conf.json": net_conf}}
    view = View({"stage": "cluster", "taken_at": taken_at, "cluster": rendered}, intent)
    sentences, _undetermined = _judged(view)
    sentences += _interruptions(running, view)
    if not view.cluster.has("nodes"):
        return sentences
    for node in view.cluster.nodes:
        if node.pod_cidr_texts:
            sentences += refusals(node, view.cluster.net_conf)
    return _unique(sentences)


def _interruptions(running: View, view: View) -> Iterator[str]:
    """Changes that are no mismatch, and would cut running pods off while they are made."""
    if running.cluster.has("kube_proxy_config") and running.intent.has("kube_proxy_mode"):
        has, asked = running.cluster.kube_proxy_config.text("mode") or "iptables", running.intent.kube_proxy_mode
        if has != asked:
            yield (
                f"cluster_kube_proxy_mode is {asked}, and kube-proxy of the running cluster works with {has}. A change "
                "cuts services off on each node while its rules are made anew, so it is not made here: set it back, or "
                "change the ConfigMap kube-system/kube-proxy and restart its DaemonSet at a time of your choice"
            )
    # Between init and flannel there is a cluster, and no configuration of flannel in it.
    if running.cluster.has("flannel_config") and running.cluster.flannel_config.net_conf_text:
        try:
            has, asked = running.cluster.net_conf.backend_type, view.cluster.net_conf.backend_type
        except Malformed:
            return  # flannel cannot start with it either: the backend that is to be replaced is none
        if has != asked and not running.intent.flannel.flag("change_backend"):
            yield (
                f"flannel_backend is {asked}, and flannel of the running cluster works with {has}. A change cuts nodes "
                "off from each other until flannel was replaced on all of them: set it back, or accept that with "
                "flannel_change_backend: true"
            )


def after(cluster: dict[str, Any], nodes: dict[str, Any], intent: dict[str, Any], taken_at: str) -> list[str]:
    """Sentences on what is not proven of a cluster with flannel, on the hosts *nodes* (evidence by inventory name)."""
    view = View({"stage": "cluster", "taken_at": taken_at, "cluster": cluster, "nodes": nodes}, intent)
    sentences, undetermined = _judged(view)
    sentences += undetermined
    try:
        conf = view.cluster.net_conf
        for name, host in view.nodes.read():
            node = view.kube_node(host)
            if node is None:
                sentences.append(f"host {name} is no node of the cluster")
                continue
            sentences += refusals(node, conf)
            sentences += _lease(node, conf)
            sentences += _host(host, node, conf)
            sentences += _routes(host, node, view.cluster.nodes)
    except (Missing, Malformed) as error:
        sentences.append(f"the proof cannot be read: {error}")
    return _unique(sentences)


def _judged(view: View) -> tuple[list[str], list[str]]:
    rules = load_rules()
    verdict = judge(view, {code: rules[code] for code in RULES})
    found = [f"{one.summary} ({one.code} at {', '.join(one.where[:5])}). {one.remedy}" for one in verdict.findings]
    # Without a clock or an intent a rule may have a part that cannot tell; what is not about evidence is no gap.
    gaps = [f"{one.code} could not be told: {one.key} was not read" for one in verdict.undetermined]
    return found, gaps


def _lease(node: KubeNode, conf: NetConf) -> Iterator[str]:
    """What flanneld annotates when it registers the node's network."""
    if not node.flannel_lease:
        yield f"node {node.name} has no lease of flannel (annotation kube-subnet-manager)"
        return
    if node.flannel("backend-type").lower() != conf.backend_type:
        yield f"node {node.name} has a lease of backend {node.flannel('backend-type')!r}, not {conf.backend_type}"
    for version, key in ((4, "public-ip"), (6, "public-ipv6")):
        if any(one.version == version for one in node.pod_networks) and not node.flannel(key):
            yield f"node {node.name} has a lease without {key}"


def _host(host: Host, node: KubeNode, conf: NetConf) -> Iterator[str]:
    """subnet.env, which flanneld writes last, against the node's ranges."""
    written = host.subnet_env
    if not written:
        yield f"host {host.name} has no /run/flannel/subnet.env"
        return
    for one in node.pod_networks:
        prefix = "FLANNEL_" if one.version == 4 else "FLANNEL_IPV6_"
        subnet = interface(written.get(prefix + "SUBNET", ""))
        if subnet is None or subnet.network != one:
            says = written.get(prefix + "SUBNET") or "nothing"
            yield f"subnet.env of host {host.name} says {prefix}SUBNET={says}, and its node has {one}"
        wanted = network(conf.text("Network" if one.version == 4 else "IPv6Network"))
        if network(written.get(prefix + "NETWORK", "")) != wanted:
            says = written.get(prefix + "NETWORK") or "nothing"
            yield f"subnet.env of host {host.name} says {prefix}NETWORK={says}, and flannel is configured for {wanted}"


def _routes(host: Host, node: KubeNode, others: Iterable[KubeNode]) -> Iterator[str]:
    """A route to the range of every other node that has a lease."""
    routed = {one.dst for version in (4, 6) for one in _main_routes(host, version) if one.type == "unicast"}
    for other in others:
        if other.name == node.name or not other.flannel_lease:
            continue
        for one in other.pod_networks:
            if one not in routed:
                yield f"host {host.name} has no route to {one}, the pod range of node {other.name}"


def _main_routes(host: Host, version: int) -> list[Any]:
    try:
        return host.main_routes(version)
    except Missing:
        return []


def _unique(sentences: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(sentences))
