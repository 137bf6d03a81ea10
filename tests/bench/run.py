# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures `site` against the same work done by hand, on fresh nodes of the same lab, one run after the other.

run.py [--nodes 3] [--rounds 3]

Each round makes new nodes and runs tests/bench/by_hand.sh, makes new nodes again and runs `site`, then `site` a second
time. Medians, their ratio, and results per host are printed; targets stand beside the figures and never fail the run.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).parents[2]
LAB = "bench"
STATE = pathlib.Path(os.environ["PODNET_CACHE"]) / "labs" / LAB
RECAP = re.compile(r"^(\S+)\s+: ok=(\d+)\s+changed=(\d+)\s+unreachable=0\s+failed=0 ", re.MULTILINE)


def run(*command: str, limit: int = 1800) -> tuple[float, str]:
    """Seconds and output of COMMAND; ends the benchmark where it fails."""
    started = time.monotonic()
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=dict(os.environ, PODNET_LAB=LAB),
        capture_output=True,
        text=True,
        timeout=limit,
        check=False,
    )
    seconds = time.monotonic() - started
    if done.returncode:
        print(done.stdout[-3000:], done.stderr[-2000:], sep="\n")
        print(f"{' '.join(command)} ended with {done.returncode}.\n0 passed, 1 failed")
        sys.exit(1)
    return seconds, done.stdout


def fresh_nodes(count: int) -> None:
    run("./dev", "lab", "down")
    run("./dev", "lab", "up", str(count))


def site() -> tuple[float, str]:
    return run("ansible-playbook", "-i", str(STATE / "inventory"), "playbooks/site.yml")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    hand, first, again, load = [], [], [], []
    recap: list[tuple[str, str, str]] = []
    for number in range(1, options.rounds + 1):
        fresh_nodes(options.nodes)
        load.append(os.getloadavg()[0])
        hand.append(run("tests/bench/by_hand.sh", str(STATE))[0])
        fresh_nodes(options.nodes)
        seconds, output = site()
        first.append(seconds)
        recap = RECAP.findall(output)
        seconds, output = site()
        again.append(seconds)
        changes = [f"{host} changed={changed}" for host, _ok, changed in RECAP.findall(output) if changed != "0"]
        times = f"by hand {hand[-1]:.1f} s, site {first[-1]:.1f} s, again {again[-1]:.1f} s"
        print(f"round {number}: {times} {' '.join(changes)}", flush=True)
    run("./dev", "lab", "down")
    ratio = statistics.median(first) / statistics.median(hand)
    target = 1.2 if options.nodes <= 3 else 1.3
    loads = ", ".join(f"{one:.1f}" for one in load)
    print(f"{options.nodes} nodes, {options.rounds} rounds, load average before each: {loads}")
    print(f"  by hand   {statistics.median(hand):6.1f} s")
    print(f"  site      {statistics.median(first):6.1f} s   {ratio:.2f} times by hand (target {target})")
    print(f"  again     {statistics.median(again):6.1f} s   (target 15 s for three nodes)")
    results = ", ".join(f"{host} ok={ok}" for host, ok, _changed in recap)
    print(f"  results   {results}   (target 40 on a control plane, 20 on a worker)")
    print(f"{3 * options.rounds} passed, 0 failed")


if __name__ == "__main__":
    main()
