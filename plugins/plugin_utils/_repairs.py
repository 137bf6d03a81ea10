# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The steps of a repair: what mends which finding, in which order, what it interrupts, and what is kept before it.

A rule names the entry point of a role that mends its fault (``Rule.repair``, as ``ROLE:ENTRY_POINT``); the same entry
point serves ``site``. Here stands what only a repair has to know of it. Nothing here imports Ansible.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from ._tell import printable

PHASES = ("hosts", "cluster", "nodes")
"""The order of a repair: what all hosts can do at once, what is done once on the control plane, then node by node."""


@dataclass(frozen=True)
class Repair:
    """What one entry point does.

    ``does`` and ``undo`` are sentences for a person. ``phase`` is one of PHASES; within a phase the table's order
    holds. ``drains``: whether the pods of the node are moved away and those that cannot be are stopped, so that their
    network is undone with the configuration that made it. ``interrupts``: what stands still meanwhile, or nothing.
    ``then``: repairs that have to follow on the same host. ``files`` (shell patterns) and ``objects`` (``KIND
    NAMESPACE/NAME``) are kept before it.
    """

    does: str
    phase: str
    interrupts: str = ""
    drains: bool = False
    then: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    undo: str = "-e repair_undo=DATE puts the former files and objects back"


GIVE_BACK = "repair:give_back"
NOTHING_TO_UNDO = "nothing to undo: it makes again what was lost"
FLANNEL_OBJECTS = (
    "ConfigMap kube-flannel/kube-flannel-cfg",
    "DaemonSet kube-flannel/kube-flannel-ds",
    "ClusterRole /flannel",
    "ClusterRoleBinding /flannel",
)

KUBE_PROXY_OBJECTS = ("ConfigMap kube-system/kube-proxy", "DaemonSet kube-system/kube-proxy")

