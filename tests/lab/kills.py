# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kills `site` at ten places on its way from empty hosts to a cluster, and has it finished by running it again.

The places are met one after the other on the same hosts, each run going on from what the last one left. A kubeadm that
a killed run started is killed in the same moment, for it would end its work alone and leave nothing for the next kill;
whatever else runs on a host may still be at work when the next run begins. The last run must succeed; one more changes
nothing.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).parents[2]
LAB = os.environ.get("PODNET_LAB", "kills")
INVENTORY = pathlib.Path(os.environ["PODNET_CACHE"]) / "labs" / LAB / "inventory"
NODES = ("n1", "n2", "n3")
SITE = ["ansible-playbook", "-i", str(INVENTORY), "playbooks/site.yml"]

# Task of site, and seconds between its heading and the kill.
PLACES = (
    ("host : See to kernel modules", 1.0),
    ("containerd : Write the repository", 1.0),
    ("containerd : Install the packages", 2.0),
    ("containerd : Install the packages", 8.0),
    ("control_plane : Initialise", 2.0),
    ("control_plane : Initialise", 9.0),
    ("flannel : Apply flannel", 0.5),
    ("worker : Join the host", 1.0),
    ("worker : Join the host", 2.5),
    ("flannel : Wait until flannel has the lease", 1.0),
)


def run(command: list[str], limit: int = 900) -> tuple[bool, str]:
    """Whether COMMAND succeeded, and what it said."""
    environment = dict(os.environ, PODNET_LAB=LAB)
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            check=False,
            text=True,
            timeout=limit,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except subprocess.TimeoutExpired as late:
        return False, f"{late}\n"
    return done.returncode == 0, done.stdout


def kill(task: str, seconds: float) -> tuple[bool, str]:
    """Whether site was killed so many seconds into a task, with kubeadm on all nodes, and what it said."""
    config = str(INVENTORY.parent / "ssh_config")
    # Connected before, for a join takes seconds: a line sends them off.
    waiting = [
        subprocess.Popen(
            ["ssh", "-F", config, node, "read -r go && pkill -9 -x kubeadm"], stdin=subprocess.PIPE, text=True
        )
        for node in NODES
    ]
    site = subprocess.Popen(
        [sys.executable, "tests/lab/killed.py", "--task", task, "--after", str(seconds), "--", *SITE],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert site.stdout is not None
    said = []
    for line in site.stdout:
        said.append(line)
        if line.startswith("killed "):
            for one in waiting:
                assert one.stdin is not None
                one.stdin.write("go\n")
                one.stdin.flush()
    for one in waiting:
        one.communicate()
    return site.wait() == 0, "".join(said)


def main() -> int:
    failures = 0

    def result(name: str, good: bool, output: str, started: float) -> None:
        nonlocal failures
        failures += not good
        print(f"  {'ok    ' if good else 'FAILED'}  {name} ({time.monotonic() - started:.0f} s)", flush=True)
        if not good:
            print(output[-4000:])

    run(["./dev", "lab", "down"])
    good, output = run(["./dev", "lab", "up", "3"])
    if not good:
        print(output[-2000:])
        return 1
    for task, seconds in PLACES:
        started = time.monotonic()
        good, output = kill(task, seconds)
        result(f"killed {seconds:g} s into {task!r}", good, output, started)
    started = time.monotonic()
    good, output = run(SITE)
    result("site finishes what was killed", good, output, started)
    started = time.monotonic()
    good, output = run(SITE)
    changed = re.findall(r"^\S+\s+: ok=.* changed=[1-9].*$", output, re.MULTILINE)
    result("one more run changes nothing", good and not changed, output, started)
    if not failures:
        run(["./dev", "lab", "down"])
    print(f"{len(PLACES) + 2 - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
