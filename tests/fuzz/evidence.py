# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hostile evidence: `./dev fuzz evidence [--count 20000] [--limit SECONDS] [--seed N] [--base NAME]`.

Every key of every healthy bundle is dropped, emptied, cut, and replaced by each other type, one at a time; and a fuzzer
changes several places at any depth of a bundle. Whatever the evidence says, judging and every form of the report must
end without an exception and within seconds; and nothing may be found that nobody said:

- a key that was dropped, or is of another type, brings no finding at all that the healthy bundle has not;
- a key that was emptied or cut brings findings only of rules that look at that key.

The intent is held to neither: what it does not say is kubeadm's default, which may well be wrong beside the rest.
"""

from __future__ import annotations

import argparse
import copy
import functools
import itertools
import json
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / ".ansible/collections"))

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._judge import Verdict, judge  # noqa: E402
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._registry import load_rules  # noqa: E402
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._describe import describe  # noqa: E402
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._html import html  # noqa: E402
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._junit import junit  # noqa: E402
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._model import model  # noqa: E402
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._tell import tell  # noqa: E402
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View  # noqa: E402

BASES = ROOT / "tests/field-cases/base"
SLOW = 20.0  # seconds of processor time for one bundle of three hosts
HOSTILE = "\x00\x1b[2J</script>\ud800"
PIECES = ["", ":", "/", "\n", "\t", "{", '"', "999999", "\x00", "é", "-j"]
DROP = object()
OTHERS: list[Any] = [None, True, False, 0, -1, 10**30, 1.5, "", "x", HOSTILE, [], [[]], [None], {}, {"": {}}]


class Seen(dict[str, Any]):
    """A part of the evidence that keeps which of its keys were looked at."""

    def __init__(self, raw: dict[str, Any]) -> None:
        super().__init__(raw)
        self.keys_seen: set[str] = set()

    def get(self, key: Any, default: Any = None) -> Any:
        self.keys_seen.add(key)
        return super().get(key, default)

    def __getitem__(self, key: Any) -> Any:
        self.keys_seen.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.keys_seen.add(str(key))
        return super().__contains__(key)


def found(verdict: Verdict) -> set[tuple[str, str]]:
    """Code and place of every finding that is more than a note."""
    return {(one.code, place) for one in verdict.all() if one.severity != "info" for place in one.where}


def run(bundle: dict[str, Any]) -> Verdict:
    """Judge and tell BUNDLE in every form; what a rule raises comes through."""
    view = View(bundle)
    verdict = judge(view, strict=True)
    report = model(view, verdict)
    for form in (json.dumps, junit, describe, html):
        form(report)  # type: ignore[operator]
    tell(verdict, 80)
    return verdict


def places(bundle: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Every key of the format that BUNDLE has."""
    yield from (("intent", key) for key in bundle.get("intent", {}))
    yield from (("cluster", key) for key in bundle.get("cluster", {}))
    yield from (("nodes", name, key) for name, node in bundle["nodes"].items() for key in node)
    yield from ((key,) for key in ("taken_at", "stage", "intent", "cluster", "nodes", "format") if key in bundle)


def parent(bundle: dict[str, Any], place: tuple[str, ...]) -> Any:
    for key in place[:-1]:
        bundle = bundle[key]
    return bundle


def empty(value: Any) -> Any:
    return type(value)() if isinstance(value, (str, list, dict)) else None


