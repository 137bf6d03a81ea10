# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Over the rules of a healthy host of the field cases, and with one thing changed in them."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall import boot, host, judgement
from ansible_collections.podnet.kubeadm.plugins.modules import forward_policy

BASE = pathlib.Path(__file__).parents[3] / "field-cases" / "base" / "cluster.json"
PODS = {"pod_cidrs": ["10.244.0.0/16"]}


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> dict[str, Any]:
    """What is looked at; a test may change it."""
    found: dict[str, Any] = json.loads(BASE.read_text())["nodes"]["node2"]
    monkeypatch.setattr(host, "gather", lambda *_unused: (found, {}))
    monkeypatch.setattr(judgement, "NFT_FILES", ())
    for name in ("STATE_PATH", "SCRIPT_PATH", "UNIT_PATH"):
        monkeypatch.setattr(boot, name, str(tmp_path / name))
    return found


def drop(node: dict[str, Any]) -> None:
    """As Docker leaves it, without flannel's accepts."""
    before, filter_, after = node["iptables"]["nft"].partition("*filter\n")
    after = after.replace(":FORWARD ACCEPT", ":FORWARD DROP", 1)
    kept = [line for line in f"{before}{filter_}{after}".splitlines() if "FLANNEL-FWD" not in line]
    node["iptables"]["nft"] = "\n".join([*kept, ""])
    node["nft"] = {"nftables": []}


@pytest.mark.parametrize("state", ["asserted", "permitted"])
def test_where_all_is_accepted_nothing_is_done(run_module: Any, node: dict[str, Any], state: str) -> None:
    result = run_module(forward_policy, {**PODS, "state": state}, check=True)
    assert not result.get("failed"), result.get("msg")
    assert (result["changed"], result["verdict"], result["reason"], result["remedies"]) == (False, "accept", "", [])
    assert {one["verdict"] for one in result["packets"]} == {"accept"}
    assert ("diff" in result) is (state == "permitted")


def test_what_drops_is_refused_with_its_rule(run_module: Any, node: dict[str, Any]) -> None:
    drop(node)
    result = run_module(forward_policy, PODS)
    assert (result["failed"], result["verdict"], result["changed"]) == (True, "drop", False)
    assert result["msg"] == result["reason"]
    assert "FORWARD" in result["msg"] and "10.244.0.0/16" in result["msg"]
    assert "(policy drop)" in json.dumps(result["packets"])


def test_check_mode_tells_what_would_be_changed(run_module: Any, node: dict[str, Any]) -> None:
    drop(node)
    result = run_module(forward_policy, {**PODS, "state": "permitted"}, check=True)
    assert not result.get("failed"), result.get("msg")
    assert (result["changed"], result["verdict"], result["remedies"]) == (True, "accept", ["filter/FORWARD"])
    assert result["diff"] and not pathlib.Path(boot.STATE_PATH).exists()


@pytest.mark.parametrize(("undetermined", "failed"), [("fail", True), ("warn", False)])
def test_what_cannot_be_told_fails_or_warns(
    run_module: Any, node: dict[str, Any], undetermined: str, failed: bool
) -> None:
    for key in ("iptables", "ip6tables", "nft"):
        node.pop(key, None)
    result = run_module(forward_policy, {**PODS, "undetermined": undetermined})
    assert (bool(result.get("failed")), result["verdict"]) == (failed, "undetermined")
    assert "were not looked at" in result["reason"] and result.get("msg") == (result["reason"] if failed else None)


def test_a_probe_is_not_sent_in_check_mode(run_module: Any, node: dict[str, Any]) -> None:
    assert "probe" not in run_module(forward_policy, {**PODS, "probe": True}, check=True)


def test_absent_with_nothing_remembered_changes_nothing(run_module: Any, node: dict[str, Any]) -> None:
    result = run_module(forward_policy, {"state": "absent"})
    assert (result["changed"], result["remedies"]) == (False, [])
    assert "verdict" not in result


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "forward_policy: nothing to accept; set pod_cidrs or ports, or take all back with state=absent"),
        ({"pod_cidrs": []}, "nothing to accept"),
        ({"state": "permitted"}, "nothing to accept"),
        ({"pod_cidrs": ["10.244/16"]}, "pod_cidrs: '10.244/16'"),
        ({"ports": [{"port": "70000", "sources": ["192.0.2.1"]}]}, "ports: '70000' is neither"),
        ({"ports": [{"port": "22"}]}, "sources"),
        ({"state": "flushed"}, "flushed"),
    ],
)
def test_bad_input_gets_a_sentence(run_module: Any, node: dict[str, Any], options: dict[str, Any], said: str) -> None:
    result = run_module(forward_policy, options)
    assert result["failed"] and said in result["msg"]
