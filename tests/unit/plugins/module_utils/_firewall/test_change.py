# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import subprocess

from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.accepts import accepts_of
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.boot import UNIT_TEXT, script
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.change import (
    accept_nft,
    accept_words,
    nft_rules,
    nth_of,
    ufw_rules,
)
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.firewalld import rich_rules
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.remedy import Jump

ACCEPTS = accepts_of(["10.42.0.0/16", "fd42::/48"], [{"port": "2379-2380", "sources": ["192.0.2.11"]}])


def test_the_same_accepts_in_every_language() -> None:
    assert accept_words(ACCEPTS, "forward", 4) == [
        ["-s", "10.42.0.0/16", "-j", "ACCEPT"],
        ["-d", "10.42.0.0/16", "-j", "ACCEPT"],
    ]
    assert accept_words(ACCEPTS, "input", 4) == [
        ["-p", "tcp", "-s", "192.0.2.11/32", "-m", "tcp", "--dport", "2379:2380", "-j", "ACCEPT"]
    ]
    assert accept_nft(ACCEPTS, "forward", "inet") == [
        "ip saddr 10.42.0.0/16 accept", "ip daddr 10.42.0.0/16 accept",
        "ip6 saddr fd42::/48 accept", "ip6 daddr fd42::/48 accept",
    ]  # fmt: skip
    assert accept_nft(ACCEPTS, "input", "ip6") == []
    assert rich_rules("input", ACCEPTS) == [
        'rule family="ipv4" source address="192.0.2.11/32" port port="2379-2380" protocol="tcp" accept'
    ]
    assert ["route", "allow", "from", "10.42.0.0/16"] in ufw_rules("forward", ACCEPTS)


def test_places_are_found_in_what_the_tools_print() -> None:
    rules = ["a", "drop", "counter drop", "drop"]
    assert [nth_of(rules, "drop", nth) for nth in (1, 2, 3)] == [1, 3, 3]
    assert nth_of(rules, "reject", 1) == nth_of(rules, "", 1) == 4
    chain = "table inet f {\n\tchain c { # handle 1\n\t\ttcp dport 22 accept # handle 4\n\t\tdrop # handle 5\n\t}\n}\n"
    assert nft_rules(chain) == [("tcp dport 22 accept", 4), ("drop", 5)]


def test_the_script_of_the_boot_is_a_shell_script_and_quotes_rules() -> None:
    jumps = [
        Jump("forward", "nft", "ip", "filter", "FORWARD", '-A FORWARD -m comment --comment "it\'s last" -j DROP'),
        Jump("forward", "nft", "inet", "filter", "forward", 'iifname "eth0" drop'),
    ]
    text = script(jumps, ACCEPTS)
    done = subprocess.run(["sh", "-n"], input=text, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Before=kubelet.service" in UNIT_TEXT
    assert "ip6 saddr fd42::/48 accept" in text
