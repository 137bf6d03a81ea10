# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reports import broken
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._judge import judge
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._model import model
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._space import KINDS as KINDS_OF_RANGES
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

FINDING = {
    "code": "text", "title": "text", "chapter": "text", "severity": "text", "where": ["text"], "summary": "text",
    "evidence": {}, "remedy": "text", "repair": "text or null", "page": "text", "consequences": [],
}  # fmt: skip
# The schema of report.json. What is there stays, by its name and its type; a new key raises no number.
SCHEMA = {
    "schema": 1,
    "taken_at": "text",
    "stage": "text",
    "summary": {
        "error": "number", "warning": "number", "info": "number", "folded": "number", "accepted": "number",
        "undetermined": "number", "hosts": "number",
    },
    "findings": [FINDING],
    "accepted": [FINDING],
    "accept_variable": "text",
    "undetermined": [{"code": "text", "where": ["text"], "key": "text", "kind": "text", "why": "text"}],
    "network": {
        "version": "text", "endpoint": "text", "pods": ["text"], "services": ["text"], "dns": ["text"],
        "backend": "text", "flannel_version": "text", "flannel_network": ["text"], "flannel_namespace": "text",
        "port": "number or null", "kube_proxy_mode": "text", "policies": ["text"],
        "node_ranges": [["text"]], "exposed": ["text"],
    },
    "hosts": [
        {
            "name": "text", "roles": ["text"], "address": "text", "node": "text", "system": "text", "kernel": "text",
            "runtime": "text", "kubelet": "text", "pod_ranges": ["text"], "subnet_env": {}, "firewall": ["text"],
            "links": [{"name": "text", "mtu": "number or null", "up": "boolean", "addresses": ["text"]}],
        }
    ],
    "address_space": [
        {"kind": "text", "label": "text", "network": "text", "family": "number", "hosts": ["text"], "meets": ["number"]}
    ],
    "path": {
        "from": "text", "to": "text", "broken": "number or null",
        "hops": [{"station": "text", "name": "text", "node": "text", "detail": "text", "codes": ["text"]}],
    },
}  # fmt: skip
KINDS = {"text": str, "number": int, "boolean": bool, "null": type(None)}


def differences(value: Any, schema: Any, at: str = "report") -> list[str]:
    if isinstance(schema, str):
        kinds = tuple(KINDS[kind] for kind in schema.split(" or "))
        good = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
        return [] if good else [f"{at} is {value!r}, not {schema}"]
    if isinstance(schema, int):
        return [] if value == schema else [f"{at} is {value!r}, not {schema}"]
    if isinstance(schema, list):
        if not isinstance(value, list):
            return [f"{at} is no list"]
        return [d for i, one in enumerate(value) for s in schema for d in differences(one, s, f"{at}[{i}]")]
    if not isinstance(value, dict) or (schema and set(value) != set(schema)):
        return [f"{at} has keys {sorted(value)}, not {sorted(schema)}"]
    return [d for key, one in schema.items() for d in differences(value[key], one, f"{at}.{key}")]


def test_the_schema_is_stable():
    for view, verdict in (broken(healthy("cluster-dual")), broken(healthy("cluster"))):
        report = json.loads(json.dumps(model(view, verdict)))
        assert differences(report, SCHEMA) == []
        assert differences(report["findings"][0]["consequences"], [FINDING]) == []


def test_evidence_with_nothing_in_it_has_the_same_schema():
    for bundle in ({}, {"nodes": {"n1": {}}}, {"cluster": {}, "intent": {}}, {"intent": {"pod_cidr": "10.0.0.0/16"}}):
        view = View(bundle)
        assert differences(model(view, judge(view)), SCHEMA) == []


def test_facts_of_the_cluster_and_of_hosts():
    report = model(*broken(healthy("cluster")))
    assert report["network"]["pods"] == ["10.244.0.0/16"]
    assert report["network"]["backend"] == "vxlan" and report["network"]["port"] == 8472
    assert report["network"]["flannel_version"] == "v0.28.10"
    host = report["hosts"][0]
    assert (host["name"], host["address"], host["pod_ranges"]) == ("node1", "192.168.10.11", ["10.244.0.0/24"])
    assert host["subnet_env"]["FLANNEL_MTU"] == "1450"
    assert report["summary"] == {
        "error": 1, "warning": 1, "info": 1, "folded": 1, "accepted": 1, "undetermined": 1, "hosts": 3,
    }  # fmt: skip


def test_what_drops_traffic_is_named():
    bundle = healthy("cluster-docker")
    name = next(iter(bundle["nodes"]))
    report = model(View(bundle), judge(View(bundle), rules={}))
    told = next(host for host in report["hosts"] if host["name"] == name)["firewall"]
    assert "iptables (nft): policy DROP on FORWARD" in told


def test_the_documentation_names_every_key():
    page = (Path(__file__).parents[5] / "docs/report.md").read_text()

    def names(schema: Any) -> set[str]:
        if isinstance(schema, list):
            return {name for one in schema for name in names(one)}
        if not isinstance(schema, dict):
            return set()
        return set(schema) | {name for one in schema.values() for name in names(one)}

    assert {name for name in names(SCHEMA) if f"`{name}`" not in page} == set()
    assert {kind for kind in KINDS_OF_RANGES if f"`{kind}`" not in page} == set()
