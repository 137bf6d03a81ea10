# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._registry import load_rules
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._repairs import (
    PHASES,
    REPAIRS,
    for_a_person,
    steps,
    tell_steps,
)

ROLES = os.path.join(os.path.dirname(__file__), *[os.pardir] * 4, "roles")
HOSTS = ["n1", "n2", "n3"]


def finding(code: str, repair: str | None, where: list[str], severity: str = "error") -> dict:
    return {"code": code, "repair": repair, "where": where, "severity": severity, "remedy": "Do what is right."}


@pytest.mark.parametrize("name", REPAIRS)
def test_every_repair_is_an_entry_point_that_exists(name: str) -> None:
    role, entry_point = name.split(":")
    assert os.path.isfile(os.path.join(ROLES, role, "tasks", f"{entry_point}.yml"))
    assert REPAIRS[name].phase in PHASES


def test_every_rule_names_a_repair_of_the_table() -> None:
    assert {rule.rule.repair for rule in load_rules().values() if rule.rule.repair} <= set(REPAIRS)


def test_what_drains_says_what_it_interrupts() -> None:
    assert all(one.interrupts and one.phase == "nodes" for one in REPAIRS.values() if one.drains)


def test_steps_come_in_the_order_of_dependence_and_once_per_host() -> None:
    found = steps(
        [
            finding("route-missing", "flannel:restart", ["n2"]),
            finding("fdb-stale", "flannel:restart", ["n2"]),
            finding("cni-foreign-config", "host:cni_config", ["n3", "n2"]),
            finding("flannel-network-mismatch", "flannel:rolled_out", ["cluster"]),
            finding("ip-forward-off", "host:main", ["n3"]),
        ],
        HOSTS,
        ["n1"],
    )
    assert [(step["host"], step["repair"]) for step in found] == [
        ("n3", "host:main"),
        ("n1", "flannel:rolled_out"),
        ("n2", "host:cni_config"),
        ("n3", "host:cni_config"),
        ("n2", "flannel:restart"),
    ]
    assert found[-1]["codes"] == ["route-missing", "fdb-stale"]


def test_a_finding_about_the_cluster_is_mended_where_its_repair_works() -> None:
    def where(repair: str) -> list[str]:
        return [step["host"] for step in steps([finding("x", repair, ["cluster"])], HOSTS, ["n1", "n2"])]

    assert where("host:main") == HOSTS
    assert where("control_plane:kube_proxy") == ["n1"]
    assert where("control_plane:node_ranges") == ["n1", "n2"]


def test_a_host_that_cannot_be_reached_gets_no_step() -> None:
    assert steps([finding("ip-forward-off", "host:main", ["n9"])], HOSTS, ["n1"]) == []


def test_what_has_to_follow_a_repair_is_a_step_of_its_own() -> None:
    found = steps([finding("stale-link", "host:stale_links", ["n2"])], HOSTS, ["n1"])
    assert [step["repair"] for step in found] == ["host:stale_links", "flannel:restart"]
    assert found[1]["codes"] == ["stale-link"]
    assert {one for each in REPAIRS.values() for one in each.then} <= set(REPAIRS)


def test_a_node_that_a_killed_repair_drained_is_given_back_last_and_once() -> None:
    findings = [finding("stale-link", "host:stale_links", ["n3"]), finding("route-missing", "flannel:restart", ["n2"])]
    found = steps(findings, HOSTS, ["n1"], unfinished=["n3", "n2", "n9"])
    assert [(step["host"], step["repair"]) for step in found] == [
        ("n3", "host:stale_links"),
        ("n2", "flannel:restart"),
        ("n3", "flannel:restart"),
        ("n2", "repair:give_back"),
    ]
    assert "mends" not in tell_steps(steps([], HOSTS, ["n1"], ["n2"]), [], 80, True)[2][0]


def test_infos_are_left_alone_and_what_has_no_repair_is_for_a_person() -> None:
    findings = [finding("a", "host:main", ["n1"], "info"), finding("live-cidr-change", None, ["intent"])]
    assert steps(findings, HOSTS, ["n1"]) == []
    assert [one["code"] for one in for_a_person(findings, HOSTS, ["n1"])] == ["live-cidr-change"]


def test_the_steps_are_told_with_what_they_interrupt_and_what_to_run_next() -> None:
    found = steps([finding("stale-link", "host:stale_links", ["n2"])], HOSTS, ["n1"])
    lines = [line for line, _kind in tell_steps(found, [finding("clock-skew", None, ["n3"])], 70, approved=False)]
    text = "\n".join(lines)
    assert "n2: deletes the pods' bridge and" in text
    assert "interrupts every pod of the node" in text
    assert "clock-skew at n3: Do what is right." in text
    assert lines[-1] == "Nothing was done. To carry the steps out: -e repair_approve=true"
    assert max(map(len, lines)) <= 70


def test_approved_steps_ask_for_nothing_more() -> None:
    found = steps([finding("ip-forward-off", "host:main", ["n2"])], HOSTS, ["n1"])
    assert not any("repair_approve" in line for line, _kind in tell_steps(found, [], 80, approved=True))


def test_nothing_to_mend_is_said() -> None:
    assert tell_steps([], [], 80, approved=False) == [("There is nothing to mend.", "title")]


def test_what_hosts_said_cannot_act_on_the_terminal() -> None:
    left = [finding("clock-skew", None, ["n\x1b[2J3"])]
    assert all(line.isprintable() for line, _kind in tell_steps([], left, 80, approved=False))
