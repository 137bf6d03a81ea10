# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The filter, alone and against the answers of kubeadm and of an oracle.

``fixtures/kubeadm-answers.json.gz`` is what kubeadm v1.37.2 said to 2,400 generated plans, recorded by
``python tests/plans/run.py --count 2400 --record FILE``. It is recorded anew when a rule or the generator changes.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.podnet.kubeadm.plugins.filter.address_plan import FilterModule

ROOT = Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tests" / "plans"))

from plans import plans
from run import DELIBERATE, difference, judged

ANSWERS = Path(__file__).parent / "fixtures" / "kubeadm-answers.json.gz"
address_plan = FilterModule().filters()["address_plan"]


def test_the_filter_kubeadm_and_the_oracle_agree_on_what_is_a_plan():
    recorded = json.loads(gzip.decompress(ANSWERS.read_bytes()))
    assert recorded["count"] >= 2000
    every = list(plans(recorded["count"], recorded["seed"]))
    codes = [judged(plan)[0] for plan in every]
    wrong = [
        f"{plan}: {text}"
        for plan, found, answer in zip(every, codes, recorded["answers"])
        if (text := difference(plan, found, answer))
    ]
    assert wrong == []
    accepted = sum(not found for found in codes)
    assert 0.2 < accepted / len(every) < 0.8, "the generator has to make both kinds"
    assert set(DELIBERATE) <= {code for found in codes for code in found}, "a deliberate rule is not tried"


def test_a_plain_plan():
    plan = address_plan("10.244.0.0/16")
    assert plan == {
        "families": ["ipv4"],
        "pod_cidrs": ["10.244.0.0/16"],
        "service_cidrs": ["10.96.0.0/12"],
        "kubeadm": {
            "podSubnet": "10.244.0.0/16",
            "serviceSubnet": "10.96.0.0/12",
            "controller_manager_args": [{"name": "node-cidr-mask-size-ipv4", "value": "24"}],
        },
        "kube_proxy": {"clusterCIDR": "10.244.0.0/16"},
        "flannel": {"EnableIPv4": True, "Network": "10.244.0.0/16", "EnableIPv6": False},
        "cluster_dns": ["10.96.0.10"],
        "kubernetes_service": ["10.96.0.1"],
        "capacity": {"ipv4": {"node_ranges": 256, "pods_per_node": 253}},
        "warnings": [],
    }


@pytest.mark.parametrize("given", ["10.244.0.0/16,fd00:10:244::/56", ["10.244.0.0/16", "fd00:10:244::/56"]])
def test_a_dual_stack_plan_from_a_text_or_a_list(given):
    plan = address_plan(given, service_cidr=["10.96.0.0/12", "fd00:10:96::/112"])
    assert plan["families"] == ["ipv4", "ipv6"]
    assert plan["kubeadm"]["podSubnet"] == plan["kube_proxy"]["clusterCIDR"] == "10.244.0.0/16,fd00:10:244::/56"
    assert [one["name"] for one in plan["kubeadm"]["controller_manager_args"]] == [
        "node-cidr-mask-size-ipv4",
        "node-cidr-mask-size-ipv6",
    ]
    assert plan["flannel"] == {
        "EnableIPv4": True,
        "Network": "10.244.0.0/16",
        "EnableIPv6": True,
        "IPv6Network": "fd00:10:244::/56",
    }
    assert plan["capacity"]["ipv6"] == {"node_ranges": 256, "pods_per_node": 2**64 - 2}


def test_an_ipv6_plan_switches_flannels_ipv4_off():
    plan = address_plan("fd00:10:244::/56", service_cidr="fd00:10:96::/112")
    assert plan["flannel"] == {"EnableIPv4": False, "EnableIPv6": True, "IPv6Network": "fd00:10:244::/56"}
    assert plan["cluster_dns"] == ["fd00:10:96::a"]


def test_host_bits_are_masked_everywhere_and_warned_of():
    plan = address_plan("10.244.7.1/16")
    assert plan["kubeadm"]["podSubnet"] == plan["flannel"]["Network"] == "10.244.0.0/16"
    assert [one["code"] for one in plan["warnings"]] == ["cidr-host-bits"]


def test_every_reason_and_every_value_is_named_at_once():
    with pytest.raises(AnsibleFilterError) as error:
        address_plan("10.96.0.0/24", node_mask="24", planned_nodes=5, max_pods=400, cluster_dns="192.168.1.1")
    text = str(error.value)
    for code in ("overlap-pod-service", "capacity-too-small", "node-range-too-small", "cluster-dns-outside"):
        assert code in text
    for value in ("10.96.0.0/24", "planned_nodes=5", "max_pods=400", "192.168.1.1"):
        assert value in text


@pytest.mark.parametrize("length", range(33))
def test_a_service_range_of_any_size_is_a_sentence_or_a_plan(length):
    try:
        assert address_plan("172.20.0.0/16", service_cidr=f"10.96.0.0/{length}")["cluster_dns"] == ["10.96.0.10"]
    except AnsibleFilterError as error:
        assert "service-cidr-size" in str(error)


@pytest.mark.parametrize("given", ["", None, [], "10.244.0.0", "10.244.0.0/16,", 7, {"a": 1}, ["10.244.0.0/16", None]])
def test_odd_input_is_a_sentence_or_a_plan_and_never_a_traceback(given):
    try:
        assert address_plan(given)["pod_cidrs"] == ["10.244.0.0/16"]
    except AnsibleFilterError as error:
        assert "No address plan can be made of" in str(error)


@pytest.mark.parametrize("name", ["node_mask", "node_mask_v6", "max_pods", "planned_nodes"])
@pytest.mark.parametrize("value", ["x", "24.5", [24], True, -1, 10**30])
def test_a_number_that_is_none_is_refused(name, value):
    ranges = "10.244.0.0/16,fd00:10:244::/56"
    with pytest.raises(AnsibleFilterError, match="No address plan can be made of"):
        address_plan(ranges, service_cidr="10.96.0.0/12,fd00:10:96::/112", **{name: value})


@pytest.mark.parametrize("value", [None, 0, "0"])
def test_without_planned_nodes_capacity_is_not_compared(value):
    assert address_plan("10.244.0.0/24", planned_nodes=value)["capacity"]["ipv4"]["node_ranges"] == 1


def test_the_plan_that_is_answered_is_the_callers_own():
    address_plan("10.244.0.0/16")["pod_cidrs"].append("x")
    assert address_plan("10.244.0.0/16")["pod_cidrs"] == ["10.244.0.0/16"]
