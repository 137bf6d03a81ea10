# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pod range is given in two places.

## What it means
`kubeadm init --config FILE --pod-network-cidr RANGE` is refused: with a file, nothing that the file can say may
stand on the command line. And a range that stands in a variable and in a file of one's own will be changed in one
of them.

## How it looks
`can not mix '--config' with arguments [pod-network-cidr]`.

## What looks like it but is not
`networking.podSubnet` in the file is what `--pod-network-cidr` is on the command line; it is enough alone.

## Mend
Take the flag away and put the range into the file as `networking.podSubnet`, or use `cluster_pod_cidr` alone.

## Prevent
One place: `cluster_pod_cidr`.

## Sources
- kubernetes `cmd/kubeadm/app/apis/kubeadm/validation/validation.go`, ValidateMixedArguments
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="The pod range is given in two places",
    severity="error",
    needs=("intent.pod_network_cidr_flag",),
    remedy="Name the pod range once: cluster_pod_cidr, or networking.podSubnet in a file of your own, and no flag.",
    explains=("pod-cidr-missing",),
    rank=8,
)


def check_intent(view: View) -> Iterator[Found]:
    intent = view.intent
    flag = intent.pod_network_cidr_flag if intent.has("pod_network_cidr_flag") else ""
    variable = ",".join(intent.pod_cidr) if intent.has("pod_cidr") else ""
    in_file = ",".join(intent.kubeadm.pod_texts)
    said = {"--pod-network-cidr": flag, "cluster_pod_cidr": variable, "podSubnet of the file": in_file}
    given = {name: text for name, text in said.items() if text}
    if flag and intent.has("kubeadm_config"):
        yield Found("--pod-network-cidr stands beside a configuration file, which kubeadm refuses", given)
    elif len(given) > 1:
        yield Found(f"the pod range is given in two places: {' and '.join(given)}", given)
