# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a rule of nft may end a packet. PRIVATE to the collection. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _xt_targets
from ._nft_scope import Scope

# What ends packets by itself, by a program's word, or in a way that the listing does not show.
_ENDS = frozenset(("drop", "reject", "queue", "synproxy", "tproxy", "text"))


def may_drop(statements: list[Mapping[str, Any]], scope: Scope) -> bool:
    """Whether a rule itself may end a packet, as far as its statements tell, not its words: a comment says nothing."""
    return any(_may_end(name, body, scope) for one in statements for name, body in one.items())


def _may_end(name: str, body: Any, scope: Scope) -> bool:
    if name == "xt":
        known = str((body or {}).get("name", ""))
        return (body or {}).get("type") != "match" and _xt_targets.may_drop(known)
    if name != "vmap":
        return name in _ENDS
    data = (body or {}).get("data")
    if isinstance(data, str):
        named = data.lstrip("@")
        elements = (scope.sets.get(named) or {}).get("elem")
        # What a program or a rule has still to fill may deny as soon as it is filled.
        return not elements or named in scope.changed or _holds_drop(elements)
    return _holds_drop(data)


def _holds_drop(tree: Any) -> bool:
    if isinstance(tree, Mapping):
        return "drop" in tree or any(_holds_drop(part) for part in tree.values())
    return isinstance(tree, list) and any(_holds_drop(part) for part in tree)
