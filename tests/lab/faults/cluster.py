# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lab's cluster as faults need it: commands on its nodes, the collection's playbooks over it, and what they say."""

from __future__ import annotations

import fnmatch
import json
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
HEALTHY = HERE.parent / "expected.yml"
PRELUDE = HERE / "prelude.sh"
WITNESS = HERE / "witness.yml"
LAB = os.environ.get("PODNET_LAB") or "faults"
CACHE = Path(os.environ["PODNET_CACHE"])
NODES = ["n1", "n2", "n3"]
ASK = """
export KUBECONFIG=/etc/kubernetes/admin.conf
kubectl get nodes -o json
echo ---
kubectl -n kube-system get configmap kubeadm-config -o jsonpath={.data.ClusterConfiguration}
"""
"""What is asked to know the names that scripts can use."""
KUBE_PROXY = (
    "kubectl --kubeconfig=/etc/kubernetes/admin.conf --request-timeout=9s -n kube-system get cm kube-proxy -o yaml"
)


class Failed(Exception):
    """A sentence about what was not as the fault's file says."""


@dataclass
class Seen:
    """What playbooks said: the doctor's findings (errors and warnings, causes only), verify's failed paths as
    {from, to, what, detail}, when the verdict was written (seconds since the epoch), and what the play printed."""

    findings: list[dict[str, Any]] | None = None
    failed: list[dict[str, Any]] | None = None
    told: float = 0.0
    text: str = ""
    code: int = 0
    green: bool = field(init=False)

    def __post_init__(self) -> None:
        self.green = self.findings == [] and self.failed == []


@dataclass
class Pod:
    """Where a pod runs, how often its containers have restarted, and its address."""

    node: str
    restarts: int
    address: str


