#!/usr/bin/env python
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Faults on real nodes: inject, name, feel, mend. One small file per fault in `cases/`; README.md says what is in it.

For each fault, on a healthy cluster of the lab: inject it; the doctor must name exactly its cause; verify must fail in
exactly its cells; repair must mend it (or name it as one for a person, and the file's own `undo` does); then doctor and
verify are clean and no pod that was not touched has restarted. The end of one fault is the healthy start of the next.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from cluster import CACHE, HERE, LAB, NODES, Cluster, Failed, Pod, Seen, cells_of

LIMIT = 120
"""Seconds from the fault to green again."""
SETTLE = 45
"""Seconds for which what a fault does, or its repair, may still be on its way."""
QUICK = 3


class Wrong(Failed):
    """What was not as a fault's file says, while the cluster is healthy again."""


def run(fault: dict[str, Any], cluster: Cluster, limit: float) -> str:
    """Plays one fault through to its end, whatever is wrong on the way; answers what it took. Raises `Wrong` with all
    that was not as the file says, or `Failed` where the cluster is not healthy then."""
    wrong: list[str] = []

    def expect(look: Callable[..., None], *args: Any) -> None:
        try:
            look(*args)
        except Failed as error:
            wrong.append(str(error))

    if "needs" in fault:
        cluster.lab(fault["needs"], limit=1800)
    before = cluster.pods()
    cluster.variables = fault.get("variables", {})
    cluster.forget()
    inject(fault, cluster)
    started, began = time.monotonic(), time.time()

    seen = settled(cluster.check, lambda seen: bool(seen.findings) == bool(fault["code"]))
    told = seen.told - began
    expect(named, fault, seen)
    expect(cut, fault, seen)

    drained = False
    if fault["code"] is not None:
        seen = cluster.play("playbooks/repair.yml", "-e", "repair_approve=true")
        expect(mended, fault, seen)
        drained = "interrupts every pod of the node" in seen.text
        for node, script in fault.get("undo", {}).items():
            cluster.on(node, script)
        cluster.variables = {}
        if fault.get("undo"):
            seen = Seen()
    if not seen.green:
        seen = settled(cluster.check, lambda seen: seen.green)
    seconds = time.monotonic() - started
    if not seen.green:
        raise Failed("; ".join([*wrong, *left(seen)]))
    if seconds > limit:
        wrong.append(f"fault to green took {seconds:.0f} s; the limit is {limit:.0f}")
    expect(untouched, fault, drained, before, cluster)
    for node, script in fault.get("cleanup", {}).items():
        cluster.on(node, script)
    times = f"named after {told:.0f} s, green after {seconds:.0f} s"
    if wrong:
        raise Wrong("; ".join([*wrong, times]))
    return times


def inject(fault: dict[str, Any], cluster: Cluster) -> None:
    for node, script in fault["inject"].items():
        cluster.on(node, script)
    for node in fault.get("restart", []):
        cluster.lab("restart", node)
        cluster.on("n1", f"kubectl wait --for=condition=Ready node/{node} --timeout=180s", limit=200)
    if "settle" in fault:
        node = next((place for place in fault["where"] if place in NODES), NODES[0])
        cluster.on(node, f"for i in $(seq 60); do ({fault['settle']}) && exit 0; sleep 0.5; done; exit 1")


def named(fault: dict[str, Any], seen: Seen) -> None:
    """The cause is told, at its place, and nothing else beside what the file allows."""
    found = seen.findings or []
    codes = {one["code"] for one in found}
    if fault["code"] is None:
        if found:
            raise Failed(f"the doctor names {sorted(codes)}, and nothing is wrong")
        return
    if not found or found[0]["code"] != fault["code"]:
        raise Failed(f"the doctor names {[one['code'] for one in found] or 'nothing'} and not first {fault['code']}")
    beside = codes - {fault["code"]} - set(fault.get("beside", []))
    if beside:
        raise Failed(f"beside {fault['code']} the doctor names {sorted(beside)}")
    where = set(found[0]["where"])
    if where != set(fault["where"]):
        raise Failed(f"the doctor says {fault['code']} of {sorted(where)}, and it is at {fault['where']}")


def cut(fault: dict[str, Any], seen: Seen) -> None:
    """Traffic between pods fails exactly where the file says."""
    failed = seen.failed or []
    hit = {(one["from"], one["to"]) for one in failed if one["what"].endswith("/pod") and one["from"] != one["to"]}
    wanted = cells_of(fault["cuts"])
    some = cells_of(fault.get("perhaps", []))
    if not wanted <= hit <= wanted | some or (some and not hit):
        raise Failed(f"verify failed between {pairs(hit)}, and the fault cuts {pairs(wanted)}; {failed[:3]}")


def mended(fault: dict[str, Any], seen: Seen) -> None:
    """The repair says that it mended the fault, or what a person is to do about it."""
    if fault["repair"] == "automatic" and seen.code:
        raise Failed(f"repair failed:\n{seen.text[-4000:]}")
    if fault["repair"] == "steps" and f"  - {fault['code']} at " not in seen.text:
        raise Failed(f"repair does not say what a person is to do:\n{seen.text[-4000:]}")


def left(seen: Seen) -> list[str]:
    """What is wrong with a cluster that should be healthy."""
    found = [one["code"] for one in seen.findings or []]
    return ([f"afterwards the doctor still names {found}"] if found else []) + (
        [f"afterwards verify still fails: {seen.failed[:3]}"] if seen.failed else []
    )


def settled(ask: Callable[[], Seen], enough: Callable[[Seen], bool]) -> Seen:
    """Asks again while what a fault does, or its repair, may still be on its way."""
    end = time.monotonic() + SETTLE
    while True:
        answer = ask()
        if enough(answer) or time.monotonic() > end:
            return answer


def untouched(fault: dict[str, Any], drained: bool, before: dict[str, Pod], cluster: Cluster) -> None:
    """Pods have not restarted but flannel's, kube-proxy's and those of a node that was drained, restarted or made anew;
    and all answer, those that were there before too."""
    after = cluster.pods()
    scripts = [*fault["inject"].items(), *fault.get("undo", {}).items()]
    anew = {node for node, script in scripts if re.search(r"\bnew_node\b|kubeadm reset", script)}
    touched = set(fault.get("restart", [])) | anew | (set(fault["where"]) if drained else set())
    again = [
        name
        for name, pod in after.items()
        if name in before and pod.restarts > before[name].restarts and pod.node not in touched
    ]
    innocent = [name for name in again if not name.startswith(("kube-flannel/", "kube-system/kube-"))]
    if innocent:
        raise Failed(f"pods restarted that had nothing to do with it: {innocent}")
    addresses = {pod.address: name for name, pod in after.items() if name.startswith("witness/")}
    silent = [addresses[one] for one in cluster.silent(list(addresses))]
    if silent:
        raise Failed(f"pods were left without a network: {silent}")


def pairs(cells: set[tuple[str, str]]) -> str:
    return ", ".join(f"{one}>{other}" for one, other in sorted(cells)) or "nothing"


def load(names: list[str], everything: bool) -> dict[str, dict[str, Any]]:
    """The faults of these names; without names those that are always played, or everything."""
    files = {path.stem: path for path in sorted((HERE / "cases").glob("*.yml"))}
    unknown = sorted(set(names) - set(files))
    if unknown:
        print(f"There is no fault {', '.join(unknown)}; there are: {', '.join(files)}.", file=sys.stderr)
        raise SystemExit(2)
    faults = {name: yaml.safe_load(files[name].read_text()) for name in names or files}
    return {name: fault for name, fault in faults.items() if names or everything or fault.get("only") != "all"}


def mode_of(fault: dict[str, Any]) -> str:
    return fault.get("mode", "iptables")


def of_today(faults: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The three of the day, of those that work on an iptables cluster."""
    names = [name for name, fault in faults.items() if mode_of(fault) == "iptables"]
    today = datetime.date.today()
    first = today.toordinal() * QUICK
    chosen = [names[(first + step) % len(names)] for step in range(QUICK)]
    print(f"the three of {today}: {', '.join(chosen)}", flush=True)
    return {name: faults[name] for name in chosen}


def recover(fault: dict[str, Any], cluster: Cluster) -> None:
    """A healthy cluster for the next fault: the old one where that works, else a new one."""
    cluster.variables = {}
    try:
        for node, script in [*fault.get("undo", {}).items(), *fault.get("cleanup", {}).items()]:
            cluster.on(node, f"set +e\n{script}\ntrue")
        cluster.play("playbooks/repair.yml", "-e", "repair_approve=true")
        if settled(cluster.check, lambda seen: seen.green).green:
            return
    except (Failed, subprocess.TimeoutExpired):
        pass
    print("    the cluster did not recover and is made anew", flush=True)
    cluster.lab("down")
    cluster.make()
    cluster.witness()


def play(faults: dict[str, dict[str, Any]], logs: Path, limit: float) -> tuple[int, int]:
    """Plays faults on a cluster each mode; answers how many passed and failed."""
    passed, number = 0, 0
    for mode in ("iptables", "nftables"):
        of_mode = {name: fault for name, fault in faults.items() if mode_of(fault) == mode}
        if not of_mode:
            continue
        cluster = Cluster(mode, logs / "cluster.log")
        cluster.ready()
        cluster.witness()
        seen = settled(cluster.check, lambda seen: seen.green)
        if not seen.green:
            raise SystemExit(f"The cluster is not healthy before the first fault: {'; '.join(left(seen))}")
        for name, fault in of_mode.items():
            number += 1
            started = time.monotonic()
            cluster.log = logs / f"{name}.log"
            cluster.log.unlink(missing_ok=True)
            print(f"[{number}/{len(faults)}] {name}: {fault['what']}", flush=True)
            try:
                print(f"    ok: {run(fault, cluster, limit)}; {time.monotonic() - started:.0f} s in all", flush=True)
                passed += 1
            except Wrong as error:
                print(f"    FAILED: {error}\n    all output: {cluster.log}", flush=True)
            except (Failed, subprocess.TimeoutExpired) as error:
                print(f"    FAILED: {error}\n    all output: {cluster.log}", flush=True)
                recover(fault, cluster)
    return passed, number - passed


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev faults", description="Faults on real nodes.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="faults; where none is named all but those of --all")
    parser.add_argument("--all", action="store_true", help="those too that need more than the lab's own components")
    parser.add_argument("--quick", action="store_true", help="the three of the day")
    parser.add_argument("--list", action="store_true", help="only list them")
    parser.add_argument(
        "--limit", type=float, default=LIMIT, metavar="SECONDS",
        help=f"from a fault to green again, {LIMIT} by default; more where the machine has other work",
    )  # fmt: skip
    options = parser.parse_args()
    faults = load(options.names, options.list or (options.all and not options.quick))
    if options.list:
        for name, fault in faults.items():
            print(f"{name:28} {fault['code'] or 'no finding':28} {fault['what']}")
        return 0
    if options.quick:
        faults = of_today(faults)
    logs = CACHE / "log" / f"faults-{LAB}"
    logs.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    passed, failed = play(faults, logs, options.limit)
    print(f"{(time.monotonic() - started) / 60:.1f} min")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
