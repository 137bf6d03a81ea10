# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a table of gatherers side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

from .source import Missing, Source

Gatherer = Callable[[Source], Any]

# Threads wait for commands and files; more of them than cores is right, but a small host must not fork 40 at once.
SIDE_BY_SIDE = 12


def selected(wanted: Iterable[str], table: Mapping[str, Any], groups: Mapping[str, Iterable[str]]) -> list[str]:
    """The keys that names of keys and of groups ask for, in the order of the table.

    :raises ValueError: a name that is neither, with the names there are.
    """
    keys: set[str] = set()
    for name in wanted:
        if name in groups:
            keys.update(groups[name])
        elif name in table:
            keys.add(name)
        else:
            known = ", ".join([*groups, *table])
            raise ValueError(f"'{name}' is not something that can be gathered; known are {known}.")
    return [key for key in table if key in keys]


def gather(source: Source, table: Mapping[str, Gatherer], keys: Iterable[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Run the gatherers of KEYS side by side; answer the evidence and, by key, why something is absent.

    Nothing that a host says may end the gathering: an error that no one foresaw is a reason as well.
    """

    def one(key: str) -> Any:
        try:
            return table[key](source)
        except Missing as reason:
            source.lack(key, reason)
        except Exception as error:  # see the docstring
            source.lack(key, f"could not be understood: {type(error).__name__}: {error}")
        return None

    order = list(keys)
    with ThreadPoolExecutor(max_workers=SIDE_BY_SIDE) as pool:
        values = list(pool.map(one, order))
    evidence = {key: value for key, value in zip(order, values) if key not in source.missing}
    return evidence, dict(sorted(source.missing.items()))
