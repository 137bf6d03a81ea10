# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall import boot, host, judgement
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.accepts import Accepts, accepts_of
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.change import ChangeError, Tools
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.judgement import worst

ACCEPTS = accepts_of(["10.42.0.0/16"], [])
DROPS = "*filter\n:INPUT DROP [0:0]\n:FORWARD DROP [0:0]\n:OUTPUT ACCEPT [0:0]\nCOMMIT\n"


class Kernel:
    """The one chain of these tests: answers iptables as the tool does, and shows its rules as evidence."""

    def __init__(self) -> None:
        self.chains: dict[str, list[str]] = {"FORWARD": [], "INPUT": []}
        self.commands: list[list[str]] = []
        self.dies_at = ""
        self.enabled = False

    def run(self, argv: list[str]) -> tuple[int, str, str]:
        self.commands.append(argv)
        if self.dies_at and self.dies_at in argv:
            return 4, "", "killed"
        if argv[0] == "systemctl":
            self.enabled = (self.enabled or "enable" in argv) and "disable" not in argv
            return (1 if "is-enabled" in argv and not self.enabled else 0), "", ""
        if argv[5:] == ["-S"]:
            return 0, "".join(f"-N {name}\n" for name in self.chains), ""
        verb, chain, *rest = argv[5:]
        text = f"-A {chain} {' '.join(rest)}"
        there = self.chains.get(chain)
        if verb == "-N":
            if there is not None:
                return 1, "", "Chain already exists."
            self.chains[chain] = []
        elif there is None:
            return 1, "", "No chain/target/match by that name."
        elif verb == "-A":
            there.append(text)
        elif verb == "-I":
            there.insert(int(rest[0]) - 1, f"-A {chain} {' '.join(rest[1:])}")
        elif verb == "-D":
            del there[int(rest[0]) - 1]
        elif verb == "-S":
            return 0, "\n".join(there), ""
        elif verb == "-F":
            there.clear()
        elif verb == "-X":
            del self.chains[chain]
        return 0, "", ""

    def evidence(self, *_unused: Any) -> tuple[dict[str, Any], dict[str, str]]:
        own = "".join(f":{name} - [0:0]\n" for name in self.chains if name not in ("FORWARD", "INPUT"))
        rules = "".join(f"[0:0] {rule}\n" for chain in self.chains.values() for rule in chain)
        text = DROPS.replace("COMMIT\n", f"{own}{rules}COMMIT\n")
        return {"iptables": {"nft": text, "legacy": "", "selected": "nft"}, "nft": {"nftables": []}}, {}


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> Kernel:
    kernel = Kernel()
    monkeypatch.setattr(host, "gather", kernel.evidence)
    monkeypatch.setattr(judgement, "NFT_FILES", ())
    monkeypatch.setattr(boot, "STATE_PATH", str(tmp_path / "etc" / "firewall.json"))
    monkeypatch.setattr(boot, "SCRIPT_PATH", str(tmp_path / "etc" / "firewall.sh"))
    monkeypatch.setattr(boot, "UNIT_PATH", str(tmp_path / "unit" / boot.UNIT))
    return kernel


def permit(kernel: Kernel, apply: bool = True, accepts: Accepts = ACCEPTS) -> host.Host:
    here = host.Host(Tools(kernel.run), apply=apply)
    here.look(accepts)
    here.permit(accepts)
    return here


def test_permitted_mends_and_absent_takes_all_of_it_back(kernel: Kernel) -> None:
    here = permit(kernel)
    assert here.changed and worst(here.judged) == "accept"
    assert kernel.chains["FORWARD"] == ["-A FORWARD -j PODNET-FORWARD"]
    assert oct(pathlib.Path(boot.STATE_PATH).stat().st_mode)[-3:] == "600"
    again = host.Host(Tools(kernel.run), apply=True)
    assert again.take_back() == ["filter/FORWARD"]
    assert kernel.chains == {"FORWARD": [], "INPUT": []}
    assert not pathlib.Path(boot.STATE_PATH).parent.exists() and not pathlib.Path(boot.UNIT_PATH).exists()
    assert host.Host(Tools(kernel.run), apply=True).take_back() == []


def test_check_mode_tells_the_same_and_does_nothing(kernel: Kernel) -> None:
    predicted = permit(kernel, apply=False)
    assert predicted.changed and worst(predicted.judged) == "accept"
    assert kernel.commands == [] and not pathlib.Path(boot.STATE_PATH).exists()
    assert json.loads(permit(kernel).diff()["after"]) == json.loads(predicted.diff()["after"])


def test_a_run_that_is_killed_half_way_is_known_to_the_next(kernel: Kernel) -> None:
    kernel.dies_at = "-s"
    with pytest.raises(ChangeError, match="PODNET-FORWARD"):
        permit(kernel)
    assert "PODNET-FORWARD" in kernel.chains
    kernel.dies_at = ""
    assert host.Host(Tools(kernel.run), apply=True).take_back() == ["filter/FORWARD"]
    assert kernel.chains == {"FORWARD": [], "INPUT": []}


def test_a_place_that_is_gone_does_not_stop_what_is_mended_elsewhere(kernel: Kernel) -> None:
    permit(kernel)
    kernel.chains["FORWARD"].clear()
    path = pathlib.Path(boot.STATE_PATH)
    known = json.loads(path.read_text())
    gone = {**known["jumps"][0], "chain": "GONE"}
    path.write_text(json.dumps({**known, "jumps": [gone]}))
    here = permit(kernel)
    assert worst(here.judged) == "accept" and here.after["jumps"] == [gone, known["jumps"][0]]


