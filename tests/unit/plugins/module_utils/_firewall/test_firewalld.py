# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall import boot, change, firewalld, host, judgement
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.accepts import Accepts, accepts_of
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.change import Tools
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.judgement import worst
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.sentences import refusal

ACCEPTS = accepts_of(["10.42.0.0/16"], [])
# `nft -j list table inet firewalld` of firewalld 2.3.1 (Debian 13) with no interface in any zone: as it starts, with
# the policy, and with the zone beside it.
RECORDED = json.loads((pathlib.Path(__file__).parent / "fixtures" / "firewalld-2.3.1.json").read_text())


class Firewalld:
    """Answers as firewalld 2.3.1 did to the same commands; what is permanent shows in the rules after a reload."""

    def __init__(self) -> None:
        self.policies: dict[str, dict[str, list[str]]] = {}
        self.zones: dict[str, dict[str, list[str]]] = {}
        self.commands: list[list[str]] = []
        self.running = True
        self.stage = "before"

    def run(self, argv: list[str]) -> tuple[int, str, str]:
        self.commands.append(argv)
        if argv[0] == "systemctl":
            return 1, "", ""
        if argv[0] == "firewall-cmd" and not self.running:
            return 252, "", "FirewallD is not running"
        if argv[1] == "--state":
            return 0, "running\n", ""
        if argv[1] == "--reload":
            self.stage = "zone" if self.policies and self.zones else "policy" if self.policies else "before"
            return 0, "success\n", ""
        words = [word for word in argv[1:] if word != "--permanent"]
        store, selected = self.policies, {}
        if words[0].startswith(("--policy=", "--zone=")):
            kind, _equals, name = words.pop(0).partition("=")
            selected = (self.policies if kind == "--policy" else self.zones)[name]
        option, _equals, value = words[0].partition("=")
        verb, _dash, what = option[2:].partition("-")
        if what in ("zone", "zones") and not selected:
            store = self.zones
        if verb == "get":
            names = ["block", "public", "trusted"] if what == "zones" else ["allow-host-ipv6"]
            return 0, " ".join([*names, *store]) + "\n", ""
        if verb == "new":
            store[value] = {}
        elif verb == "delete":
            del store[value]
        elif verb == "list":
            return 0, "\n".join(selected.get(what.rstrip("s"), [])) + "\n", ""
        elif verb == "query":
            return (0, "yes\n", "") if value in selected.get(what, []) else (1, "no\n", "")
        elif verb == "add":
            selected.setdefault(what, []).append(value)
        elif verb == "remove":
            selected[what].remove(value)
        return 0, "success\n", ""

    def evidence(self, *_unused: Any) -> tuple[dict[str, Any], dict[str, str]]:
        return {
            "nft": RECORDED.get(self.stage, {"nftables": []}),
            "iptables": {"nft": "", "legacy": "", "selected": "nft"},
        }, {}


@pytest.fixture
def daemon(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> Firewalld:
    daemon = Firewalld()
    monkeypatch.setattr(host, "gather", daemon.evidence)
    monkeypatch.setattr(judgement, "NFT_FILES", ())
    monkeypatch.setattr(change, "is_there", lambda command: True)
    monkeypatch.setattr(firewalld, "is_there", lambda command: True)
    monkeypatch.setattr(firewalld, "FOLDERS", {"policy": str(tmp_path), "zone": str(tmp_path)})
    for name in ("STATE_PATH", "SCRIPT_PATH", "UNIT_PATH"):
        monkeypatch.setattr(boot, name, str(tmp_path / "etc" / name))
    return daemon


def permit(daemon: Firewalld, accepts: Accepts = ACCEPTS) -> host.Host:
    here = host.Host(Tools(daemon.run), apply=True)
    here.look(accepts)
    here.permit(accepts)
    return here


def test_a_policy_that_is_not_looked_at_gets_a_zone_beside_it(daemon: Firewalld) -> None:
    here = permit(daemon)
    assert here.changed and worst(here.judged) == "accept"
    assert daemon.policies["podnet-forward"]["ingress-zone"] == ["ANY"]
    assert daemon.zones == {"podnet-pods": {"source": ["10.42.0.0/16"]}}
    assert ["firewall-cmd", "--permanent", "--zone=podnet-pods", "--set-target=ACCEPT"] in daemon.commands
    assert not permit(daemon).changed


def test_the_zone_follows_the_pod_ranges(daemon: Firewalld) -> None:
    permit(daemon)
    permit(daemon, accepts_of(["10.42.0.0/16", "fd42::/48"], []))
    assert daemon.zones["podnet-pods"]["source"] == ["10.42.0.0/16", "fd42::/48"]
    permit(daemon)
    assert daemon.zones["podnet-pods"]["source"] == ["10.42.0.0/16"]


def test_no_zone_where_the_policy_is_looked_at(daemon: Firewalld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RECORDED, "policy", RECORDED["zone"])  # as firewalld 1.3, which enters every policy
    assert worst(permit(daemon).judged) == "accept"
    assert daemon.policies and not daemon.zones


@pytest.mark.parametrize("running", [True, False])
def test_absent_takes_both_back_also_from_a_firewalld_that_was_stopped(
    daemon: Firewalld, tmp_path: pathlib.Path, running: bool
) -> None:
    permit(daemon)
    daemon.running = running
    (tmp_path / "podnet-pods.xml.old").touch()
    assert host.Host(Tools(daemon.run), apply=True).take_back() == ["firewalld"]
    assert daemon.policies == daemon.zones == {} and not list(tmp_path.glob("*.old"))
    assert daemon.stage == ("before" if running else "zone")


def test_absent_where_firewalld_was_removed(daemon: Firewalld, monkeypatch: pytest.MonkeyPatch) -> None:
    permit(daemon)
    daemon.commands.clear()
    monkeypatch.setattr(firewalld, "is_there", lambda command: False)
    assert host.Host(Tools(daemon.run), apply=True).take_back() == ["firewalld"]
    assert daemon.commands == [] and not pathlib.Path(boot.STATE_PATH).exists()


def test_one_that_was_stopped_since_is_told_for_its_next_start(daemon: Firewalld) -> None:
    permit(daemon)
    daemon.running, daemon.stage = False, "stopped"
    wider = accepts_of(["10.42.0.0/16", "fd42::/48"], [])
    permit(daemon, wider)
    assert daemon.zones["podnet-pods"]["source"] == ["10.42.0.0/16", "fd42::/48"]


def test_the_refusal_shows_commands(daemon: Firewalld) -> None:
    here = host.Host(Tools(daemon.run), apply=False)
    here.look(ACCEPTS)
    told = refusal("n2", here.rules, here.judged, ACCEPTS)
    assert "Add: firewall-cmd --permanent --zone=trusted --add-source=10.42.0.0/16; firewall-cmd --reload, or" in told
    wanted = accepts_of([], [{"port": "6443", "sources": ["192.0.2.11"]}])
    assert firewalld.advice("input", wanted).split("; ") == [
        "firewall-cmd --permanent --new-policy=podnet-input",
        "firewall-cmd --permanent --policy=podnet-input --add-ingress-zone=ANY",
        "firewall-cmd --permanent --policy=podnet-input --add-egress-zone=HOST",
        'firewall-cmd --permanent --policy=podnet-input --add-rich-rule=\'rule family="ipv4" source '
        'address="192.0.2.11/32" port port="6443" protocol="tcp" accept\'',
        "firewall-cmd --reload",
    ]
