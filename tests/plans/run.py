# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Holds the address plan against kubeadm itself and against an oracle of the other components' rules.

    ./dev run python tests/plans/run.py [--count 2000] [--seed 1] [--kubeadm PATH] [--record FILE]

Each generated plan is given to the filter and to ``kubeadm config validate``: as the filter renders it where it
accepts, as the user wrote it where it refuses. What the filter accepts must be accepted by both others. What it alone
refuses must be one of the deliberate rules below. ``--record`` keeps kubeadm's answers, which the unit tests replay.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / ".ansible" / "collections"), str(HERE)]

from oracle import refusals
from plans import plans

from ansible_collections.podnet.kubeadm.plugins.filter.address_plan import ImpossiblePlan, derive

DELIBERATE = {
    "overlap-pod-service": "kubeadm compares nothing; one address would be a pod's and a service's",
    "capacity-too-small": "kubeadm does not know how many nodes are planned; the last ones would get no range",
    "node-range-too-small": "kubeadm does not compare with maxPods; pods beyond the range would get no address",
    "family-mismatch": "kubeadm accepts pods of one family with services of another; services would lead nowhere",
    "cluster-dns-outside": "kubeadm does not look at an address of one's own for DNS; no name would resolve",
    "cidr-public": "kubeadm accepts loopback, link-local and multicast ranges, which no pod can have",
    "cidr-unparsable": "kubeadm accepts leading zeros (010.0.0.0/8), which flannel refuses and others read as octal",
}
"""Codes that refuse what kubeadm and the oracle accept, with the reason."""
VERSION = "v1.37.2"


def configuration(pod: str, service: str | None, masks: dict[str, str]) -> str:
    """A ClusterConfiguration; JSON is YAML."""
    networking = {"podSubnet": pod, **({} if service is None else {"serviceSubnet": service})}
    arguments = [{"name": f"node-cidr-mask-size-{family}", "value": value} for family, value in masks.items()]
    head = {"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration", "kubernetesVersion": VERSION}
    return json.dumps({**head, "networking": networking, "controllerManager": {"extraArgs": arguments}})


def texts(value: Any) -> list[str]:
    """The ranges as written; an empty text is none."""
    return [one.strip() for one in (value.split(",") if isinstance(value, str) else value or []) if one.strip()]


def judged(plan: dict[str, Any]) -> tuple[list[str], str]:
    """The codes for which the filter refuses, and the configuration that kubeadm is asked about."""
    pod, service = texts(plan["pod_cidr"]), texts(plan.get("service_cidr"))
    masks = {}
    if any(":" not in text for text in pod):
        masks["ipv4"] = str(plan["node_mask"])
    if any(":" in text for text in pod):
        masks["ipv6"] = str(plan["node_mask_v6"])
    try:
        made = derive(**plan)["kubeadm"]
    except ImpossiblePlan as impossible:
        written = ",".join(service) if "service_cidr" in plan else None
        return impossible.codes, configuration(",".join(pod), written, masks)
    arguments = {one["name"].rpartition("-")[2]: one["value"] for one in made["controller_manager_args"]}
    return [], configuration(made["podSubnet"], made["serviceSubnet"], arguments)


def ask_kubeadm(kubeadm: str, text: str) -> str:
    """What ``kubeadm config validate`` says against the configuration, "" where it accepts."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        command = [kubeadm, "config", "validate", "--config", file.name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return "" if done.returncode == 0 else done.stderr.strip().splitlines()[0]


def difference(plan: dict[str, Any], codes: list[str], kubeadm: str) -> str:
    """A sentence where the filter and the others differ and must not, else ""."""
    masks = {4: plan["node_mask"], 6: plan["node_mask_v6"]}
    others = refusals(texts(plan["pod_cidr"]), texts(plan.get("service_cidr")), masks, plan.get("planned_nodes"))
    if not codes:
        against = [kubeadm, *others] if kubeadm else others
        return f"accepted, but {'; '.join(against)}" if against else ""
    if kubeadm or others:
        return ""
    own = sorted(set(codes) - set(DELIBERATE))
    return f"only the plan refuses, for {', '.join(own)}" if own else ""


def find_kubeadm(given: str | None) -> str | None:
    """The lab's build, or what is given, or one on PATH."""
    cache = Path(os.environ.get("PODNET_CACHE", Path.home() / ".cache" / "podnet.kubeadm"))
    built = sorted((cache / "components").glob("kubernetes-*/kubeadm"))
    return given or (str(built[-1]) if built else shutil.which("kubeadm"))


def main() -> int:
    parser = argparse.ArgumentParser(description="Hold the address plan against kubeadm and an oracle.")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kubeadm", help="its path; else the lab's build")
    parser.add_argument("--record", type=Path, metavar="FILE", help="keep kubeadm's answers (gzip)")
    options = parser.parse_args()
    kubeadm = find_kubeadm(options.kubeadm)
    if kubeadm is None:
        print("There is no kubeadm on this machine. ./dev lab up builds one, --kubeadm PATH names one.")
        return 3

    every = [(plan, *judged(plan)) for plan in plans(options.count, options.seed)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda one: ask_kubeadm(kubeadm, one[2]), every))
    failed, told = 0, Counter()
    for (plan, codes, _text), answer in zip(every, answers):
        told[
            "accepted by all" if not codes else "refused by kubeadm" if answer else "refused here, not by kubeadm"
        ] += 1
        if wrong := difference(plan, codes, answer):
            failed += 1
            print(f"{json.dumps(plan)}: {wrong}")
    if options.record:
        kept = {"count": options.count, "seed": options.seed, "kubeadm": VERSION, "answers": answers}
        options.record.write_bytes(gzip.compress(json.dumps(kept).encode(), mtime=0))
    print(", ".join(f"{number} {what}" for what, number in sorted(told.items())))
    print(f"{options.count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