def test_a_drop_before_our_jump_is_seen_alike_in_check_mode_and_in_the_run(kernel: Kernel) -> None:
    permit(kernel)
    kernel.chains["FORWARD"].insert(0, "-A FORWARD -s 10.42.0.0/16 -j DROP")
    predicted = permit(kernel, apply=False)
    done = permit(kernel)
    assert predicted.changed and worst(predicted.judged) == worst(done.judged) == "accept"
    assert predicted.diff() == done.diff() and len(done.after["jumps"]) == 1
    assert kernel.chains["FORWARD"][0] == "-A FORWARD -j PODNET-FORWARD" and len(kernel.chains["FORWARD"]) == 2
    assert not permit(kernel).changed


@pytest.mark.parametrize("apply", [False, True])
def test_our_jump_is_not_moved_before_what_somebody_denies(kernel: Kernel, apply: bool) -> None:
    permit(kernel)
    for rule in ("-A FORWARD -i cni0 -j DROP", "-A FORWARD -s 10.42.0.0/16 -j DROP"):
        kernel.chains["FORWARD"].insert(0, rule)
    before = json.dumps(kernel.chains)
    here = permit(kernel, apply)
    assert worst(here.judged) == "drop" and not here.changed and json.dumps(kernel.chains) == before


@pytest.mark.parametrize("apply", [False, True])
def test_a_chain_of_our_name_that_is_not_remembered_is_left_alone(kernel: Kernel, apply: bool) -> None:
    kernel.chains["PODNET-FORWARD"] = ["-A PODNET-FORWARD -s 10.9.9.9 -j DROP"]
    before = json.dumps(kernel.chains)
    with pytest.raises(ChangeError, match="a chain PODNET-FORWARD with rules already"):
        permit(kernel, apply)
    assert json.dumps(kernel.chains) == before and not pathlib.Path(boot.STATE_PATH).exists()


def test_what_cannot_be_taken_back_is_told_and_stays_remembered(kernel: Kernel) -> None:
    permit(kernel)
    kernel.dies_at = "-D"
    with pytest.raises(ChangeError, match="-D FORWARD 1` failed: killed"):
        host.Host(Tools(kernel.run), apply=True).take_back()
    assert pathlib.Path(boot.STATE_PATH).exists()
    kernel.dies_at = ""
    host.Host(Tools(kernel.run), apply=True).take_back()
    assert kernel.chains == {"FORWARD": [], "INPUT": []} and not pathlib.Path(boot.STATE_PATH).exists()


def test_a_memory_that_cannot_be_read_is_no_empty_memory(kernel: Kernel) -> None:
    pathlib.Path(boot.STATE_PATH).parent.mkdir()
    pathlib.Path(boot.STATE_PATH).write_text("{")
    with pytest.raises(ChangeError, match="cannot be read"):
        host.Host(Tools(kernel.run), apply=True)


PORTS = [{"port": "6443", "sources": ["192.0.2.11"]}, {"port": "10250", "sources": ["192.0.2.11"]}]


@pytest.mark.parametrize("apply", [False, True])
def test_ports_that_are_not_declared_any_more_are_taken_back(kernel: Kernel, apply: bool) -> None:
    both = accepts_of(["10.42.0.0/16"], PORTS)
    permit(kernel, accepts=both)
    assert len(kernel.chains["PODNET-INPUT"]) == 2 and kernel.chains["INPUT"] == ["-A INPUT -j PODNET-INPUT"]
    fewer = permit(kernel, apply, accepts_of(["10.42.0.0/16"], PORTS[:1]))
    assert fewer.changed and len(kernel.chains["PODNET-INPUT"]) == (1 if apply else 2)
    none = permit(kernel, apply, accepts_of(["10.42.0.0/16"], []))
    assert none.changed and ("PODNET-INPUT" in kernel.chains) is not apply
    assert kernel.chains["INPUT"] == ([] if apply else ["-A INPUT -j PODNET-INPUT"])
    assert kernel.chains["FORWARD"] == ["-A FORWARD -j PODNET-FORWARD"]
    assert permit(kernel, apply, accepts_of(["10.42.0.0/16"], [])).changed is not apply


def test_what_an_option_that_is_left_out_let_in_stays(kernel: Kernel) -> None:
    permit(kernel, accepts=accepts_of(["10.42.0.0/16"], PORTS))
    known = host.Host(Tools(kernel.run), apply=True).known
    asked = accepts_of(["10.43.0.0/16"], [])
    assert asked.completed(known, cidrs=True, ports=False) == accepts_of(["10.43.0.0/16"], PORTS)
    assert asked.completed(known, cidrs=True, ports=True) == asked
    assert accepts_of([], PORTS[:1]).completed(known, False, True) == accepts_of(["10.42.0.0/16"], PORTS[:1])


def test_without_any_jump_there_is_no_unit(kernel: Kernel) -> None:
    only_ports = accepts_of([], PORTS)
    permit(kernel, accepts=only_ports)
    assert pathlib.Path(boot.UNIT_PATH).exists()
    kernel.chains["INPUT"] = ["-A INPUT -j PODNET-INPUT", "-A INPUT -j ACCEPT"]
    permit(kernel, accepts=accepts_of(["10.42.0.0/16"], []))
    assert pathlib.Path(boot.UNIT_PATH).exists() and kernel.chains["FORWARD"]
    assert kernel.chains["INPUT"] == ["-A INPUT -j ACCEPT"]
