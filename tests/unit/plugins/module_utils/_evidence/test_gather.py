# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.gather import gather, selected
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.node import GROUPS, TABLE
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.source import Missing, Source


def refuse(source):
    raise Missing("not here")


def stumble(source):
    return {}["nothing"]


def half(source):
    source.lack("half.other", "timed out")
    return {"one": 1}


def test_what_cannot_be_looked_at_is_absent_and_listed():
    table = {"good": lambda source: "", "refused": refuse, "broken": stumble, "half": half}
    evidence, missing = gather(Source(), table, table)
    assert evidence == {"good": "", "half": {"one": 1}}
    assert missing == {
        "broken": "could not be understood: KeyError: 'nothing'",
        "half.other": "timed out",
        "refused": "not here",
    }


def test_gatherers_wait_side_by_side():
    table = {f"k{n}": lambda source: time.sleep(0.2) for n in range(10)}
    began = time.monotonic()
    gather(Source(), table, table)
    assert time.monotonic() - began < 1


def test_groups_and_keys_are_selected_in_the_order_of_the_table():
    assert selected(["swap", "hostname"], TABLE, GROUPS) == ["hostname", "swap"]
    assert selected(["all"], TABLE, GROUPS) == list(TABLE)
    assert {"ip_address", "kubernetes_files"} <= set(selected(["before"], TABLE, GROUPS))


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="'ip_adress' is not something that can be gathered; known are all, before"):
        selected(["ip_adress"], TABLE, GROUPS)


def test_groups_name_keys_of_the_table():
    for group in GROUPS.values():
        assert set(group) <= set(TABLE)
