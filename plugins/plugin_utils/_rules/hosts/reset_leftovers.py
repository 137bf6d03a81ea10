# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Links, rules or files of a cluster are on a host that is in none.

## What it means
`kubeadm reset` removes what kubeadm made. cni0, flannel.1, the chains of kube-proxy and flannel,
/run/flannel/subnet.env and /etc/cni/net.d stay, and the next cluster finds them.

## How it looks
After the next join: `"cni0" already has an IP address different from ...`, pods that get addresses of the old range,
service addresses of the old cluster that answer, kubeadm's checks `FileAvailable` and `DirAvailable`. Often nothing
at first.

## What looks like it but is not
- A member of a cluster whose API server does not answer: it has /etc/kubernetes/kubelet.conf.
- Docker's and Podman's bridges and chains; empty folders /etc/kubernetes and /var/lib/kubelet.
- On a member: cni0 of its own former range, see `stale-link`.

## Mend
`kubeadm reset --force` on that host, and what it leaves (it says so itself), then a reboot, which takes the chains too:
`ip link delete cni0; ip link delete flannel.1; rm /run/flannel/subnet.env /etc/cni/net.d/10-flannel.conflist`.

## Prevent
A node that leaves: `kubectl drain`, `kubectl delete node`, `kubeadm reset`, the lines above, reboot; join only then.

## Sources
- kubernetes/kubeadm issues 820, 1822; kubernetes issue 39557; flannel issue 1309
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._net import Link
from ..._evidence._other_cni import other_networks, runs_canal
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._modules import joined

RULE = Rule(
    title="Leftovers of a former cluster",
    severity="warning",
    needs=("nodes.ip_address", "nodes.iptables", "nodes.kubernetes_files"),
    remedy="Run kubeadm reset --force on the host, remove what is listed, and reboot it before it joins.",
    repair="host:reset_leftovers",
    explains=("stale-link", "cni-plugin-missing", "ipam-leak", "port-taken", "route-stale"),
    rank=30,
)

_OWN = re.compile(r"cni0|flannel[.-].*|flannel\.\d+|kube-ipvs0|kube-dummy-if")
_OTHER = {
    "Weave Net": re.compile(r"weave|datapath|vethwe.*|vxlan-6784"),
    "Calico": re.compile(r"cali[0-9a-f]{11}|vxlan\.calico|wireguard\.cali"),
    "Cilium": re.compile(r"cilium_(host|net|vxlan|geneve)|lxc_health"),
    "kube-router": re.compile(r"kube-bridge|tun-\w{11}"),
    "Antrea": re.compile(r"antrea-gw0|antrea-tun0"),
}
_BLOCKING = re.compile(
    r"/etc/kubernetes/(pki/ca\.(crt|key)|(admin|super-admin|controller-manager|scheduler)\.conf|manifests/.+\.yaml|kubelet\.conf)"
    r"|/var/lib/etcd/member"
)
_IN_THE_WAY = re.compile(r"ERROR (FileAvailable|DirAvailable)-")
_TABLES = ("kube-proxy", "flannel-ipv4", "flannel-ipv6")


def check_node(node: Host, view: View) -> Iterator[Found]:
    files = node.kubernetes_files
    if joined(node, view) and not _refused(node, view):
        yield from _of_other_networks(node, view)
        return
    found: dict[str, list[str]] = {
        "links": [link.name for link in node.links if _OWN.fullmatch(link.name)] + _foreign_links(node),
        "chains": _chains(node),
        "files": [path for path in files if _BLOCKING.fullmatch(path)],
    }
    found["files"] += _more_files(node)
    found = {kind: names for kind, names in found.items() if names}
    if found:
        said = ", ".join(
            f"{kind} ({', '.join(names[:3])}{', ...' if len(names) > 3 else ''})" for kind, names in found.items()
        )
        yield Found(f"a former cluster has left {said}", found)


def _refused(node: Host, view: View) -> bool:
    """kubeadm stopped at a member's files on a host on which nothing runs: it was never reset."""
    if view.stage == "cluster" or not node.has("kubeadm_output"):
        return False
    found = _IN_THE_WAY.search(node.kubeadm_output)
    return found is not None and not (node.has("sandboxes") and node.sandboxes)


def _foreign_links(node: Host) -> list[str]:
    return [link.name for link in node.links if any(pattern.fullmatch(link.name) for pattern in _OTHER.values())]


def _chains(node: Host) -> list[str]:
    """Chains of kube-proxy and flannel in either backend; those that a kubelet alone makes are not counted."""
    found: set[str] = set()
    for key in ("saved4", "saved6"):
        try:
            saved = getattr(node, key)
        except Missing:
            continue
        for rules in (saved.nft, saved.legacy):
            found.update(rules.of_proxy_or_flannel if rules else ())
    try:
        tables = [one.text("table", "name") for one in node.nft.items("nftables")]
    except Missing:
        tables = []
    return sorted(found) + sorted({name for name in tables if name in _TABLES})


def _more_files(node: Host) -> list[str]:
    found = []
    with contextlib.suppress(Missing):
        found += [f"/etc/cni/net.d/{file.name}" for file in node.cni_files if file.is_flannel]
    with contextlib.suppress(Missing):
        found += ["/run/flannel/subnet.env"] if node.subnet_env else []
    with contextlib.suppress(Missing):
        found += ["/var/lib/cni/networks/cbr0"] if node.cni_ipam.get("cbr0") else []
    return found


def _of_other_networks(node: Host, view: View) -> Iterator[Found]:
    """On a member: links of a network that does not run in the cluster."""
    try:
        running = set(other_networks(view.cluster.daemonsets).values())
        running |= {"Calico"} if runs_canal(view.cluster.daemonsets) else set()
    except Missing:
        return
    for network, pattern in _OTHER.items():
        links: list[Link] = [link for link in node.links if pattern.fullmatch(link.name)]
        if links and network not in running:
            names = [link.name for link in links]
            yield Found(f"links of {network} are there, which does not run in the cluster", {"links": names[:10]})
