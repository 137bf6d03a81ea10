# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Flannel's configuration changed after flannel started.

## What it means
flanneld reads net-conf.json when it starts and never again. What was changed since waits for its next restart: a node's
reboot, months later, is when the change, or the mistake in it, comes true on that node.

## How it looks
All is well. `/run/flannel/subnet.env`, the lease's backend type or VNI say something else than the ConfigMap. Where
somebody removed subnet.env, running pods go on and no new one starts: `open /run/flannel/subnet.env: no such file`;
flanneld writes it when it starts, and does not notice.

## What looks like it but is not
- The new configuration cannot work at all: see `flannel-network-mismatch`, which explains this one.
- A node whose flannel does not run: its subnet.env is of another life, nothing is reported here.
- Host bits in Network: flanneld masks them.
- The DaemonSet's template changed: see `flannel-update-ondelete`.

## How it is told
net-conf.json against subnet.env and the lease's annotations of nodes where flannel is ready; subnet.env that is
not there though flannel is ready.

## Mend
If the ConfigMap is what the cluster shall have: `kubectl -n kube-flannel rollout restart daemonset/kube-flannel-ds` in
a quiet hour, or podnet.kubeadm.site. If not: put the ConfigMap back. Where subnet.env is gone: restart flannel's pod
on that node.

## Prevent
The collection's pod template carries a checksum of the configuration, so that a change rolls at once and fails at once.

## Sources
- flannel `main.go`; tried: a wrong Network did nothing until a node was restarted
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._flannel import NetConf
from ..._evidence._host import Host
from ..._evidence._kube import KubeNode
from ..._evidence._net import networks
from ..._evidence._texts import json_object
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Flannel's configuration changed after flannel started",
    severity="warning",
    needs=("cluster.flannel_config", "cluster.nodes", "cluster.pods"),
    remedy="Run podnet.kubeadm.site, or kubectl rollout restart flannel's DaemonSet, while somebody watches.",
    repair="flannel:rolled_out",
    rank=60,
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    kube = view.kube_node(node)
    if kube is None or not view.cluster.flannel_runs_on(kube.name) or not node.has("subnet_env"):
        return
    if not node.subnet_env:
        yield Found(
            "/run/flannel/subnet.env is gone although flannel runs, so no new pod starts",
            {"/run/flannel/subnet.env": None},
            severity="error",
            remedy="Run podnet.kubeadm.repair, which restarts flannel's pod on that node.",
            repair="flannel:restart",
        )
    conf = view.cluster.net_conf
    tunnel = node.link(f"flannel.{view.overlay_on(kube).vni}") if node.has("ip_address") else None
    port = tunnel.data.number("port") if tunnel else None
    if port is not None and kube.flannel("backend-type") == conf.backend_type == "vxlan" and port != view.overlay.port:
        yield Found(
            f"flannel runs with port {port} while net-conf.json says {view.overlay.port}",
            {"link": port, "net-conf.json": view.overlay.port},
        )
    for key, wanted in (("FLANNEL_NETWORK", conf.text("Network")), ("FLANNEL_IPV6_NETWORK", conf.text("IPv6Network"))):
        in_use, asked = networks(node.subnet_env.get(key, "")), networks(wanted)
        if in_use and asked and set(in_use) != set(asked):
            used = ", ".join(map(str, in_use))
            yield Found(
                f"flannel runs with {used} while net-conf.json says {wanted}",
                {f"subnet.env {key}": used, "net-conf.json": wanted},
            )


def check_cluster(view: View) -> Iterator[Found]:
    conf = view.cluster.net_conf
    changed: dict[tuple[str, str, str], list[str]] = {}
    for node in view.cluster.nodes:
        if node.flannel_lease and view.cluster.flannel_runs_on(node.name):
            for difference in _differences(conf, node):
                changed.setdefault(difference, []).append(view.place(node.name))
    for (what, used, asked), nodes in changed.items():
        yield Found(
            f"flannel runs with {what} {used} while net-conf.json says {asked}",
            {"in use": used, "net-conf.json": asked},
            where=tuple(nodes),
        )


def _differences(conf: NetConf, node: KubeNode) -> Iterator[tuple[str, str, str]]:
    used = node.flannel("backend-type").lower()
    if used and used != conf.backend_type:
        yield "backend", used, conf.backend_type
    elif used == "vxlan":
        try:
            vni = json_object(node.flannel("backend-data")).number("VNI")
        except ValueError:
            return
        asked = conf.backend.number("VNI")
        if vni is not None and vni != (1 if asked is None else asked):
            yield "VNI", str(vni), str(1 if asked is None else asked)
