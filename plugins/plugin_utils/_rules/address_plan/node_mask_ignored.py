# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A mask argument has no effect, or not the one that was meant.

## What it means
The controller manager knows three: `node-cidr-mask-size` for single stack only, `node-cidr-mask-size-ipv4` and
`-ipv6`. In dual stack it refuses the first. kubeadm's own check reads the two with a family and takes 24 and 64
otherwise.

## How it looks
`kubeadm init` refuses a pod range for a mask that is set; or the controller manager restarts with `usage of
--node-cidr-mask-size is not allowed with dual-stack clusters`; or node ranges have the default size.

## What looks like it but is not
- `node-cidr-mask-size` in a single-stack cluster whose pod range suits the default mask too: it is read, and right.
- A mask changed under running nodes: see `live-cidr-change`.

## Mend
Use `node-cidr-mask-size-ipv4` and `node-cidr-mask-size-ipv6` as extraArgs of the controller manager.

## Prevent
`cluster_node_mask` and `cluster_node_mask_v6` are rendered to these two.

## Sources
- kubernetes `cmd/kube-controller-manager/app/core.go`, setNodeCIDRMaskSizes; kubernetes issue 123208
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..._evidence._kubeadm import MASK_FLAGS
from ..._evidence._net import Network, networks
from ..._finding import Found
from ..._plan import NODE_MASK
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A node mask argument has no effect",
    severity="error",
    needs=("intent.kubeadm_config",),
    remedy="Set the mask by node-cidr-mask-size-ipv4 and node-cidr-mask-size-ipv6 in controllerManager.extraArgs.",
    explains=("node-mask-invalid", "capacity-too-small", "node-range-too-small"),
    rank=8,
)


def check_intent(view: View) -> Iterator[Found]:
    if not view.intent.has("kubeadm_config"):
        return
    file = view.intent.kubeadm_file
    for key in file.unknown_keys():
        if "mask" in key.lower():
            yield Found(f"{key} of the kubeadm file is read by nothing", {"key": key})
    pod = networks(view.intent.pod_texts)
    arguments = view.intent.kubeadm.arguments("controllerManager")
    yield from _judge(arguments, pod)
    if len(pod) == 1 and "node-cidr-mask-size" in arguments and pod[0].prefixlen > NODE_MASK[pod[0].version]:
        compared = {"node-cidr-mask-size": arguments["node-cidr-mask-size"], "pod range": str(pod[0])}
        yield Found("kubeadm's check of the pod range does not read node-cidr-mask-size", compared)


def check_cluster(view: View) -> Iterator[Found]:
    for flags in view.cluster.component_flags("controller-manager").values():
        yield from _judge(flags, view.cluster.pod_networks())


def _judge(arguments: dict[str, str], pod: Iterable[Network]) -> Iterator[Found]:
    versions = {one.version for one in pod}
    given = {name: value for name, value in arguments.items() if re.search(r"mask", name)}
    for name, value in given.items():
        if name not in MASK_FLAGS:
            yield Found(f"the controller manager has no argument {name}", {name: value})
        elif name == "node-cidr-mask-size" and len(versions) > 1:
            yield Found("node-cidr-mask-size is refused in dual stack", {name: value, "families": len(versions)})
        elif name.endswith("ipv6") and versions == {4} or name.endswith("ipv4") and versions == {6}:
            yield Found(f"{name} is refused in a cluster without that family", {name: value})
