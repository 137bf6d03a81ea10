# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._nft_text import rule_text

IIF, SOURCE = {"meta": {"key": "iifname"}}, {"payload": {"protocol": "ip", "field": "saddr"}}
PODS = {"prefix": {"addr": "10.244.0.0", "len": 16}}


def match(left: Any, right: Any, op: str = "==") -> dict[str, Any]:
    return {"match": {"op": op, "left": left, "right": right}}


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (match(IIF, "cni0"), 'iifname "cni0"'),
        (match(IIF, "cni0", "!="), 'iifname != "cni0"'),
        (match(IIF, "@links"), "iifname @links"),
        (match(IIF, {"set": ["cni0", "eth0"]}), 'iifname { "cni0", "eth0" }'),
        (match(SOURCE, PODS), "ip saddr 10.244.0.0/16"),
        (match(SOURCE, {"range": ["10.244.1.1", "10.244.1.9"]}), "ip saddr 10.244.1.1-10.244.1.9"),
        (match(SOURCE, {"set": ["192.0.2.1", PODS]}), "ip saddr { 192.0.2.1, 10.244.0.0/16 }"),
        (match({"payload": {"protocol": "tcp", "field": "dport"}}, 80, "<"), "tcp dport < 80"),
        (match({"payload": {"base": "nh", "offset": 1, "len": 8}}, 1), "@nh,1,8 1"),
        (match({"ct": {"key": "state"}}, ["established", "related"], "in"), "ct state established,related"),
        (match({"ct": {"key": "proto-dst", "dir": "original"}}, 80), "ct original proto-dst 80"),
        (match({"meta": {"key": "mark"}}, 7), "meta mark 7"),
        (match({"&": [{"meta": {"key": "mark"}}, 15]}, 7, "!="), "meta mark & 15 != 7"),
        (match({"fib": {"result": "oif", "flags": ["saddr", "iif"]}}, False), "fib saddr . iif oif missing"),
        (match({"concat": [SOURCE, {"payload": {"protocol": "tcp", "field": "dport"}}]}, "@s"),
         "ip saddr . tcp dport @s"),
        ({"accept": None}, "accept"),
        ({"jump": {"target": "own"}}, "jump own"),
        ({"goto": {"target": "own"}}, "goto own"),
        ({"vmap": {"key": IIF, "data": {"set": [["cni0", {"jump": {"target": "x"}}], ["eth0", {"drop": None}]]}}},
         'iifname vmap { "cni0" : jump x, "eth0" : drop }'),
        ({"vmap": {"key": SOURCE, "data": "@verdicts"}}, "ip saddr vmap @verdicts"),
        ({"mangle": {"key": {"meta": {"key": "mark"}}, "value": {"|": [{"meta": {"key": "mark"}}, 4]}}},
         "meta mark set meta mark | 4"),
        ({"counter": {"packets": 5, "bytes": 300}}, "counter"),
        ({"limit": {"rate": 3, "per": "minute", "inv": True}}, "limit rate over 3/minute"),
        ({"log": {"prefix": "no "}}, 'log prefix "no "'),
        ({"log": None}, "log"),
        ({"reject": None}, "reject"),
        ({"reject": {"type": "icmp", "expr": "host-prohibited"}}, "reject with icmp host-prohibited"),
        ({"reject": {"type": "tcp reset"}}, "reject with tcp reset"),
        ({"xt": {"type": "match", "name": "conntrack"}}, "xt match conntrack"),
        ({"dnat": {"addr": "10.244.2.9", "port": 80}}, "dnat to 10.244.2.9:80"),
        ({"redirect": {"port": 80}}, "redirect to :80"),
        ({"masquerade": None}, "masquerade"),
        ({"snat": {"addr": {"map": {"key": IIF, "data": "@m"}}}}, "snat to iifname map @m"),
        ({"set": {"op": "add", "set": "@s", "elem": SOURCE}}, "add @s { ip saddr }"),
        ({"future": {"b": 1, "a": 2}}, 'future {"a": 2, "b": 1}'),
        ({"text": "jump {\n drop }"}, 'text "jump {\\n drop }"'),
    ],
)  # fmt: skip
def test_a_statement_as_nft_writes_it(statement: dict[str, Any], text: str) -> None:
    assert rule_text([statement]) == text


def test_a_rule_is_one_line_with_its_comment() -> None:
    assert rule_text([match(IIF, "cni0"), {"drop": None}], "ours") == 'iifname "cni0" drop comment "ours"'
    assert rule_text([]) == ""
