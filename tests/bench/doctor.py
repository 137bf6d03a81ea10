# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures the rules on large clusters, made from a real bundle: seconds and memory on one core.

    ./dev bench doctor [--small]

Three measurements, each in a process of its own: 5,000 Node objects with leases and the host evidence of 300 of them
with their full routes; the API's side alone with 500 and with 5,000 nodes; and 1,000 nodes with 30 pods each and the
rules of 2,000 services on every host, read from a folder. Targets are printed beside the figures.
"""

from __future__ import annotations

import argparse
import copy
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / ".ansible" / "collections"))

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._judge import judge
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

BASE = ROOT / "tests" / "field-cases" / "base" / "cluster.json"


def cidr(number: int) -> str:
    """The pod range of node NUMBER, in 10.128.0.0/11."""
    return f"10.{number // 256 + 128}.{number % 256}.0/24"


def underlay(number: int) -> str:
    return f"192.168.{number // 250 + 20}.{number % 250 + 1}" if number else "192.168.10.11"


def mac(number: int) -> str:
    return f"02:00:00:00:{number // 256:02x}:{number % 256:02x}"


def annotate(node: dict[str, Any], number: int) -> None:
    """Gives a Node its pod range and the MAC of its flannel.1."""
    node["spec"].update(podCIDR=cidr(number), podCIDRs=[cidr(number)])
    note = json.dumps({"VNI": 1, "VtepMAC": mac(number)})
    node["metadata"]["annotations"]["flannel.alpha.coreos.com/backend-data"] = note


def _replaced(value: Any, changes: dict[str, str]) -> Any:
    text = json.dumps(value)
    for old, new in changes.items():
        text = text.replace(old, new)
    return json.loads(text)


def api(base: dict[str, Any], nodes: int, pods: int) -> dict[str, Any]:
    """The base's cluster with so many nodes, a flannel pod and so many others on each."""
    cluster = copy.deepcopy(base["cluster"])
    model = next(one for one in cluster["nodes"]["items"] if one["metadata"]["name"] == "node2")
    flannel = next(one for one in cluster["pods"]["items"] if one["metadata"]["namespace"] == "kube-flannel")
    web = next(one for one in cluster["pods"]["items"] if one["metadata"]["namespace"] == "default")
    keep = [one for one in cluster["pods"]["items"] if one["metadata"]["namespace"] == "kube-system"]
    cluster["nodes"]["items"] = [one for one in cluster["nodes"]["items"] if one["metadata"]["name"] == "node1"]
    annotate(cluster["nodes"]["items"][0], 0)
    for number in range(1, nodes):
        node = _replaced(model, {"node2": f"w{number}", "192.168.10.12": underlay(number)})
        annotate(node, number)
        node["status"].pop("images", None)
        cluster["nodes"]["items"].append(node)
    for number in range(1, nodes):
        for index in range(pods + 1):
            pod = copy.copy(flannel if index == 0 else web)
            pod["metadata"] = {**pod["metadata"], "name": f"p{number}-{index}"}
            pod["spec"] = {**pod["spec"], "nodeName": f"w{number}"}
            pod["status"] = {**pod["status"], "podIP": cidr(number).replace(".0/24", f".{index + 2}")}
            keep.append(pod)
    cluster["pods"]["items"] = keep
    for key in ("kubeadm_config", "kube_proxy_config"):
        cluster[key] = cluster[key].replace("10.244.0.0/16", "10.128.0.0/11")
    files = cluster["manifests"]["node1"]
    files["kube-controller-manager.yaml"] = files["kube-controller-manager.yaml"].replace(
        "10.244.0.0/16", "10.128.0.0/11"
    )
    config = cluster["flannel_config"]
    config["net-conf.json"] = config["net-conf.json"].replace("10.244.0.0/16", "10.128.0.0/11")
    return cluster


def host(base: dict[str, Any], number: int, nodes: int) -> dict[str, Any]:
    """The evidence of worker NUMBER among so many, with flannel's routes, neighbours and entries for all others."""
    own = cidr(number).replace(".0/24", "")
    changes = {
        "node2": f"w{number}",
        "192.168.10.12": underlay(number),
        "10.244.1.": f"{own}.",
        "10.244.0.0/16": "10.128.0.0/11",
    }
    found = _replaced(base["nodes"]["node2"], changes)
    found["machine_id"], found["product_uuid"] = f"{number:032x}", f"{number:032x}"
    for link in found["ip_address"]:
        if link["ifname"] == "flannel.1":
            link["address"] = mac(number)
    others = [one for one in range(nodes) if one != number]
    found["ip_route"] = [one for one in found["ip_route"] if one.get("dev") != "flannel.1" or one.get("table")]
    found["ip_route"] += [
        {"dst": cidr(one), "gateway": cidr(one).removesuffix("/24"), "dev": "flannel.1", "flags": ["onlink"]}
        for one in others
    ]
    found["ip_neigh"] = [one for one in found["ip_neigh"] if one.get("dev") != "flannel.1"] + [
        {"dst": cidr(one).removesuffix("/24"), "dev": "flannel.1", "lladdr": mac(one), "state": ["PERMANENT"]}
        for one in others
    ]
    found["bridge_fdb"] = [one for one in found["bridge_fdb"] if one.get("ifname") != "flannel.1"] + [
        {"mac": mac(one), "ifname": "flannel.1", "dst": underlay(one), "flags": ["self"], "state": "permanent"}
        for one in others
    ]
    found["probes"] = []
    return found


