# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Records evidence of faults on a lab cluster as field cases: tests/field-cases/lab, scored by ./dev field-cases.

    PODNET_LAB=NAME ./dev run python tests/lab/record_cases.py [--base NAME] [CODE...]

Needs a healthy cluster of three nodes. The evidence of it is the base; another cluster than that of base/lab.json needs
a base of its own. Each fault of record_cases.yml is injected,
gathered and undone, and what differs from the base is the case's patch. What is different each time and that no rule
of the fault reads (clocks, journals, logs, events, counters) is left as the base has it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "faults"))

from cluster import NODES, ROOT, Cluster, Failed  # noqa: E402

FOLDER = ROOT / "tests" / "field-cases" / "lab"
TABLE = yaml.safe_load((HERE / "record_cases.yml").read_text())
RESTLESS = {
    "taken_at", "clock", "controller_clock", "journal", "events", "logs", "ip_neigh", "memory_mib", "resourceVersion",
    "managedFields", "lastHeartbeatTime", "lastTransitionTime", "lastProbeTime", "probes", "inotify",
    "counter", "gc_timer", "net.netfilter.nf_conntrack_count",
}  # fmt: skip


def gathered(cluster: Cluster) -> dict[str, Any]:
    """The evidence of the cluster, as the doctor saves it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "evidence.json"
        done = cluster.command(
            "ansible-playbook", "-i", str(cluster.state / "inventory"), "playbooks/doctor.yml",
            "-e", f"doctor_save={file}", "-e", "doctor_fail_on=never",
        )  # fmt: skip
        if not file.exists():
            raise Failed(f"the doctor saved nothing:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        found: dict[str, Any] = json.loads(file.read_text())
        return found


def tried(cluster: Cluster) -> dict[str, Any]:
    """What verify's probes answered, for each host."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "probes.json"
        done = cluster.command(
            "ansible-playbook", "-i", str(cluster.state / "inventory"), str(HERE / "record_probes.yml"),
            "-e", f"record_probes={file}",
        )  # fmt: skip
        if not file.exists():
            raise Failed(f"verify answered nothing:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        found: dict[str, Any] = json.loads(file.read_text())
        return found


def played(cluster: Cluster, fault: dict[str, Any], key: str) -> None:
    """The fault's scripts: of nodes, or of this machine, which is what lies below them."""
    for place, script in fault.get(key, {}).items():
        if place in NODES:
            cluster.on(place, script)
            continue
        names = cluster.names()
        done = cluster.command("bash", "-eu", "-c", f"N1={names['N1']} POD={names['POD']}\n{script}")
        if done.returncode:
            raise Failed(f"the command on this machine failed: {done.stderr.strip()}")


def bare(value: Any, key: str = "") -> Any:
    """The evidence without what is large and that no rule reads, and without the name of this machine's kernel."""
    if isinstance(value, dict):
        return {name: bare(one, name) for name, one in value.items() if name not in ("managedFields", "images")}
    if key in ("kernel", "kernelVersion") and isinstance(value, str):
        return re.sub(r"-.*", "", value)
    return [bare(one) for one in value] if isinstance(value, list) else value


def running(value: Any, images: dict[str, str]) -> Any:
    """The evidence with other images for the containers of these names."""
    if isinstance(value, dict):
        own = {"image": images[value["name"]]} if "image" in value and value.get("name") in images else {}
        return {**{key: running(one, images) for key, one in value.items()}, **own}
    return [running(one, images) for one in value] if isinstance(value, list) else value


def still(text: str) -> str:
    """The text of iptables-save without when it was written and what was counted."""
    return re.sub(r"(?m)^#.*|\[\d+:\d+\]", "", text)


def patch(before: Any, after: Any, restless: set[str], path: str = "") -> list[dict[str, Any]]:
    """The JSON Patch from one value to the other, without what is restless."""
    if before == after or (isinstance(before, str) and isinstance(after, str) and still(before) == still(after)):
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        steps = []
        for key in sorted({*before, *after} - restless):
            below = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in after:
                steps.append({"op": "remove", "path": below})
            elif key not in before:
                steps.append({"op": "add", "path": below, "value": after[key]})
            else:
                steps += patch(before[key], after[key], restless, below)
        return steps
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [
            step for index, pair in enumerate(zip(before, after)) for step in patch(*pair, restless, f"{path}/{index}")
        ]
    return [{"op": "replace", "path": path, "value": after}]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("codes", nargs="*", metavar="CODE")
    parser.add_argument("--base", default="lab", metavar="NAME")
    options = parser.parse_args()
    chosen = [fault for fault in TABLE if not options.codes or fault["code"] in options.codes]
    (FOLDER / "base").mkdir(parents=True, exist_ok=True)
    (FOLDER / "cases").mkdir(exist_ok=True)
    cluster = Cluster("iptables", Path(tempfile.gettempdir()) / "record_cases.log")
    base_file = FOLDER / "base" / f"{options.base}.json"
    if not base_file.exists():
        base_file.write_text(json.dumps(bare(gathered(cluster)), indent=1) + "\n")
    base = json.loads(base_file.read_text())
    for fault in chosen:
        if "needs" in fault:
            cluster.lab(fault["needs"], limit=1800)
        played(cluster, fault, "inject")
        found = running(bare(gathered(cluster)), fault.get("images", {}))
        if "probes" in fault.get("reads", []):
            for node, probes in tried(cluster).items():
                found["nodes"][node]["probes"] = probes
        played(cluster, fault, "undo")
        case = {
            "id": f"lab-{fault['code']}",
            "source": "a lab cluster, tests/lab/record_cases.yml",
            "stage": "cluster",
            "base": options.base,
            "expect": {"any_of": [fault["code"]], "allowed": fault.get("allowed", []), "where": fault["where"]},
            "patch": patch(base, found, RESTLESS - set(fault.get("reads", []))),
        }
        file = FOLDER / "cases" / f"{fault['code']}.json"
        file.write_text(json.dumps(case, indent=1) + "\n")
        print(f"{fault['code']}: {len(case['patch'])} steps, {file.stat().st_size // 1024} KiB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
