# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recorded import Recorded

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence import netfilter
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.source import Missing, Result, Source

SAVE, LEGACY = "iptables-nft-save -c", "iptables-legacy-save -c"
RULES = "*filter\n:FORWARD ACCEPT [0:0]\nCOMMIT\n"


@pytest.fixture
def source(tmp_path: Path) -> Recorded:
    """A host whose kernel has nf_tables built in, with one table of iptables-nft."""
    found = Recorded(tmp_path)
    found.say(SAVE, RULES)
    found.say("nft list tables", "table ip filter\ntable inet own\n")
    return found


def test_both_backends_and_the_selected_one(source: Recorded) -> None:
    assert netfilter.iptables(source) == {"nft": RULES, "legacy": "", "selected": "nft"}
    source.write("/proc/net/ip_tables_names", "filter\n")
    source.say(LEGACY, "*raw\nCOMMIT\n")
    assert netfilter.iptables(source)["legacy"] == "*raw\nCOMMIT\n"


def test_a_backend_that_cannot_be_read_is_listed_and_the_others_are_kept(source: Recorded) -> None:
    source.write("/proc/net/ip_tables_names", "filter\n")
    assert set(netfilter.iptables(source)) == {"nft", "selected"}
    assert source.missing == {"iptables.legacy": "iptables-legacy-save is not installed"}


@pytest.mark.parametrize(
    ("tables", "asked"),
    [
        ("table ip filter\n", True),
        ("table ip raw\n", True),
        ("table ip6 filter\ntable inet filter\n", False),
        ("table ip own\n", False),
        ("", False),
    ],
)
def test_tables_of_another_name_or_family_are_not_those_of_iptables(source: Recorded, tables: str, asked: bool) -> None:
    source.say("nft list tables", tables)
    assert netfilter.iptables(source)["nft"] == (RULES if asked else "")


def test_a_host_without_nft_is_asked_all_the_same(source: Recorded) -> None:
    del source.commands["nft list tables"]
    assert netfilter.iptables(source)["nft"] == RULES


@pytest.mark.parametrize(
    ("files", "there"),
    [
        ({}, True),  # a kernel that lists no modules has all it has built in
        ({"/proc/modules": ""}, False),
        ({"/proc/modules": "", "/sys/module/nf_tables/refcnt": "1"}, True),
        (
            {
                "/proc/modules": "",
                "/lib/modules/6.18.44-fc-v669/modules.builtin": "kernel/net/netfilter/nf_tables.ko\n",
            },
            True,
        ),
        ({"/proc/modules": "", "/lib/modules/other/modules.builtin": "kernel/net/netfilter/nf_tables.ko\n"}, False),
    ],
)
def test_nothing_is_listed_that_would_load_nf_tables(source: Recorded, files: dict[str, str], there: bool) -> None:
    for path, text in files.items():
        source.write(path, text)
    source.say("nft -j list ruleset", '{"nftables": [{"metainfo": {}}]}')
    assert netfilter.iptables(source)["nft"] == (RULES if there else "")
    assert netfilter.nft(source) == {"nftables": [{"metainfo": {}}] if there else []}


@pytest.mark.parametrize(
    ("links", "version", "selected"),
    [
        ({"/etc/alternatives/iptables": "/usr/sbin/iptables-legacy"}, "", "legacy"),
        ({"/usr/sbin/iptables": "xtables-nft-multi"}, "", "nft"),
        ({"/usr/sbin/iptables": "loop", "/usr/sbin/loop": "iptables"}, "iptables v1.8.9 (nf_tables)\n", "nft"),
        ({"/usr/sbin/iptables": ""}, "iptables v1.8.9 (nf_tables)\n", "nft"),
        ({"/usr/sbin/iptables": ""}, "iptables v1.6.1\n", "legacy"),
        ({"/usr/local/sbin/iptables": "iptables-legacy", "/usr/sbin/iptables": "iptables-nft"}, "", "legacy"),
    ],
)
def test_the_selected_backend_is_where_the_links_lead(
    source: Recorded, links: dict[str, str], version: str, selected: str
) -> None:
    for path, target in links.items():
        source.write(path, "")
        source.remove(path)
        if target:
            Path(source.path(path)).symlink_to(target)
        else:
            source.write(path, "")
    source.say("iptables --version", version)
    assert netfilter.iptables(source)["selected"] == selected


