# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import Place, Verdict
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._model import Chain, Rule, Table
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._verdict import place

TABLE = Table("ip", "filter", "nft")
BASE = Chain("FORWARD", TABLE, hook="forward", priority=-5, policy="drop", handle=1)
OWN = Chain("FLANNEL-FWD", TABLE, handle=2)
RULE = Rule("-A FLANNEL-FWD -j ACCEPT", handle=9)


def test_a_rule_is_told_with_its_chain_and_owner() -> None:
    assert place(("forward", OWN, RULE, "accept")) == Place(
        "forward", "nft", "ip", "filter", "FLANNEL-FWD", "-A FLANNEL-FWD -j ACCEPT", 9, "flannel", "accept", None
    )


def test_a_policy_is_told_with_the_chains_handle_and_priority() -> None:
    found = place(("forward", BASE, None, "drop"))
    assert (found.rule, found.handle, found.priority, found.owner) == ("(policy drop)", 1, -5, None)


def test_what_is_no_rule_is_told_in_words() -> None:
    assert place(("forward", None, "nft", "not looked at")) == Place(hook="forward", rule="nft", action="not looked at")


@pytest.mark.parametrize(
    ("given", "lacks"),
    [
        ({}, True),
        ({"rule": "oifname flannel.1 masquerade"}, True),
        ({"hook": "forward"}, False),
        ({"action": "accept"}, False),
        ({"rule": "-A POSTROUTING -j DROP"}, False),
    ],
)
def test_a_drop_for_want_of_an_address(given: dict[str, str], lacks: bool) -> None:
    whole = {"hook": "postrouting", "action": "drop", "rule": "-A POSTROUTING -j MASQUERADE", **given}
    assert Place(**whole).lacks_address is lacks  # type: ignore[arg-type]


def test_a_verdict_can_be_written_as_json() -> None:
    verdict = Verdict(
        "drop", "drop", "accept", place(("forward", BASE, None, "drop")), (("forward", OWN, RULE, "jump"),)
    )
    assert [one.chain for one in verdict.trail] == ["FLANNEL-FWD"]
    data = json.loads(json.dumps(verdict.as_dict()))
    assert (data["verdict"], data["lower"], data["upper"]) == ("drop", "drop", "accept")
    assert data["by"]["rule"] == "(policy drop)" and data["trail"][0]["handle"] == 9
    assert Verdict("accept", "accept", "accept", None).as_dict() == {
        "verdict": "accept", "lower": "accept", "upper": "accept", "by": None, "trail": [],
    }  # fmt: skip