def service_rules(text: str, services: int) -> str:
    """An iptables-save with kube-proxy's rules of so many services of two endpoints in its nat table."""
    chains, rules = [], []
    for one in range(services):
        chains += [f":KUBE-SVC-{one:016d} - [0:0]", f":KUBE-SEP-{one:015d}A - [0:0]", f":KUBE-SEP-{one:015d}B - [0:0]"]
        address = f"10.96.{one // 250}.{one % 250 + 1}"
        rules.append(f"[0:0] -A KUBE-SERVICES -d {address}/32 -p tcp -m tcp --dport 80 -j KUBE-SVC-{one:016d}")
        half = "-m statistic --mode random --probability 0.50000000000"
        rules.append(f"[0:0] -A KUBE-SVC-{one:016d} {half} -j KUBE-SEP-{one:015d}A")
        rules.append(f"[0:0] -A KUBE-SVC-{one:016d} -j KUBE-SEP-{one:015d}B")
        for end in "AB":
            target = f"10.{one % 8 + 128}.{one % 250}.{one % 250 + 2}"
            rules.append(f"[0:0] -A KUBE-SEP-{one:015d}{end} -s {target}/32 -j KUBE-MARK-MASQ")
            rules.append(f"[0:0] -A KUBE-SEP-{one:015d}{end} -p tcp -m tcp -j DNAT --to-destination {target}:8080")
    head, _nat, rest = text.partition("*nat\n")
    table, _commit, after = rest.partition("COMMIT\n")
    lines = table.splitlines()
    return "\n".join([head + "*nat", *chains, *lines, *rules, "COMMIT", after])


def judged(source: Any, queue: Any) -> None:
    """Judges in this process, and says how long and how large it was."""
    started, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    verdict = judge(View(source))
    seconds = time.process_time() - started
    loud = [f"{one.code} at {len(one.where)}: {one.summary[:90]}" for one in verdict.all() if one.severity != "info"]
    queue.put((seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, before / 1024, loud[:5]))


def measure(name: str, source: Any, target: str) -> float:
    """Judges in a process of its own and prints the figures; a path is read there, an object handed over."""
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=judged, args=(source, queue))
    process.start()
    seconds, peak, before, loud = queue.get(timeout=600)
    process.join()
    print(f"{name}: {seconds:.1f} s, {peak:.0f} MiB at most, {before:.0f} before ({target})")
    for line in loud:
        print(f"    finds {line}")
    return float(seconds)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench doctor", description="Judge large clusters.")
    parser.add_argument("--small", action="store_true", help="a tenth of everything, to see that it works")
    small = 10 if parser.parse_args().small else 1
    base = json.loads(BASE.read_text())
    base["intent"].update(pod_cidr="10.128.0.0/11", planned_nodes=5000)
    base.pop("intent")

    nodes, hosts = 5000 // small, 300 // small
    with tempfile.TemporaryDirectory() as folder:
        write(
            Path(folder),
            {**base, "cluster": api(base, nodes, 0)},
            (host(base, one, nodes) for one in range(1, hosts + 1)),
        )
        measure(f"{nodes} nodes, {hosts} hosts", folder, "at most 10 s and 2048 MiB")

    few, many = (
        measure(f"API side, {count} nodes", {**base, "cluster": api(base, count, 0), "nodes": {}}, "at most 12-fold")
        for count in (500 // small, 5000 // small)
    )
    print(f"API side grows {many / few:.1f}-fold")

    nodes = 1000 // small
    with tempfile.TemporaryDirectory() as folder:
        rules = service_rules(base["nodes"]["node2"]["iptables"]["nft"], 2000 // small)
        write(Path(folder), {**base, "cluster": api(base, nodes, 30)}, with_rules(base, nodes, rules))
        measure(
            f"{nodes} hosts, {2000 // small} services, {nodes * 30} pods",
            folder,
            "at most 60 s, memory as with one host",
        )
    return 0


def with_rules(base: dict[str, Any], nodes: int, rules: str) -> Any:
    for number in range(1, nodes):
        found = host(base, number, nodes)
        counted = rules.replace("[0:0]", f"[{number}:{number * 60}]")  # no two hosts have counted the same
        found["iptables"] = {**found["iptables"], "nft": counted.replace("10.244.0.0/16", "10.128.0.0/11")}
        found.pop("nft", None)
        yield found


def write(folder: Path, bundle: dict[str, Any], hosts: Any) -> None:
    """A folder of the evidence format."""
    (folder / "nodes").mkdir()
    head = {key: bundle[key] for key in ("format", "taken_at", "stage", "intent") if key in bundle}
    (folder / "bundle.json").write_text(json.dumps(head))
    (folder / "cluster.json").write_text(json.dumps(bundle["cluster"]))
    for found in hosts:
        (folder / "nodes" / f"{found['hostname']}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    sys.exit(main())
