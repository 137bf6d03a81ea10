# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Records evidence of faults on a lab cluster as field cases: tests/field-cases/lab, scored by ./dev field-cases.

    PODNET_LAB=NAME ./dev run python tests/lab/record_cases.py [CODE...]

Needs a healthy cluster of three nodes. The evidence of it is the base. Each fault of record_cases.yml is injected,
gathered and undone, and what differs from the base is the case's patch. What is different each time and that no rule
of the fault reads (clocks, journals, logs, events, counters) is left as the base has it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "faults"))

from cluster import ROOT, Cluster, Failed  # noqa: E402

FOLDER = ROOT / "tests" / "field-cases" / "lab"
TABLE = yaml.safe_load((HERE / "record_cases.yml").read_text())
RESTLESS = {
    "taken_at", "clock", "controller_clock", "journal", "events", "logs", "ip_neigh", "memory_mib", "resourceVersion",
    "managedFields", "lastHeartbeatTime", "lastTransitionTime", "lastProbeTime", "probes", "inotify",
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


def bare(value: Any) -> Any:
    """The evidence without what is large and that no rule reads."""
    if isinstance(value, dict):
        return {key: bare(one) for key, one in value.items() if key not in ("managedFields", "images")}
    return [bare(one) for one in value] if isinstance(value, list) else value


def running(value: Any, images: dict[str, str]) -> Any:
    """The evidence with other images for the containers of these names."""
    if isinstance(value, dict):
        own = {"image": images[value["name"]]} if "image" in value and value.get("name") in images else {}
        return {**{key: running(one, images) for key, one in value.items()}, **own}
    return [running(one, images) for one in value] if isinstance(value, list) else value


def patch(before: Any, after: Any, path: str = "") -> list[dict[str, Any]]:
    """The JSON Patch from one value to the other, without what is restless."""
    if before == after:
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        steps = []
        for key in sorted({*before, *after} - RESTLESS):
            below = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in after:
                steps.append({"op": "remove", "path": below})
            elif key not in before:
                steps.append({"op": "add", "path": below, "value": after[key]})
            else:
                steps += patch(before[key], after[key], below)
        return steps
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [step for index, pair in enumerate(zip(before, after)) for step in patch(*pair, f"{path}/{index}")]
    return [{"op": "replace", "path": path, "value": after}]


def main() -> int:
    chosen = [fault for fault in TABLE if not sys.argv[1:] or fault["code"] in sys.argv[1:]]
    (FOLDER / "base").mkdir(parents=True, exist_ok=True)
    (FOLDER / "cases").mkdir(exist_ok=True)
    cluster = Cluster("iptables", Path(tempfile.gettempdir()) / "record_cases.log")
    base_file = FOLDER / "base" / "lab.json"
    if not base_file.exists():
        base_file.write_text(json.dumps(bare(gathered(cluster)), indent=1) + "\n")
    base = json.loads(base_file.read_text())
    for fault in chosen:
        for node, script in fault["inject"].items():
            cluster.on(node, script)
        found = running(bare(gathered(cluster)), fault.get("images", {}))
        for node, script in fault.get("undo", {}).items():
            cluster.on(node, script)
        case = {
            "id": f"lab-{fault['code']}",
            "source": "a lab cluster, tests/lab/record_cases.yml",
            "stage": "cluster",
            "base": "lab",
            "expect": {"any_of": [fault["code"]], "allowed": fault.get("allowed", []), "where": fault["where"]},
            "patch": patch(base, found),
        }
        file = FOLDER / "cases" / f"{fault['code']}.json"
        file.write_text(json.dumps(case, indent=1) + "\n")
        print(f"{fault['code']}: {len(case['patch'])} steps, {file.stat().st_size // 1024} KiB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
