# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Healthy clusters that look odd: whatever is beside or otherwise, nothing is an error, and one warning is the most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._judge import judge
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

Change = Callable[[dict[str, Any]], None]


class Oddities:
    """The oddities of one test file by name: what each changes in which healthy bundle."""

    def __init__(self) -> None:
        self.changes: dict[str, tuple[str, Change]] = {}

    def __call__(self, base: str = "cluster") -> Callable[[Change], Change]:
        """Keeps the function that it decorates as a change of that base."""

        def register(change: Change) -> Change:
            self.changes[change.__name__] = (base, change)
            return change

        return register

    def judged(self, name: str) -> tuple[list[str], list[str]]:
        """Errors and warnings of all rules over the oddity; a fault of a rule fails the test."""
        base, change = self.changes[name]
        bundle = healthy(base)
        change(bundle)
        found: dict[str, list[str]] = {"error": [], "warning": [], "info": []}
        for one in judge(View(bundle), strict=True).all():
            found[one.severity].append(f"{one.code} at {one.where}: {one.summary}")
        return found["error"], found["warning"]