REPAIRS: dict[str, Repair] = {
    "host:main": Repair(
        "sets kernel modules, kernel values and swap, now and for the next boot",
        "hosts",
        files=("/etc/modules-load.d/*", "/etc/sysctl.d/*", "/etc/sysctl.conf", "/etc/fstab"),
    ),
    "host:links": Repair(
        "tells NetworkManager, systemd-networkd and udev to leave flannel's and the pods' links alone",
        "hosts",
        files=("/etc/NetworkManager/conf.d/*", "/etc/systemd/networkd.conf.d/*", "/etc/systemd/network/*"),
    ),
    "host:checksum_offload": Repair(
        "lets the kernel compute the checksums of what goes through flannel's link",
        "hosts",
        files=("/etc/systemd/network/*",),
    ),
    "firewall:permitted": Repair(
        "lets pod traffic and the ports between nodes pass, through whoever owns the rule that drops",
        "hosts",
        undo="podnet.kubeadm.forward_policy with state: absent takes back what it added",
    ),
    "containerd:main": Repair(
        "writes containerd's configuration and starts it",
        "hosts",
        interrupts="starting of new containers, for a second",
        files=("/etc/containerd/config.toml", "/etc/containerd/certs.d/*/hosts.toml"),
    ),
    "kubernetes_packages:cni_plugins": Repair("installs the CNI plugins again", "hosts", undo=NOTHING_TO_UNDO),
    "kubernetes_packages:kubelet": Repair(
        "enables and starts the kubelet", "hosts", undo="systemctl disable --now kubelet"
    ),
    "control_plane:node_ranges": Repair(
        "lets the controller manager hand out ranges of the pod CIDR, and tells kubeadm and kube-proxy of it",
        "cluster",
        interrupts="the controller manager, for about half a minute",
        files=("/etc/kubernetes/manifests/kube-controller-manager.yaml",),
        objects=("ConfigMap kube-system/kubeadm-config", *KUBE_PROXY_OBJECTS),
    ),
    "control_plane:kube_proxy": Repair(
        "sets kube-proxy's clusterCIDR and rolls kube-proxy",
        "cluster",
        interrupts="changes of services on a node, for the seconds in which its kube-proxy is replaced",
        objects=KUBE_PROXY_OBJECTS,
    ),
    "flannel:duplicates": Repair(
        "removes the second flannel and keeps the one in namespace kube-flannel",
        "cluster",
        objects=(
            "DaemonSet kube-system/kube-flannel-ds",
            "ConfigMap kube-system/kube-flannel-cfg",
            "ServiceAccount kube-system/flannel",
        ),
    ),
    "flannel:rolled_out": Repair(
        "applies flannel with the configuration that follows from the pod CIDR, and rolls it out",
        "cluster",
        interrupts="pods that start on a node while its flannel is replaced",
        objects=FLANNEL_OBJECTS,
    ),
    "host:cni_config": Repair(
        "moves foreign CNI configuration aside once no pod of it is left, and clears what those pods left behind",
        "nodes",
        interrupts="every pod of the node",
        drains=True,
        files=("/etc/cni/net.d/*",),
    ),
    "host:stale_links": Repair(
        "deletes the pods' bridge and flannel's link with wrong addresses; flannel and the next pod make them anew",
        "nodes",
        interrupts="every pod of the node",
        drains=True,
        then=("flannel:restart",),
        undo=NOTHING_TO_UNDO,
    ),
    "host:reset_leftovers": Repair(
        "removes links, lease and CNI configuration of the cluster that the host has left",
        "hosts",
        files=("/etc/cni/net.d/10-flannel.conflist",),
    ),
    "host:leases": Repair(
        "removes addresses that are reserved for pods that are gone",
        "nodes",
        files=("/var/lib/cni/networks/*/*",),
    ),
    "flannel:restart": Repair(
        "replaces the node's flannel pod, which makes its link, routes, neighbours and rules again",
        "nodes",
        interrupts="pods that start on the node meanwhile",
        undo=NOTHING_TO_UNDO,
    ),
    "flannel:relink": Repair(
        "makes flannel's link again with the address of its lease, and keeps the host from changing it",
        "nodes",
        interrupts="pod traffic between this node and the others, for some seconds",
        files=("/etc/NetworkManager/conf.d/*", "/etc/systemd/networkd.conf.d/*", "/etc/systemd/network/*"),
    ),
    "control_plane:kube_proxy_restart": Repair(
        "replaces the node's kube-proxy pod, which makes the rules of services again",
        "nodes",
        interrupts="changes of services on the node, for some seconds",
        undo=NOTHING_TO_UNDO,
    ),
    GIVE_BACK: Repair(
        "starts the kubelet and lets pods come again to the node that an earlier repair drained and did not finish",
        "nodes",
        undo=NOTHING_TO_UNDO,
    ),
}
"""By ``ROLE:ENTRY_POINT``, in the order in which they depend on each other."""


@dataclass
class Step:
    """One repair on one host (``host`` is the first control plane for the phase ``cluster``)."""

    host: str
    repair: str
    role: str
    entry_point: str
    phase: str
    codes: list[str]
    does: str
    interrupts: str
    drains: bool
    undo: str
    files: list[str] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)


