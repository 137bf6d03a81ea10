# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""SubnetLen and its kin are set and have no effect.

## What it means
With the Kubernetes subnet manager a node's range is its `spec.podCIDR`, which the controller manager gives.
SubnetLen, SubnetMin and SubnetMax of net-conf.json are for flannel's own etcd and are not read.

## How it looks
Node ranges have another size than SubnetLen says; capacity is not what was planned.

## What looks like it but is not
SubnetLen equal to the node mask does no harm and is only noted.

## Mend
Take the keys out of net-conf.json; set `cluster_node_mask` before the cluster is built. On a running cluster the
ranges of nodes keep their size until a node is deleted and joined again.

## Prevent
The collection does not write these keys.

## Sources
- flannel `pkg/subnet/config.go`: CheckNetworkConfig is for the etcd manager only
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._evidence._flannel import NetConf
from ..._finding import Found
from ..._plan import AddressPlan
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="SubnetLen in net-conf.json has no effect",
    severity="warning",
    needs=("cluster.flannel_config",),
    remedy="Take SubnetLen, SubnetMin and SubnetMax out of net-conf.json; cluster_node_mask sizes node ranges.",
    explains=("node-mask-invalid", "capacity-too-small", "node-range-too-small"),
    rank=5,
)

IGNORED = ("SubnetLen", "SubnetMin", "SubnetMax", "IPv6SubnetLen", "IPv6SubnetMin", "IPv6SubnetMax")


def check_intent(view: View) -> Iterator[Found]:
    if view.intent.has_net_conf:
        yield from _ignored(view.intent.net_conf, view.plan, "error" if view.stage == "intent" else "warning")


def check_cluster(view: View) -> Iterator[Found]:
    yield from _ignored(view.cluster.net_conf, view.running_plan, "warning")


def _ignored(conf: NetConf, plan: AddressPlan, severity: str) -> Iterator[Found]:
    keys = {key: conf.get(key) for key in IGNORED if conf.has(key)}
    if not keys:
        return
    lengths = {"SubnetLen": plan.node_mask[4], "IPv6SubnetLen": plan.node_mask[6]}
    same = all(lengths.get(key) == conf.number(key) for key in keys)
    compared = {**keys, "node mask": plan.node_mask[4], "node mask IPv6": plan.node_mask[6]}
    yield Found(f"{', '.join(keys)} in net-conf.json has no effect", compared, severity="info" if same else severity)
