# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Scores the rules against cases made from public reports; README.md beside this file has the layout and the scoring.

    ./dev field-cases [FOLDER] [--json FILE] [--only ID] [--strict] [--vary]

Prints a line per failed case, two further figures, and last "N passed, M failed".
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / ".ansible" / "collections"), str(HERE)]

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Finding
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._judge import Verdict, judge
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

PLACES = {"intent", "cluster"}
LOUD = {"error", "warning"}


def apply_patch(document: Any, patch: list[dict[str, Any]]) -> Any:
    """Applies a JSON Patch (RFC 6902) of the operations add, remove and replace to a copy of the document."""
    document = copy.deepcopy(document)
    for step in patch:
        keys = [key.replace("~1", "/").replace("~0", "~") for key in step["path"].split("/")[1:]]
        if not keys:
            document = step["value"]
            continue
        target = document
        for key in keys[:-1]:
            target = target[int(key)] if isinstance(target, list) else target[key]
        last = keys[-1]
        if isinstance(target, list):
            position = len(target) if last == "-" else int(last)
            if step["op"] == "add":
                target.insert(position, step["value"])
            elif step["op"] == "replace":
                target[position] = step["value"]
            else:
                del target[position]
        elif step["op"] == "remove":
            del target[last]
        elif step["op"] == "replace" and last not in target:
            raise KeyError(f"nothing to replace at {step['path']}")
        else:
            target[last] = step["value"]
    return document


@dataclass
class Score:
    """How a case went: ``faults`` is empty where it is right; ``first`` is None where nothing was to be found."""

    faults: list[str] = field(default_factory=list)
    first: bool | None = None
    unfolded: int | None = None


def score(case: dict[str, Any], verdict: Verdict) -> Score:
    expect = case["expect"]
    any_of, allowed, where = set(expect["any_of"]), set(expect.get("allowed") or ()), expect.get("where")
    every = list(verdict.all())
    result = Score()

    if any_of and not case.get("undetermined_ok"):
        hits = [one for one in every if one.code in any_of and one.severity in LOUD]
        if not hits:
            result.faults.append(f"none of {', '.join(sorted(any_of))}")
        elif where is not None:
            result.faults += wrong_place(where, [one for one in every if one.code in any_of])
    others = [one for one in every if one.code not in any_of | allowed]
    errors = sorted({one.code for one in others if one.severity == "error"})
    warnings = sorted(one.code for one in others if one.severity == "warning")
    if errors:
        result.faults.append(f"unexpected error: {', '.join(errors)}")
    if len(warnings) > 1:
        result.faults.append(f"unexpected warnings: {', '.join(warnings)}")

    if any_of:
        loud = [one for one in verdict.findings if one.severity in LOUD]
        result.first = bool(loud) and loud[0].code in any_of
        result.unfolded = len(loud)
    return result


def wrong_place(where: list[str], hits: list[Finding]) -> list[str]:
    got = {place for one in hits for place in one.where}
    wanted_nodes = set(where) - PLACES
    if wanted_nodes and got - PLACES != wanted_nodes:
        return [f"at {', '.join(sorted(got)) or 'nowhere'} instead of {', '.join(sorted(wanted_nodes))}"]
    missed = set(where) & PLACES - got
    return [f"not at {', '.join(sorted(missed))}"] if missed else []


def cases_of(folder: Path) -> list[dict[str, Any]]:
    """The cases of a folder, and its bases as cases in which nothing may be found."""
    bases = [
        {
            "id": f"base-{file.stem}",
            "base": file.stem,
            "patch": [],
            "expect": {"any_of": [], "allowed": ["mtu-mismatch"] if file.stem == "cluster-dual" else [], "where": None},
        }
        for file in sorted((folder / "base").glob("*.json"))
    ]
    return bases + [json.loads(file.read_text()) for file in sorted((folder / "cases").glob("*.json"))]


def varied(cases: list[dict[str, Any]], bases: dict[str, Any]) -> int:
    """Scores every case under each variation; a line for each that went wrong, and the counts last."""
    from vary import VARIATIONS

    passed = failed = 0
    for name, change in VARIATIONS.items():
        for case in cases:
            evidence, where = change(apply_patch(bases[case["base"]], case["patch"]), case["expect"].get("where"))
            changed = {**case, "expect": {**case["expect"], "where": where}}
            faults = score(changed, judge(View(evidence))).faults
            passed, failed = passed + (not faults), failed + bool(faults)
            if faults:
                print(f"{case['id']} with other {name}: {'; '.join(faults)}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev field-cases", description="Score the rules against field cases.")
    parser.add_argument("folder", nargs="?", type=Path, help="a folder with base/ and cases/; else those of here")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write each case's findings, in the order seen")
    parser.add_argument("--only", metavar="ID", action="append", help="only this case, with its findings printed")
    parser.add_argument("--strict", action="store_true", help="a fault of a rule ends the run with its traceback")
    parser.add_argument("--vary", action="store_true", help="score each case under other names and addresses instead")
    options = parser.parse_args()
    folders = [options.folder] if options.folder else [HERE, HERE / "lab"]
    for folder in folders:
        if not (folder / "base").is_dir() or not (folder / "cases").is_dir():
            parser.error(f"{folder} has no base/ and cases/; see tests/field-cases/README.md")

    bases: dict[str, Any] = {
        file.stem: json.loads(file.read_text()) for folder in folders for file in (folder / "base").glob("*.json")
    }
    if options.vary:
        return varied([case for folder in folders for case in cases_of(folder)], bases)
    written: dict[str, Any] = {}
    passed = failed = 0
    firsts: list[bool] = []
    unfolded: list[int] = []
    for case in (case for folder in folders for case in cases_of(folder)):
        if options.only and case["id"] not in options.only:
            continue
        verdict = judge(View(apply_patch(bases[case["base"]], case["patch"])), strict=options.strict)
        result = score(case, verdict)
        broken = [f"rule {one.code} failed: {one.why}" for one in verdict.undetermined if one.kind == "failed"]
        result.faults += broken
        passed, failed = passed + (not result.faults), failed + bool(result.faults)
        if result.first is not None and result.unfolded is not None:
            firsts.append(result.first)
            unfolded.append(result.unfolded)
        if result.faults:
            print(f"{case['id']}: {'; '.join(result.faults)}")
        if options.only:
            print(json.dumps({"expect": case["expect"], **verdict.as_dict()}, indent=1))
        written[case["id"]] = {"right": not result.faults, "faults": result.faults, **verdict.as_dict()}
    if options.json:
        options.json.write_text(json.dumps(written, indent=1) + "\n")
    if firsts:
        mean = sum(unfolded) / len(unfolded)
        print(f"first: {sum(firsts)} of {len(firsts)}; unfolded: {mean:.2f} findings a case")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
