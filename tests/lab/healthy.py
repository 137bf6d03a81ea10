# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The doctor on healthy clusters of the lab says nothing but what expected.yml says: made by site in both modes of
kube-proxy, and by kubeadm's own commands with upstream's manifest; on Debian 12 and 13; before and after nodes restart.

    PODNET_LAB=NAME ./dev run python tests/lab/healthy.py [iptables|nftables|by-hand ...]

A lab of that name is removed first, and left up where something was found.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "faults"))

from cluster import HEALTHY, Cluster, Failed  # noqa: E402

EXPECTED = {entry["code"]: entry for entry in yaml.safe_load(HEALTHY.read_text())}
WAYS = ("iptables", "nftables", "by-hand")
READY = """kubectl wait --for=condition=Ready nodes --all --timeout=240s
kubectl -n kube-flannel rollout status daemonset --timeout=240s
kubectl -n kube-system rollout status deployment/coredns --timeout=240s"""


def doctor(cluster: Cluster) -> str:
    """Runs the doctor; answers how long it took. Raises `Failed` with what it said beyond what is expected."""
    began = time.monotonic()
    seen = cluster.play("playbooks/doctor.yml")
    seconds = time.monotonic() - began
    report = cluster.scratch / "report" / "report.json"
    if not report.exists():
        raise Failed(f"the doctor wrote no report:\n{seen.text[-3000:]}")
    findings = json.loads(report.read_text())["findings"]
    said = [
        f"{one['severity']} {one['code']} at {', '.join(one['where'])}: {one['summary']} {json.dumps(one['evidence'])}"
        for one in findings
        if one["code"] not in EXPECTED or one["severity"] == "error"
    ]
    if said:
        raise Failed("\n    ".join(["the doctor finds", *said]))
    return f"{len(findings)} findings, all expected, {seconds:.1f} s"


def restart(cluster: Cluster) -> None:
    """A worker of each release, then the control plane, as machines restart."""
    for node in ("n2", "n3", "n1"):
        cluster.lab("restart", node)
    until = time.monotonic() + 300
    while True:
        try:
            cluster.on("n1", READY, limit=600)
            return
        except Failed:
            if time.monotonic() > until:
                raise
            time.sleep(3)  # the API server is not up yet


def make(cluster: Cluster, way: str) -> None:
    cluster.lab("down")
    if way != "by-hand":
        cluster.make()
        return
    cluster.lab("up", "3", limit=3000)
    done = cluster.command("tests/bench/by_hand.sh", str(cluster.state), limit=1500)
    if done.returncode:
        raise Failed(f"by_hand.sh ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def main() -> int:
    passed = failed = 0
    for way in sys.argv[1:] or WAYS:
        cluster = Cluster("nftables" if way == "nftables" else "iptables", Path(tempfile.gettempdir()) / "healthy.log")
        make(cluster, way)
        for moment in ("made", "restarted"):
            if moment == "restarted":
                restart(cluster)
            try:
                print(f"{way}, {moment}: {doctor(cluster)}", flush=True)
                passed += 1
            except Failed as error:
                print(f"{way}, {moment}: {error}", flush=True)
                failed += 1
    if not failed:
        cluster.lab("down")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