def cut(value: Any) -> Any:
    """The first half of it."""
    if isinstance(value, (str, list)):
        return value[: len(value) // 2]
    if isinstance(value, dict):
        if isinstance(value.get("items"), list):
            return {**value, "items": value["items"][: len(value["items"]) // 2]}
        return dict(list(value.items())[: len(value) // 2])
    return None


def one_at_a_time(name: str, bundle: dict[str, Any]) -> Iterator[tuple[str, Callable[[], None]]]:
    """A name and a test for each change of one key."""
    healthy = found(run(copy.deepcopy(bundle)))
    for place in list(places(bundle)):
        value = parent(bundle, place)[place[-1]]
        changes: list[tuple[str, Any]] = [("dropped", DROP), ("emptied", empty(value)), ("cut", cut(value))]
        changes += [
            (f"as {other!r}", other)
            for other in OTHERS
            if type(other) is not type(value) and not (isinstance(value, float) and isinstance(other, int))
        ]
        for what, other in changes:
            yield f"{name}: {'.'.join(place)} {what}", functools.partial(changed_key, bundle, healthy, place, other)


def changed_key(bundle: dict[str, Any], healthy: set[tuple[str, str]], place: tuple[str, ...], value: Any) -> None:
    """Judge BUNDLE with VALUE at PLACE, and fail where that invents a finding."""
    changed = copy.deepcopy(bundle)
    if value is DROP:
        del parent(changed, place)[place[-1]]
    else:
        parent(changed, place)[place[-1]] = copy.deepcopy(value)
    try:
        new = found(run(changed)) - healthy
    except ValueError:
        if place == ("format",):
            return  # another format is refused, with a sentence
        raise
    if len(place) == 1 or place[0] == "intent":
        return
    before = parent(bundle, place)[place[-1]]
    # An empty list is an empty Kubernetes List: it says that there is nothing.
    said = value is not DROP and value is not None and (isinstance(value, type(before)) or not value)
    if said:
        new = {one for one in new if not looks(changed, one[0], place)}
    if new:
        raise AssertionError("invents " + ", ".join(f"{code} at {where}" for code, where in sorted(new)))


def looks(bundle: dict[str, Any], code: str, place: tuple[str, ...]) -> bool:
    """Whether the rule of CODE looks at the key at PLACE."""
    part = Seen(parent(bundle, place))
    parent(bundle, place[:-1])[place[-2]] = part
    judge(View(bundle), {code: load_rules()[code]})
    return place[-1] in part.keys_seen


def mutated(bundle: dict[str, Any], chance: random.Random) -> tuple[dict[str, Any], list[str]]:
    """A copy of BUNDLE with one to six changes at any depth, and what they are."""
    changed = copy.deepcopy(bundle)
    told = []
    for _unused in range(chance.randint(1, 6)):
        at: Any = changed
        path: list[Any] = []
        while isinstance(at, (dict, list)) and at:
            key = chance.choice(list(at)) if isinstance(at, dict) else chance.randrange(len(at))
            path.append(key)
            if not isinstance(at[key], (dict, list)) or not at[key] or (len(path) > 2 and chance.random() < 0.25):
                break
            at = at[key]
        if not path or path[-1] == "format":
            continue
        kind = chance.choice(["drop", "empty", "cut", "retype", "copy", "garble"])
        value = at[path[-1]]
        if kind == "drop":
            del at[path[-1]]
        elif kind in ("empty", "cut"):
            at[path[-1]] = empty(value) if kind == "empty" else cut(value)
        elif kind == "garble":
            at[path[-1]] = garbled(value, chance)
        else:
            at[path[-1]] = copy.deepcopy(chance.choice(OTHERS if kind == "retype" else list(changed.values())))
        told.append(f"{kind} {'.'.join(map(str, path))}")
    return changed, told


def garbled(value: Any, chance: random.Random) -> Any:
    """Text with characters lost, doubled and replaced; numbers far off; what else there is in another order."""
    if isinstance(value, str):
        letters = list(value)
        for _unused in range(chance.randint(1, 8)):
            if letters:
                at = chance.randrange(len(letters))
                letters[at : at + chance.randint(0, 3)] = chance.choice(PIECES)
        return "".join(letters)
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, (int, float)):
        return chance.choice([-value, value * 10**9, 0, 10**400])
    if isinstance(value, list):
        return chance.sample(value, len(value)) * chance.randint(1, 2)
    return {key: value[other] for key, other in zip(value, chance.sample(list(value), len(value)))}


def fuzzed(bundles: dict[str, Any], count: int, seed: int) -> Iterator[tuple[str, Callable[[], None]]]:
    for number in range(count):
        chance = random.Random(f"{seed}/{number}")
        name = chance.choice(list(bundles))
        changed, told = mutated(bundles[name], chance)
        yield f"seed {seed} number {number}, {name}: {'; '.join(told)}", functools.partial(ended, changed)


def ended(bundle: dict[str, Any]) -> None:
    run(bundle)


def interleaved(*kinds: Iterator[tuple[str, Callable[[], None]]]) -> Iterator[tuple[str, Callable[[], None]]]:
    """By turns, so that a limit cuts all of them."""
    waiting = list(kinds)
    while waiting:
        for kind in list(waiting):
            try:
                yield next(kind)
            except StopIteration:
                waiting.remove(kind)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000, help="inputs of the fuzzer")
    parser.add_argument("--limit", type=float, default=0, help="seconds after which no more is begun")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--base", action="append", help="a healthy bundle, of tests/field-cases/base")
    parser.add_argument("--most", type=int, default=20, help="failures that are told in full")
    options = parser.parse_args()
    names = options.base or sorted(path.stem for path in BASES.glob("*.json") if path.stem != "intent")
    bundles = {name: json.loads((BASES / f"{name}.json").read_text()) for name in names}
    for bundle in bundles.values():
        bundle.setdefault("nodes", {})
    passed = fuzz = 0
    failures: dict[str, list[str]] = {}
    began = time.monotonic()
    fuzzing = fuzzed(bundles, options.count, options.seed)
    # The first 200 of the fuzzer come before any limit; then all kinds by turns, so that a limit cuts each of them.
    tests = itertools.chain(
        itertools.islice(fuzzing, 200),
        interleaved(fuzzing, *(one_at_a_time(name, bundle) for name, bundle in bundles.items())),
    )
    for name, test in tests:
        if options.limit and fuzz >= min(200, options.count) and time.monotonic() - began > options.limit:
            break
        fuzz += name.startswith("seed ")
        used = time.process_time()
        try:
            test()
            if time.process_time() - used > SLOW:
                raise AssertionError(f"took {time.process_time() - used:.0f} s")
            passed += 1
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            why = f"{type(error).__name__}: {error}"
            if not isinstance(error, AssertionError):
                why += f" ({Path(last.filename).name}:{last.lineno})"
            failures.setdefault(why[:300], []).append(name[:500])
    for why, where in sorted(failures.items(), key=lambda pair: -len(pair[1]))[: options.most]:
        print(f"FAILED {len(where)} times: {why}\n    first: {where[0]}")
    if len(failures) > options.most:
        print(f"... and {len(failures) - options.most} other kinds of failure")
    failed = sum(map(len, failures.values()))
    print(f"{fuzz} inputs of the fuzzer, {passed + failed - fuzz} changes of one key, {time.monotonic() - began:.0f} s")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