class Cluster:
    """A lab with a cluster whose kube-proxy and flannel work in ``mode``."""

    def __init__(self, mode: str, log: Path) -> None:
        self.mode = mode
        self.log = log
        self.variables: dict[str, Any] = {}
        """What the inventory says beside the lab's own: of the fault that is played."""
        self.env = {**os.environ, "PODNET_LAB": LAB, "ANSIBLE_FORCE_COLOR": "0", "NO_COLOR": "1", "COLUMNS": "160"}
        self.scratch = Path(tempfile.mkdtemp(prefix="podnet-faults-"))
        self._known: dict[str, str] = {}

    def command(self, *words: str, limit: float = 900, data: str | None = None) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            words, cwd=ROOT, env=self.env, input=data, capture_output=True, text=True, timeout=limit, check=False
        )
        with self.log.open("a") as log:
            log.write(f"\n$ {' '.join(words)}   # {time.strftime('%T')}, code {done.returncode}\n{data or ''}\n")
            log.write(done.stdout + done.stderr)
        return done

    def lab(self, *words: str, limit: float = 900) -> str:
        done = self.command("./dev", "lab", *words, limit=limit)
        if done.returncode:
            raise Failed(f"./dev lab {' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout.strip()

    @property
    def state(self) -> Path:
        return CACHE / "labs" / LAB

    def play(self, playbook: str, *words: str, limit: float = 900) -> Seen:
        """A playbook; what it reported of verdict and traffic, where it did."""
        report, junit = self.scratch / "report", self.scratch / "verify.xml"
        shutil.rmtree(report, ignore_errors=True)
        junit.unlink(missing_ok=True)
        done = self.command(
            "ansible-playbook", "-i", str(self.state / "inventory"), playbook,
            "-e", f"cluster_kube_proxy_mode={self.mode}", "-e", "doctor_fail_on=never",
            "-e", f"doctor_report={report}", "-e", f"repair_report={report}",
            "-e", f"verify_junit={junit}", "-e", "verify_timeout=25", "-e", "verify_diagnose=false",
            "-e", json.dumps(self.variables), *words, limit=limit,
        )  # fmt: skip
        verdict = report / "report.json"
        findings = judged(json.loads(verdict.read_text())) if verdict.exists() else None
        failed = unanswered(junit) if junit.exists() else None
        told = verdict.stat().st_mtime if verdict.exists() else 0.0
        return Seen(findings, failed, told, done.stdout, done.returncode)

    def check(self) -> Seen:
        """Doctor and verify. Without a pod on any node verify has no results to write, and nobody reaches anybody."""
        seen = self.play(str(HERE / "check.yml"))
        if seen.findings is None:
            raise Failed(f"doctor and verify did not end:\n{seen.text[-3000:]}")
        if seen.failed is None:
            seen.failed = [
                {"what": "tcp/pod", "from": a, "to": b, "detail": seen.text[-500:]} for a, b in cells_of(["*"])
            ]
        return seen

    def on(self, node: str, script: str, limit: float = 240) -> str:
        """Runs a shell script on a node, with addresses and ranges of the nodes as N1.., P1.. and POD."""
        known = "".join(f"{name}={value}\n" for name, value in self.names().items())
        return self._ssh(node, f"{PRELUDE.read_text()}\n{known}{script}", limit)

    def _ssh(self, node: str, script: str, limit: float = 240) -> str:
        done = self.command(
            "ssh", "-F", str(self.state / "ssh_config"), node, "bash", "-eu", "-s", data=script, limit=limit
        )
        if done.returncode:
            raise Failed(f"the command on {node} failed: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def names(self) -> dict[str, str]:
        if not self._known:
            nodes, _line, config = self._ssh("n1", ASK).partition("\n---\n")
            for node in json.loads(nodes)["items"]:
                number = node["metadata"]["name"][1:]
                self._known[f"P{number}"] = node["spec"].get("podCIDR", "")
                addresses = node["status"]["addresses"]
                self._known[f"N{number}"] = next(one["address"] for one in addresses if one["type"] == "InternalIP")
            self._known["POD"] = yaml.safe_load(config)["networking"]["podSubnet"]
        return self._known

    def forget(self) -> None:
        """Lets the names be asked for again: nodes that registered anew have other ranges."""
        self._known = {}

    def ready(self) -> None:
        """Makes the cluster where it is not there; one of the other mode is removed first."""
        if self.command("./dev", "lab", "status").returncode == 0:
            asked = self.command("./dev", "lab", "ssh", "n1", KUBE_PROXY)
            if asked.returncode == 0:
                if ("mode: nftables" in asked.stdout) == (self.mode == "nftables"):
                    return
                self.lab("down")
        self.make()

    def make(self) -> None:
        self.forget()
        self.lab("up", "3", limit=3000)
        done = self.play("playbooks/site.yml", limit=1200)
        if done.code:
            raise Failed(f"site does not make a healthy cluster:\n{done.text[-4000:]}")

    def witness(self) -> None:
        """A pod of the pod network on every node, of which it can be told afterwards whether it lived through."""
        self.on("n1", f"kubectl apply -f - <<'WITNESS' >/dev/null\n{WITNESS.read_text()}\nWITNESS")
        self.on("n1", "kubectl -n witness rollout status daemonset/witness --timeout=180s", limit=200)

    def pods(self) -> dict[str, Pod]:
        """The pods by namespace/name."""
        found = json.loads(self.on("n1", "kubectl get pods -A -o json"))["items"]
        return {
            f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": Pod(
                pod["spec"].get("nodeName", ""),
                sum(one["restartCount"] for one in pod["status"].get("containerStatuses", [])),
                pod["status"].get("podIP", ""),
            )
            for pod in found
        }

    def silent(self, addresses: list[str]) -> list[str]:
        """Those of the addresses that do not answer to the first node."""
        script = "for ip in %s; do ping -q -c 3 -i 0.3 -W 2 $ip >/dev/null || echo $ip; done"
        return self.on("n1", script % " ".join(addresses)).split()


def judged(report: dict[str, Any]) -> list[dict[str, Any]]:
    """What the doctor shows at the top, errors and warnings that a healthy cluster of the lab has not."""
    expected = {entry["code"] for entry in yaml.safe_load(HEALTHY.read_text()) or []}
    return [one for one in report["findings"] if one["severity"] != "info" and one["code"] not in expected]


def unanswered(junit: Path) -> list[dict[str, Any]]:
    """The paths that failed, as {from, to, what, detail}."""
    failed, tried = [], set()
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        what, source, _to, target = case.attrib["name"].split()[:4]
        problem = case.find("failure")
        tried.add((source, target))
        if problem is not None:
            failed.append({"what": what, "from": source, "to": target, "detail": problem.get("message")})
    # A node whose pod did not start takes no part, and so reaches nobody.
    for source, target in sorted(cells_of(["*"]) - tried):
        failed.append({"what": "tcp/pod", "from": source, "to": target, "detail": "not tried"})
    return failed


def cells_of(patterns: list[str]) -> set[tuple[str, str]]:
    """The pairs of different nodes that the patterns FROM>TO name."""
    pairs = [(one, other) for one in NODES for other in NODES if one != other]
    return {pair for pair in pairs if any(fnmatch.fnmatch(">".join(pair), pattern) for pattern in patterns)}
