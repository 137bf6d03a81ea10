# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._host import Host
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._rules.hosts._twins import Identity, identity, twins

RAW = healthy("host")["nodes"]["node2"]


def test_a_machine_is_told_by_its_boot_and_the_macs_of_its_own_links():
    one = identity(Host(RAW, "n"), "value")
    assert one == ("value", (RAW["boot_id"], ("52:54:00:10:02:0c",)))


@pytest.mark.parametrize("key", ["ip_address", "boot_id"])
def test_where_one_was_not_looked_at_the_machine_is_not_known(key):
    assert identity(Host({**RAW, key: None}, "n"), "value") == ("value", None)


def test_a_machine_without_a_link_of_its_own_is_not_known():
    links = [link for link in RAW["ip_address"] if link["ifname"] == "lo"]
    assert identity(Host({**RAW, "ip_address": links}, "n"), "value").machine is None


A, B = ("boot a", ("mac",)), ("boot b", ("mac",))


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        ({"n2": Identity("x", A), "n1": Identity("x", B)}, [("x", ["n1", "n2"])]),
        ({"n1": Identity("x", A), "n2": Identity("x", A)}, []),  # two names of one host
        ({"n1": Identity("x", A), "n2": Identity("x", A), "n3": Identity("x", B)}, [("x", ["n1", "n2", "n3"])]),
        ({"n1": Identity("x", None), "n2": Identity("x", None)}, [("x", ["n1", "n2"])]),
        ({"n1": Identity("x", A), "n2": Identity("x", None)}, [("x", ["n1", "n2"])]),
        ({"n1": Identity("x", A), "n2": Identity("y", B), "n3": None}, []),
        ({"n1": Identity("", A), "n2": Identity("", B)}, []),
        ({"n1": Identity("none", A), "n2": Identity("none", B)}, []),
    ],
)
def test_hosts_that_say_the_same_though_they_are_not_one(facts, found):
    assert list(twins(facts, ignore=["none"])) == found
