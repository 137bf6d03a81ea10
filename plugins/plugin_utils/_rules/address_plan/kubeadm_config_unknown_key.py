# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A kubeadm file has a key that kubeadm ignores.

## What it means
kubeadm warns of a key it does not know and goes on without it. Where that key was meant to carry the range
(`podCIDR` for `podSubnet`, a mask under `networking`), or a line `---` is missing so that one document swallows the
next, the cluster is built without it.

## How it looks
A warning `strict decoding error: unknown field "networking.podCIDR"` among many lines, then `pod cidr not assigned`.

## What looks like it but is not
Keys of KubeletConfiguration and KubeProxyConfiguration documents in the same file are not kubeadm's and not judged
here.

## Mend
Use kubeadm's own names: `networking.podSubnet`, `networking.serviceSubnet`; masks are arguments of the controller
manager (`controllerManager.extraArgs`, `node-cidr-mask-size-ipv4`). Run `kubeadm config validate --config FILE`.

## Prevent
Let the collection render the file, or validate yours before use.

## Sources
- kubernetes `cmd/kubeadm/app/apis/kubeadm/v1beta4/types.go`
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A kubeadm file has a key that kubeadm ignores",
    severity="error",
    needs=("intent.kubeadm_config",),
    remedy="Use kubeadm's own names (networking.podSubnet, networking.serviceSubnet), a line --- between "
    "documents, and check the file with kubeadm config validate.",
    explains=("pod-cidr-missing", "node-mask-ignored", "node-mask-invalid"),
    rank=5,
)

ABOUT_RANGES = re.compile(r"cidr|subnet|mask|network|range", re.IGNORECASE)


def check_intent(view: View) -> Iterator[Found]:
    if not view.intent.has("kubeadm_config"):
        return
    file = view.intent.kubeadm_file
    for kinds in file.joined:
        yield Found(f"no line --- stands between {' and '.join(kinds)} in the kubeadm file", {"one document": kinds})
    for key in file.unknown_keys():
        severity = "error" if ABOUT_RANGES.search(key) else "warning"
        yield Found(f"kubeadm does not know the key {key}", {"key": key}, severity=severity)
