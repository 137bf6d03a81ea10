# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Damages evidence and judges it: no exception, and nothing invented.

    ./dev fuzz evidence [--count 20000] [--seed N]

First every key of a real bundle, one at a time, is dropped, emptied, cut short, or replaced by another type; then
random damage, several pieces at once, anywhere. A rule's own fault counts as an exception. A key that is absent or of
another type says nothing, so that no finding may come from it. What is empty or cut short says something: it may only
not raise.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BASES = ROOT / "tests" / "field-cases" / "base"
sys.path.insert(0, str(ROOT / ".ansible" / "collections"))

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._judge import judge
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

OTHER_TYPES: tuple[Any, ...] = (
    None,
    True,
    7,
    -1,
    1.5,
    "x",
    "\x00\ufffd",
    [],
    ["x"],
    [None],
    {},
    {"x": None},
    [[]],
    [{}],
)
Loud = set[tuple[str, str]]


def loud(bundle: dict[str, Any]) -> Loud:
    """Codes and summaries of the errors and warnings of a bundle; a fault of a rule raises."""
    found = judge(View(bundle), strict=True).all()
    return {(one.code, one.summary) for one in found if one.severity != "info"}


def keys_of(bundle: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """The keys of the format: of the intent, of the cluster, and of one host."""
    for part in ("intent", "cluster"):
        yield from ((part, key) for key in bundle.get(part, {}))
    nodes = bundle.get("nodes", {})
    if nodes:
        name = sorted(nodes)[-1]
        yield from (("nodes", name, key) for key in nodes[name])


def empty(value: Any) -> Any:
    return type(value)() if isinstance(value, (dict, list, str)) else value


def short(value: Any) -> Any:
    """The first half of it."""
    if isinstance(value, dict) and isinstance(value.get("items"), list):
        return {**value, "items": short(value["items"])}
    if isinstance(value, dict):
        return dict(list(value.items())[: len(value) // 2])
    return value[: len(value) // 2] if isinstance(value, (list, str)) else value


def with_value(bundle: dict[str, Any], keys: tuple[str, ...], value: Any, drop: bool = False) -> dict[str, Any]:
    """A bundle that differs at one key; what is around it is shared, for nothing that judges writes."""
    changed = dict(bundle)
    if len(keys) > 1:
        changed[keys[0]] = with_value(bundle[keys[0]], keys[1:], value, drop)
    elif drop:
        del changed[keys[0]]
    else:
        changed[keys[0]] = value
    return changed


def kind(value: Any) -> type:
    """Its type, one for all numbers."""
    return float if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value)


def one_at_a_time(name: str) -> Iterator[str]:
    """Faults of one base, each key damaged in turn, a sentence each."""
    bundle = json.loads((BASES / f"{name}.json").read_text())
    healthy = loud(bundle)
    for keys in keys_of(bundle):
        value = bundle
        for key in keys:
            value = value[key]
        silent = keys[0] != "intent"  # what a user does not ask for, or asks for as nonsense, may well be a fault
        damaged = [("dropped", with_value(bundle, keys, None, drop=True), True)]
        damaged += [("emptied", with_value(bundle, keys, empty(value)), False)]
        damaged += [("cut short", with_value(bundle, keys, short(value)), False)]
        for other in OTHER_TYPES:
            if kind(other) is not kind(value):
                damaged.append((f"replaced by {other!r}", with_value(bundle, keys, other), True))
        for how, changed, must_be_silent in damaged:
            yield from fault(changed, healthy if must_be_silent and silent else None, f"{name}: {'.'.join(keys)} {how}")


def fault(bundle: dict[str, Any], allowed: Loud | None, what: str) -> Iterator[str]:
    try:
        invented = loud(bundle) - allowed if allowed is not None else set()
    except Exception:
        yield f"{what}: {traceback.format_exc().strip().splitlines()[-1]}\n{traceback.format_exc()}"
        return
    if invented:
        yield f"{what}: invented {', '.join(sorted(f'{code} ({summary})' for code, summary in invented))}"


def damage(dice: random.Random, bundle: dict[str, Any]) -> str:
    """Damages the bundle in place, somewhere, and says how."""
    place: Any = bundle
    path = []
    while True:
        steps: list[Any] = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not steps:
            return "nothing"
        step = dice.choice(steps)
        path.append(str(step))
        if isinstance(place[step], (dict, list)) and place[step] and dice.random() < 0.85:
            place = place[step]
            continue
        how = dice.randrange(4)
        if how == 0:
            del place[step]
        elif how == 1:
            place[step] = empty(place[step])
        elif how == 2:
            place[step] = short(place[step])
        else:
            place[step] = copy.deepcopy(dice.choice(OTHER_TYPES))
        return f"{('drop', 'empty', 'cut', 'other')[how]} {'.'.join(path)}"


def randomly(count: int, seed: int, deadline: float = float("inf")) -> Iterator[tuple[int, str]]:
    """The number of inputs tried so far, with a sentence where one was a fault."""
    bases = {file.stem: file.read_text() for file in sorted(BASES.glob("*.json"))}
    for number in range(count):
        dice = random.Random(f"{seed}/{number}")
        name = dice.choice(sorted(bases))
        bundle = json.loads(bases[name])
        done = [damage(dice, bundle) for _ in range(dice.randrange(1, 9))]
        yield number + 1, next(fault(bundle, None, f"seed {seed}, input {number}, {name}: {'; '.join(done)}"), "")
        if time.monotonic() > deadline:
            return


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev fuzz evidence", description="Damage evidence and judge it.")
    parser.add_argument("--count", type=int, default=20_000, help="random inputs after every key in turn")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    failed = 0
    for name in ("intent", "host", "cluster", "cluster-docker", "cluster-dual"):
        for text in one_at_a_time(name):
            failed += 1
            print(text)
    tried = 0
    for tried, text in randomly(options.count, options.seed):
        if text:
            failed += 1
            print(text)
        if tried % 2000 == 0:
            print(f"{tried} of {options.count} inputs", file=sys.stderr)
    print(f"{tried - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
