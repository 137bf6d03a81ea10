# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A variable of the collection has a value of another type, or one that is not among its choices.

## What it means
Nothing was done yet: roles refuse such a value too, each where it is reached and once for every host.

## How it looks
The sentence is that of Ansible's role argument validation, with the type that was expected and the choices there are.

## What looks like it but is not
- Texts that mean numbers or truths (`"24"`, `"yes"`) are taken as such.
- Values in ranges that make no sense (a mask of 40) are a matter of the address plan, which has codes of its own.

## Mend
Give the variable a value of its type; `ansible-doc -t role podnet.kubeadm.cluster` shows types and choices, the same
for every role.

## Prevent
`ansible-playbook podnet.kubeadm.preflight` judges the variables of an inventory and changes nothing.

## Sources
- Ansible documentation, "Role argument validation"
"""

from __future__ import annotations

from collections.abc import Iterator

from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A variable has a value that no role takes",
    severity="error",
    needs=("intent.invalid_variables",),
    remedy="Correct the value; ansible-doc -t role podnet.kubeadm.cluster shows types and choices, others likewise.",
    rank=2,
)


def check_intent(view: View) -> Iterator[Found]:
    if view.intent.has("invalid_variables"):
        for name, why in view.intent.invalid_variables.items():
            yield Found(f"{name} cannot be used: {why}", {"set": name})
