# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A variable has one of the collection's prefixes and is none of its variables.

## What it means
A misspelt variable has no effect: `cluster_pod_cdir` leaves the pod range at its default, and the cluster is built
with it.

## How it looks
Nothing is said by Ansible. The plan shows the default where another value was meant.

## What looks like it but is not
- Variables of your own that happen to begin like the collection's (`cluster_name`, `host_rack`) are only a warning.
- Names that begin with two underscores are not looked at.

## Mend
Correct the name. Where the variable is yours, rename it, or list `variable-unknown` in `cluster_accept_findings`.

## Prevent
`ansible-doc -t role podnet.kubeadm.cluster` lists what there is; the same for every role.

## Sources
- Ansible documentation, "Role argument validation": unknown variables are not reported
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A variable is misspelt",
    severity="error",
    needs=("intent.unknown_variables",),
    remedy="Correct the name; ansible-doc -t role podnet.kubeadm.cluster lists what there is, the same for every role.",
    rank=3,
)


def check_intent(view: View) -> Iterator[Found]:
    if not view.intent.has("unknown_variables"):
        return
    others = []
    for name, meant in view.intent.unknown_variables.items():
        if meant:
            yield Found(f"{name} is no variable of the collection, {meant} is", {"set": name, "known": meant})
        else:
            others.append(name)
    if others:
        text = f"no role of the collection knows {', '.join(others)}"
        yield Found(text, {"set": others}, severity="warning")