def steps(
    findings: Iterable[dict[str, Any]], hosts: list[str], control_planes: list[str], unfinished: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """The steps that mend the findings, in the order in which they are to be done.

    ``findings``: of a verdict (``as_dict``), consequences below their cause. Only causes are mended: what is folded
    away goes with them, and what does not is found by the verdict afterwards. ``hosts``: those that can be reached;
    ``control_planes``: the cluster's, the first one does what is done once. ``unfinished``: hosts whose node an earlier
    repair drained and, because it was stopped, did not give back.
    """
    wanted: dict[tuple[str, str], list[str]] = {}
    for finding in findings:
        if finding["severity"] == "info" or not finding.get("repair"):
            continue
        for repair in (finding["repair"], *REPAIRS[finding["repair"]].then):
            for host in _hosts_of(finding, hosts, control_planes):
                codes = wanted.setdefault((repair, host), [])
                if finding["code"] not in codes:
                    codes.append(finding["code"])
    drained = {host for repair, host in wanted if REPAIRS[repair].drains}  # given back anyway
    wanted.update({(GIVE_BACK, host): [] for host in unfinished if host in hosts and host not in drained})
    order = {name: (PHASES.index(one.phase), index) for index, (name, one) in enumerate(REPAIRS.items())}
    first_to_last = sorted(wanted.items(), key=lambda item: (order[item[0][0]], hosts.index(item[0][1])))
    return [asdict(_step(repair, host, codes)) for (repair, host), codes in first_to_last]


def for_a_person(
    findings: Iterable[dict[str, Any]], hosts: list[str], control_planes: list[str]
) -> list[dict[str, Any]]:
    """The causes that no step mends, and whose remedy says what to do: those that a person has to decide, and those
    of hosts that are not among ``hosts``."""
    return [
        finding
        for finding in findings
        if finding["severity"] != "info" and not (finding.get("repair") and _hosts_of(finding, hosts, control_planes))
    ]


def _hosts_of(finding: dict[str, Any], hosts: list[str], control_planes: list[str]) -> list[str]:
    """Where a finding is mended. One about the whole cluster is mended on every host, or once."""
    phase = REPAIRS[finding["repair"]].phase
    if phase == "cluster":
        every = finding["repair"] == "control_plane:node_ranges"
        return [host for host in (control_planes if every else control_planes[:1]) if host in hosts]
    named = [host for host in hosts if host in finding["where"]]
    return named or ([] if any(where not in ("cluster", "intent") for where in finding["where"]) else list(hosts))


def _step(repair: str, host: str, codes: list[str]) -> Step:
    role, _colon, entry_point = repair.partition(":")
    known = REPAIRS[repair]
    return Step(
        host=host,
        repair=repair,
        role=f"podnet.kubeadm.{role}",
        entry_point=entry_point,
        phase=known.phase,
        codes=codes,
        does=known.does,
        interrupts=known.interrupts,
        drains=known.drains,
        undo=known.undo,
        files=list(known.files),
        objects=list(known.objects),
    )


def tell_steps(
    found: list[dict[str, Any]], left: list[dict[str, Any]], width: int, approved: bool
) -> list[tuple[str, str]]:
    """The steps as lines for a terminal of ``width`` columns, each with how it is meant: title, next or plain."""
    lines: list[tuple[str, str]] = []
    if found:
        lines.append((f"Steps of the repair, {len(found)} in this order:", "title"))
    for number, step in enumerate(found, 1):
        lines += _lines(f"{number:>3}. {step['host']}: {step['does']}", width, "     ")
        if step["codes"]:
            lines += _lines(f"     mends      {', '.join(step['codes'])}", width, " " * 16)
        lines += _lines(f"     by         {step['role']}, entry point {step['entry_point']}", width, " " * 16)
        if step["interrupts"]:
            lines += _lines(f"     interrupts {step['interrupts']}", width, " " * 16)
        lines += _lines(f"     going back {step['undo']}", width, " " * 16)
    if left:
        lines.append(("For a person to decide, nothing is done about it here:", "title"))
    for finding in left:
        lines += _lines(f"  - {finding['code']} at {', '.join(finding['where'])}: {finding['remedy']}", width, "    ")
    if not found and not left:
        lines.append(("There is nothing to mend.", "title"))
    elif found and not approved:
        lines.append(("Nothing was done. To carry the steps out: -e repair_approve=true", "next"))
    return [(printable(line), kind) for line, kind in lines]


def _lines(text: str, width: int, rest: str) -> list[tuple[str, str]]:
    wrapped = textwrap.wrap(text, width, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False)
    return [(line, "") for line in wrapped]
