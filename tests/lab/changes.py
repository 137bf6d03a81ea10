# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Changes variables of a running cluster, one after the other, and holds what check mode shows against what a run does.

For each change the tasks that are "changed" in check mode are those that are in the run, and the containers that are
other ones afterwards are those that the change names. Changes stay while the next are made; at the end all go back.
Those that are to change nothing are made together: where all of them change nothing, each does. Needs a cluster made by
site in the lab PODNET_LAB. Names of changes as arguments choose.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
STATE = pathlib.Path(os.environ["PODNET_CACHE"]) / "labs" / os.environ.get("PODNET_LAB", "podnet")


@dataclass(frozen=True)
class Change:
    """Variables, the task that they change ("" for none), and the containers that may be replaced by it."""

    name: str
    variables: dict[str, Any]
    task: str = ""
    replaced: set[str] = field(default_factory=set, hash=False)


FLANNEL = {"kube-flannel", "install-cni", "install-cni-plugin"}
CHANGES = (
    Change("flannel-resources", {"flannel_resources": {"requests": {"cpu": "50m"}}}, "flannel : Apply", FLANNEL),
    Change("flannel-mtu", {"flannel_mtu": 1400}, "flannel : Apply", FLANNEL),
    Change("flannel-direct-routing", {"flannel_direct_routing": True}, "flannel : Apply", FLANNEL),
    Change("flannel-pace", {"flannel_max_unavailable": "50%"}, "flannel : Apply"),
    Change("sysctl", {"host_sysctl_minimums": {"fs.inotify.max_user_watches": 65537}}, "kernel values"),
    Change("flannel-tolerations", {"flannel_tolerations": [{"operator": "Exists"}]}, "flannel : Apply", FLANNEL),
    Change("planned-nodes", {"cluster_planned_nodes": 20}),
    Change("max-pods", {"cluster_max_pods": 100}),
    Change("cert-sans", {"control_plane_cert_sans": ["k8s.example.org"]}),
    Change("join-timeout", {"worker_timeout": 500}),
    Change("verify", {"verify_limit": 3.0}),
    Change("accept", {"cluster_accept_findings": ["cidr-public"]}),
)


def play(*arguments: str) -> str:
    command = ["ansible-playbook", "-i", str(STATE / "inventory"), "playbooks/site.yml", *arguments]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    if ran.returncode:
        raise RuntimeError(ran.stdout[-3000:] + ran.stderr[-1000:])
    return ran.stdout


def changed(output: str) -> set[tuple[str, str]]:
    """Pairs of task and host that are changed."""
    found, task = set(), ""
    for line in output.splitlines():
        heading = re.match(r"(?:TASK|RUNNING HANDLER) \[(.*)\]", line)
        if heading:
            task = heading.group(1)
        host = re.match(r"changed: \[([^\] ]+)", line)
        if host:
            found.add((task, host.group(1)))
    return found


def containers() -> dict[str, str]:
    """The id of each running container of each node, with its name."""
    found = {}
    nodes = [line.split()[1] for line in (STATE / "ssh_config").read_text().splitlines() if line.startswith("Host n")]
    for node in nodes:
        ask = "crictl -r unix:///run/containerd/containerd.sock ps -o json"
        text = subprocess.run(
            ["ssh", "-F", str(STATE / "ssh_config"), node, ask], capture_output=True, text=True, timeout=60, check=True
        ).stdout
        for one in json.loads(text)["containers"]:
            if one["metadata"]["name"] != "pause":
                found[one["id"]] = one["metadata"]["name"]
    return found


def judge(change: Change, variables: dict[str, Any]) -> list[str]:
    """Sentences on what is not as it should be when *change* comes to be, which makes the variables all *variables*."""
    extra = ("-e", json.dumps(variables))
    before = containers()
    predicted, made = changed(play("--check", *extra)), changed(play(*extra))
    after = containers()
    wrong = []
    if predicted != made:
        wrong.append(f"check mode shows {sorted(predicted)}, the run makes {sorted(made)}")
    if bool(made) != bool(change.task) or not all(re.search(change.task, task) for task, _host in made):
        wrong.append(f"the run changes {sorted(made)}, expected is {change.task or 'nothing'}")
    gone = {name for identity, name in before.items() if identity not in after} - change.replaced
    if gone:
        wrong.append(f"containers {', '.join(sorted(gone))} are other ones")
    return wrong


def steps(names: list[str]) -> list[Change]:
    """The changes in their order, and one for all that are to change nothing."""
    chosen = [change for change in CHANGES if not names or change.name in names]
    without = [change for change in chosen if not change.task]
    together = Change(
        ", ".join(one.name for one in without), {k: v for one in without for k, v in one.variables.items()}
    )
    return [change for change in chosen if change.task] + ([together] if without else [])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="changes; all without any")
    passed = failed = 0
    variables: dict[str, Any] = {}
    names = parser.parse_args().names
    if unknown := set(names) - {one.name for one in CHANGES}:
        parser.error(
            f"There is no change {', '.join(sorted(unknown))}; there are: {', '.join(c.name for c in CHANGES)}."
        )
    for change in steps(names):
        variables.update(change.variables)
        began = time.monotonic()
        wrong = judge(change, variables)
        seconds = f" ({time.monotonic() - began:.0f} s)"
        print(
            f"{'FAILED' if wrong else 'ok'}: {change.name}{seconds}" + "".join(f"\n    {one}" for one in wrong),
            flush=True,
        )
        count = len(change.variables)
        passed, failed = passed + (0 if wrong else count), failed + (count if wrong else 0)
    play()
    print(f"{passed} passed, {failed} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
