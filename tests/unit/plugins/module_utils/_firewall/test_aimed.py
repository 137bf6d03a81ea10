# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.accepts import accepts_of
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.aimed import aimed_at, index_of
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.judgement import Judged, judge
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import Place, Ruleset

ACCEPTS = accepts_of(["10.42.0.0/16"], [{"port": "6443", "sources": ["192.0.2.16"]}])


def save(*rules: str, policy: str = "ACCEPT", chains: tuple[str, ...] = ()) -> str:
    heads = [f":{name} {policy} [0:0]" for name in ("INPUT", "FORWARD")] + [f":{name} - [0:0]" for name in chains]
    return "\n".join(["*filter", *heads, *rules, "COMMIT", ""])


def dropped(text: str, hook: str = "forward") -> tuple[Ruleset, Judged]:
    node: dict[str, Any] = {
        "iptables": {"nft": text, "legacy": ""},
        "nft": {"nftables": []},
        "ip_route": [{"dst": "default", "dev": "eth0"}],
        "ip_rule": [],
    }
    rules = Ruleset.from_evidence(node)
    return rules, next(one for one in judge(node, ACCEPTS, rules) if (one.hook, one.verdict.verdict) == (hook, "drop"))


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("-s 10.42.0.5/32", "drops 10.42.0.5 and lets others of 10.42.0.0/16 pass, 10.42.0.4 for one"),
        ("-s 10.42.0.0/17", "drops 10.42.0.5 and lets others of 10.42.0.0/16 pass, 10.42.128.5 for one"),
        ("-d 10.42.1.2/32", "drops 10.42.1.2 and lets others of 10.42.0.0/16 pass, 10.42.1.3 for one"),
        ("-p tcp", "drops some protocols and ports only and lets others pass, UDP to port 53 for one"),
        (
            "-p tcp -m tcp --dport 80",
            "drops some protocols and ports only and lets others pass, UDP to port 53 for one",
        ),
        ("-p udp", "drops some protocols and ports only and lets others pass, TCP to port 80 for one"),
        ("-o eth0", "closes the way to and from outside only"),
        ("-s 10.42.0.0/16", None),
        ("-s 10.0.0.0/8", None),
        ("-i cni0", None),
        ("-s 0.0.0.0/0", None),
    ],
)
def test_what_a_rule_is_about(rule: str, said: str | None) -> None:
    assert aimed_at(*dropped(save(f"-A FORWARD {rule} -j DROP"))) == said


def test_a_policy_is_about_nothing() -> None:
    assert aimed_at(*dropped(save(policy="DROP"))) is None


def test_what_passes_by_a_rule_before_does_not_make_a_rule_about_the_rest() -> None:
    assert aimed_at(*dropped(save("-A FORWARD -s 10.42.0.4 -j ACCEPT", "-A FORWARD -j DROP"))) is None
    assert aimed_at(*dropped(save("-A FORWARD ! -s 10.42.0.4/30 -j RETURN", "-A FORWARD -j DROP"))) is not None


def test_what_drops_the_others_too_but_later_is_another_rule() -> None:
    deny = "-A FORWARD -s 10.42.0.5/32 -j DROP"
    assert "lets others" in str(aimed_at(*dropped(save(deny, "-A FORWARD -j DROP"))))
    assert "lets others" in str(aimed_at(*dropped(save(deny, policy="DROP"))))


def test_chains_on_the_way_count() -> None:
    chain = ("-A MINE -s 10.42.0.4/30 -j LAST", "-A LAST -j LOG", "-A LAST -j DROP")
    found = aimed_at(*dropped(save("-A FORWARD -j MINE", *chain, chains=("MINE", "LAST"))))
    assert str(found).startswith("drops 10.42.0.5 and lets others")
    assert aimed_at(*dropped(save("-A FORWARD -j LAST", *chain[1:], chains=("LAST",)))) is None


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("-s 192.0.2.16/32", "drops 192.0.2.16 and none of the addresses beside it"),
        ("-s 192.0.2.0/24", None),
        ("! -s 192.0.2.18/32", None),
        ("-p tcp", None),
        ("-i eth0", None),
    ],
)
def test_of_ports_a_rule_is_about_one_sender_or_about_all(rule: str, said: str | None) -> None:
    assert aimed_at(*dropped(save(f"-A INPUT {rule} -j DROP"), "input")) == said


def test_the_number_of_a_rule_in_its_chain() -> None:
    rules, _judged = dropped(save("-A FORWARD -i eth9 -j ACCEPT", "-A FORWARD -j DROP"))
    chain = rules.tables[0].chains["FORWARD"]
    assert index_of(chain, Place(rule="-A FORWARD -j DROP")) == 1
    assert index_of(chain, Place(rule="-A FORWARD -j DROP", handle=4)) == 2
    assert index_of(chain, Place(rule="(policy drop)")) == 2
