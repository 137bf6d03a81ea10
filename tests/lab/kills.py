# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Interrupts site at eleven places of one bring-up, and runs it again after each; in the end all has to be well.

Where it is killed on the controller, all of Ansible's processes go, and what they started on the nodes goes on as it
would after a lost connection. Where kubeadm is killed on a node, site fails and says so. Needs nodes of a lab
(PODNET_LAB) that hold no cluster; `./dev lab down && ./dev lab up 3` makes them.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
STATE = pathlib.Path(os.environ["PODNET_CACHE"]) / "labs" / os.environ.get("PODNET_LAB", "podnet")


@dataclass(frozen=True)
class Kill:
    """After the task that *task* matches began, wait *after* seconds; then kill Ansible, or kubeadm on *node*."""

    task: str
    after: float = 0.5
    node: str = ""


PLACES = (
    Kill(r"kernel_settings|kernel values"),
    Kill(r"containerd : Install the packages", 3),
    Kill(r"control_plane : Initialise", 1.5, "n1"),  # certificates are there, and perhaps not all
    Kill(r"control_plane : Initialise", 5, "n1"),  # static pods are coming up
    Kill(r"control_plane : Initialise", 2),
    Kill(r"flannel : Apply", 0.7),
    Kill(r"worker : Make a token", 1),
    Kill(r"worker : Join", 1.2, "n2"),
    Kill(r"worker : Join", 2),
    Kill(r"flannel : Wait until flannel has taken", 1),
    Kill(r"verify : Answer in the host's pods", 1.5),
)


def site() -> subprocess.Popen[str]:
    command = ["ansible-playbook", "-i", str(STATE / "inventory"), "playbooks/site.yml"]
    environment = dict(os.environ, PYTHONUNBUFFERED="1")
    return subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env=environment,
    )


def kill_kubeadm(node: str) -> None:
    """At the moment at which it runs: it may still have to be started."""
    look = "for i in $(seq 100); do pkill -9 -x kubeadm && exit 0; sleep 0.05; done; exit 1"
    subprocess.run(["ssh", "-F", str(STATE / "ssh_config"), node, look], check=False, timeout=60)


def run(place: Kill | None, log: list[str]) -> str:
    """Run site, with an interruption where *place* says so; C(ended), C(killed), or C(failed)."""
    process = site()
    assert process.stdout is not None
    timer = threading.Timer(600, lambda: os.killpg(process.pid, 9))
    timer.start()
    killed = False
    try:
        for line in process.stdout:
            log.append(line)
            if place and not killed and re.match(r"TASK \[", line) and re.search(place.task, line):
                killed = True
                time.sleep(place.after)
                if place.node:
                    kill_kubeadm(place.node)
                elif process.poll() is None:
                    os.killpg(process.pid, 9)
        code = process.wait()
    finally:
        timer.cancel()
    if place and not killed:
        return "never came there"
    return {0: "ended", -9: "killed"}.get(code, "failed")


def changed(log: list[str]) -> list[str]:
    return [line.strip() for line in log if re.search(r": ok=\d+ +changed=[1-9]", line)]


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    passed = failed = 0

    def tell(ok: bool, what: str, log: list[str]) -> None:
        nonlocal passed, failed
        passed, failed = passed + ok, failed + (not ok)
        print(f"{'ok' if ok else 'FAILED'}: {what}", flush=True)
        if not ok:
            print("".join(log[-60:]), flush=True)

    for place in PLACES:
        log: list[str] = []
        start = time.monotonic()
        outcome = run(place, log)
        where = f"kubeadm on {place.node}" if place.node else "site"
        what = f"{where} killed {place.after:g} s into '{place.task}': {outcome} after {time.monotonic() - start:.0f} s"
        # A kubeadm that was quicker than its killer is no failure of what is tested.
        tell(outcome in (("failed", "ended") if place.node else ("killed",)), what, log)
    log = []
    tell(run(None, log) == "ended", "site finishes", log)
    log = []
    tell(run(None, log) == "ended" and not changed(log), "the next site changes nothing", log)
    print(f"{passed} passed, {failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