def test_a_host_without_iptables_has_none_selected(source: Recorded) -> None:
    source.remove("/usr/sbin/ip6tables")
    assert netfilter.ip6tables(source)["selected"] == "none"


def test_a_host_of_which_nothing_can_be_read_is_missing(source: Recorded) -> None:
    source.say("nft list tables", "table ip filter\n")
    source.write("/proc/net/ip_tables_names", "filter\n")
    source.remove("/usr/sbin/iptables")
    source.write("/usr/sbin/iptables", "")
    del source.commands[SAVE]
    with pytest.raises(Missing, match="neither backend could be read"):
        netfilter.iptables(source)


@pytest.mark.parametrize("said", ["inactive\n", "unknown\n", ""])
def test_a_firewalld_that_does_not_run_is_not_asked(source: Recorded, said: str) -> None:
    source.say("systemctl is-active firewalld", said, 3)
    assert netfilter.firewalld(source) == {"active": False, "zones": "", "policies": ""}


def test_a_firewalld_that_runs_tells_its_zones_and_policies(source: Recorded) -> None:
    source.say("systemctl is-active firewalld", "active\n")
    source.say("firewall-cmd --list-all-zones", "public\n")
    source.say("firewall-cmd --list-all-policies", "podnet\n")
    assert netfilter.firewalld(source) == {"active": True, "zones": "public\n", "policies": "podnet\n"}


@pytest.mark.parametrize(
    ("conf", "said"),
    [("ENABLED=yes\nLOGLEVEL=low\n", "Status: active\n"), ("ENABLED=no\n", ""), ("#ENABLED=yes\n", ""), ("", "")],
)
def test_ufw_is_asked_where_it_is_enabled(source: Recorded, conf: str, said: str) -> None:
    source.write("/etc/ufw/ufw.conf", conf)
    source.say("ufw status verbose", "Status: active\n")
    assert netfilter.ufw(source) == said


# What nft says where its JSON breaks off, as nft 1.0.6 of Debian 12 said it (shortened).
KEEP = '{"nftables": [{"table": {"family": "inet", "name": "keep", "handle": 1}}]}'
SAID = {
    "nft -j list ruleset": '{"nftables": [{"table": {"family": "inet", "name": "o0", "handle": 2, "flags": \n',
    "nft list tables": "table inet keep\ntable inet o0\n",
    "nft -t list table inet keep": "table inet keep {\n\tchain c {\n\t}\n}\n",
    "nft -t list table inet o0": "table inet o0 {\n\tflags dormant\n\n\tchain c {\n\t}\n}\n",
    "nft -j list table inet keep": KEEP,
}


def broken(folder: Path, **said: Any) -> Source:
    answers = {**SAID, **{key.replace("_", " "): value for key, value in said.items()}}
    return Source(str(folder), lambda argv, *_more, **_options: Result(0, answers[" ".join(argv)], ""))


def test_a_table_that_is_asleep_is_named_where_it_breaks_the_json(tmp_path: Path) -> None:
    assert netfilter.nft(broken(tmp_path))["nftables"] == [
        {"table": {"family": "inet", "name": "keep", "handle": 1}},
        {"table": {"family": "inet", "name": "o0", "flags": "dormant"}},
    ]


def test_json_that_is_broken_by_something_else_is_missing(tmp_path: Path) -> None:
    awake = {"nft -t list table inet o0": "table inet o0 {\n}\n", "nft -j list table inet o0": KEEP}
    with pytest.raises(Missing, match="did not answer JSON"):
        netfilter.nft(broken(tmp_path, **awake))
