#!/usr/bin/env python
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Faults on real nodes: inject, name, feel, mend. One small file per fault in `cases/`; README.md says what is in it.

For each fault, on a healthy cluster of the lab: inject it; the doctor must name exactly its cause; verify must fail in
exactly its cells; repair must mend it (or name it as one for a person, and the file's own `undo` does); then doctor and
verify are clean and no pod that was not touched has restarted.
"""

from __future__ import annotations

import argparse
import datetime
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
LAB = os.environ.get("PODNET_LAB") or "faults"
NODES_OF_THE_LAB = ["n1", "n2", "n3"]
LIMIT = 120
"""Seconds from the fault to green again."""
QUICK = 3
HEALTHY = HERE.parent / "expected.yml"
PRELUDE = HERE / "prelude.sh"
NODES = "kubectl get nodes -o json"
CONFIG = "kubectl -n kube-system get configmap kubeadm-config -o jsonpath={.data.ClusterConfiguration}"
ASKED = (NODES, CONFIG)
"""What is asked to know the names that scripts can use."""


class Failed(Exception):
    """A sentence about what was not as the fault's file says."""


class Cluster:
    """The lab's cluster: commands on its nodes, and the collection's playbooks over it."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.variables: dict[str, Any] = {}
        """What the inventory says beside the lab's own: of the fault that is played."""
        self.env = {**os.environ, "PODNET_LAB": LAB, "ANSIBLE_FORCE_COLOR": "0", "NO_COLOR": "1", "COLUMNS": "160"}
        self.scratch = Path(tempfile.mkdtemp(prefix="podnet-faults-"))

    def command(self, *words: str, limit: float = 120, data: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, cwd=ROOT, env=self.env, input=data, capture_output=True, text=True, timeout=limit, check=False
        )

    def lab(self, *words: str, limit: float = 900) -> str:
        done = self.command("./dev", "lab", *words, limit=limit)
        if done.returncode:
            raise Failed(f"./dev lab {' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout.strip()

    def play(self, playbook: str, *words: str, limit: float = 300) -> subprocess.CompletedProcess[str]:
        inventory = self.lab("inventory")
        return self.command(
            "./dev", "run", "ansible-playbook", "-i", inventory, f"playbooks/{playbook}.yml",
            "-e", f"cluster_kube_proxy_mode={self.mode}", "-e", json.dumps(self.variables), *words, limit=limit,
        )  # fmt: skip

    def on(self, node: str, script: str, limit: float = 90) -> str:
        """Runs a shell script on a node, with addresses and ranges of the nodes as N1.., P1.. and POD."""
        known = "".join(f"{name}={value}\n" for name, value in self.names().items()) if script not in ASKED else ""
        done = self.command(
            "./dev", "lab", "ssh", node, "bash", "-eu", "-s",
            data=f"{PRELUDE.read_text()}\n{known}{script}", limit=limit,
        )  # fmt: skip
        if done.returncode:
            raise Failed(f"the command on {node} failed: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def names(self) -> dict[str, str]:
        if not hasattr(self, "_names"):
            self._names: dict[str, str] = {}
            text = self.on("n1", NODES)
            for node in json.loads(text)["items"]:
                number = node["metadata"]["name"][1:]
                self._names[f"P{number}"] = node["spec"].get("podCIDR", "")
                addresses = node["status"]["addresses"]
                self._names[f"N{number}"] = next(one["address"] for one in addresses if one["type"] == "InternalIP")
            config = self.on("n1", CONFIG)
            self._names["POD"] = yaml.safe_load(config)["networking"]["podSubnet"]
        return self._names

    def ready(self) -> None:
        """Makes the cluster where it is not there; where it is, only its mode is looked at."""
        if self.command("./dev", "lab", "status").returncode:
            self.lab("up", "3", limit=3000)
        kubectl = ("kubectl", "--kubeconfig=/etc/kubernetes/admin.conf", "--request-timeout=10s")
        asked = self.command("./dev", "lab", "ssh", "n1", *kubectl, "get", "--raw=/readyz")
        if asked.returncode == 0:
            return
        done = self.play("site", limit=600)
        if done.returncode:
            raise Failed(f"site does not make a healthy cluster:\n{done.stdout[-4000:]}")

    def doctor(self) -> list[dict[str, Any]]:
        """What the doctor shows at the top, errors and warnings."""
        folder = self.scratch / "report"
        done = self.play("doctor", "-e", f"doctor_report={folder}", "-e", "doctor_fail_on=never")
        if done.returncode:
            raise Failed(f"the doctor failed:\n{done.stdout[-3000:]}")
        report = json.loads((folder / "report.json").read_text())
        expected = {entry["code"] for entry in yaml.safe_load(HEALTHY.read_text()) or []}
        findings = [one for one in report["findings"] if one["severity"] != "info"]
        return [one for one in findings if one["code"] not in expected]

    def verify(self) -> list[dict[str, Any]]:
        """The paths that failed, as {from, to, what, detail}."""
        file = self.scratch / "verify.xml"
        file.unlink(missing_ok=True)
        done = self.play("verify", "-e", f"verify_junit={file}", "-e", "verify_timeout=40")
        if not file.exists():
            raise Failed(f"verify wrote no result:\n{done.stdout[-3000:]}")
        failed, tried = [], set()
        for case in ElementTree.parse(file).getroot().iter("testcase"):
            what, source, _to, target = case.attrib["name"].split()[:4]
            problem = case.find("failure")
            tried.add((source, target))
            if problem is not None:
                failed.append({"what": what, "from": source, "to": target, "detail": problem.get("message")})
        # A node whose pod did not start takes no part, and so reaches nobody.
        for source, target in sorted(cells_of(["*"], NODES_OF_THE_LAB) - tried):
            failed.append({"what": "tcp/pod", "from": source, "to": target, "detail": "not tried"})
        return failed

    def restarts(self) -> dict[str, int]:
        """Restarts of each pod's containers, by namespace/name."""
        pods = json.loads(self.on("n1", "kubectl get pods -A -o json"))["items"]
        return {
            f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": sum(
                one["restartCount"] for one in pod["status"].get("containerStatuses", [])
            )
            for pod in pods
        }


def cells_of(patterns: list[str], nodes: list[str]) -> set[tuple[str, str]]:
    """The pairs of different nodes that the patterns FROM>TO name."""
    pairs = [(one, other) for one in nodes for other in nodes if one != other]
    return {pair for pair in pairs if any(fnmatch.fnmatch(">".join(pair), pattern) for pattern in patterns)}


def run(fault: dict[str, Any], cluster: Cluster, limit: float) -> str:
    """Plays one fault through; answers what it took. Raises `Failed`."""
    before = cluster.restarts()
    cluster.variables = fault.get("variables", {})
    for node, script in fault["inject"].items():
        cluster.on(node, script)
    for node in fault.get("restart", []):
        cluster.lab("restart", node)
        cluster.on("n1", f"kubectl wait --for=condition=Ready node/{node} --timeout=60s", limit=90)
    if "settle" in fault:
        place = next(iter(set(fault["where"]) & set(NODES_OF_THE_LAB)), "n1")
        cluster.on(place, f"for i in $(seq 60); do ({fault['settle']}) && exit 0; sleep 0.5; done; exit 1")
    started = time.monotonic()

    named(fault, settled(cluster.doctor, lambda found: bool(found) == bool(fault["code"])))
    told = time.monotonic()

    failed = cluster.verify()
    hit = {(one["from"], one["to"]) for one in failed if one["what"].endswith("/pod") and one["from"] != one["to"]}
    wanted = cells_of(fault["cuts"], NODES_OF_THE_LAB)
    if hit != wanted:
        raise Failed(f"verify failed between {pairs(hit)}, and the fault cuts {pairs(wanted)}; {failed[:3]}")

    mended = cluster.play("repair", "-e", "repair_approve=true", limit=400)
    if fault["repair"] == "automatic" and mended.returncode:
        raise Failed(f"repair failed:\n{mended.stdout[-4000:]}")
    for node, script in fault.get("undo", {}).items():
        cluster.on(node, script)
    cluster.variables = {}
    clean(cluster)
    seconds = time.monotonic() - started
    if seconds > limit:
        raise Failed(f"fault to green took {seconds:.0f} s; the limit is {limit:.0f}")
    untouched(fault, before, cluster.restarts())
    return f"named in {told - started:.0f} s, green in {seconds:.0f} s"


def named(fault: dict[str, Any], found: list[dict[str, Any]]) -> None:
    """The cause is told, at its place, and nothing else beside what the file allows."""
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


def settled(ask: Any, enough: Any, limit: float = 45) -> Any:
    """Asks again while what a fault does, or its repair, is still on its way."""
    end = time.monotonic() + limit
    while True:
        answer = ask()
        if enough(answer) or time.monotonic() > end:
            return answer


def clean(cluster: Cluster) -> None:
    found = settled(cluster.doctor, lambda found: not found)
    if found:
        raise Failed(f"afterwards the doctor still names {[one['code'] for one in found]}")
    failed = settled(cluster.verify, lambda failed: not failed)
    if failed:
        raise Failed(f"afterwards verify still fails: {failed[:3]}")


def untouched(fault: dict[str, Any], before: dict[str, int], after: dict[str, int]) -> None:
    """Pods outside the fault's nodes and flannel's, kube-proxy's have not restarted."""
    if fault.get("restart"):
        return
    again = [name for name, count in after.items() if name in before and count > before[name]]
    innocent = [name for name in again if not name.startswith(("kube-flannel/", "kube-system/kube-"))]
    if innocent and "pods of the node" not in fault.get("note", ""):
        raise Failed(f"pods restarted that had nothing to do with it: {innocent}")


def pairs(cells: set[tuple[str, str]]) -> str:
    return ", ".join(f"{one}>{other}" for one, other in sorted(cells)) or "nothing"


def load(names: list[str]) -> dict[str, dict[str, Any]]:
    files = {path.stem: path for path in sorted((HERE / "cases").glob("*.yml"))}
    unknown = sorted(set(names) - set(files))
    if unknown:
        print(f"There is no fault {', '.join(unknown)}; there are: {', '.join(files)}.", file=sys.stderr)
        raise SystemExit(2)
    return {name: yaml.safe_load(files[name].read_text()) for name in names or files}


def of_today(faults: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The three of the day, of those that work on an iptables cluster."""
    names = [name for name, fault in faults.items() if fault.get("mode", "iptables") == "iptables"]
    day = datetime.date.today().toordinal()
    print(f"the three of day {day}")
    return {name: faults[name] for name in (names[(day * QUICK + step) % len(names)] for step in range(QUICK))}


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev faults", description="Faults on real nodes.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="faults; all of them where none is named")
    parser.add_argument("--quick", action="store_true", help="the three of the day")
    parser.add_argument(
        "--limit", type=float, default=LIMIT, metavar="SECONDS", help="from a fault to green; more on a busy machine"
    )
    parser.add_argument("--list", action="store_true", help="only list them")
    options = parser.parse_args()
    faults = load(options.names)
    if options.list:
        for name, fault in faults.items():
            print(f"{name:28} {fault['code'] or 'no finding':28} {fault['what']}")
        return 0
    if options.quick:
        faults = of_today(faults)
    passed, failed = 0, 0
    for mode in ("iptables", "nftables"):
        of_mode = {name: fault for name, fault in faults.items() if fault.get("mode", "iptables") == mode}
        if not of_mode:
            continue
        cluster = Cluster(mode)
        if mode == "nftables" and cluster.command("./dev", "lab", "status").returncode == 0:
            cluster.lab("down")
        cluster.ready()
        for number, (name, fault) in enumerate(of_mode.items(), 1):
            print(f"[{number}/{len(of_mode)}] {name}: {fault['what']}", flush=True)
            try:
                print(f"    ok: {run(fault, cluster, options.limit)}", flush=True)
                passed += 1
            except (Failed, subprocess.TimeoutExpired) as error:
                print(f"    FAILED: {error}", flush=True)
                failed += 1
                recover(fault, cluster)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def recover(fault: dict[str, Any], cluster: Cluster) -> None:
    """A healthy cluster for the next fault: the old one where that works, else a new one."""
    cluster.variables = {}
    try:
        for node, script in fault.get("undo", {}).items():
            cluster.on(node, f"set +e\n{script}\ntrue")
        cluster.play("repair", "-e", "repair_approve=true", limit=400)
        clean(cluster)
    except (Failed, subprocess.TimeoutExpired):
        print("    the cluster did not recover and is made anew", flush=True)
        cluster.lab("down")
        vars(cluster).pop("_names", None)
        cluster.ready()


if __name__ == "__main__":
    sys.exit(main())
