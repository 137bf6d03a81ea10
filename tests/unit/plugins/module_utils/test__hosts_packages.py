# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _hosts_packages
from ansible_collections.podnet.kubeadm.plugins.module_utils._hosts_packages import Apt, Installed, PackagesError

# Answers of apt and dpkg; its README says how they were recorded.
RECORDED = pathlib.Path(__file__).parents[1] / "modules" / "fixtures" / "apt"


def recorded(name: str) -> str:
    return (RECORDED / f"{name}.txt").read_text()


class Answers:
    """Gives the answers one after the other, the last one for ever."""

    def __init__(self, *answers: tuple[int, str, str]) -> None:
        self.answers = list(answers)
        self.commands: list[list[str]] = []
        self.data: Any = None

    def __call__(self, command: list[str], data: Any = None, environ_update: Any = None) -> tuple[int, str, str]:
        assert environ_update == _hosts_packages.ENVIRONMENT
        self.commands.append(command)
        self.data = data
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.mark.parametrize(
    ("wanted", "version", "match"),
    [
        ("", "1.2", True),
        ("1.37.2", "1.37.2-1.1", True),
        ("1.37.2", "1.37.20-1.1", False),
        ("1.37", "1.37~rc1", True),
        ("2", "2.4.2-1~debian.12~bookworm", True),
        ("2", "20.1", False),
        ("1.37.2-1.1", "1.37.2-1.1", True),
        ("1.37.2-1.1", "1.37.2", False),
        ("28", "5:28.0.1-1", True),
        ("5:28", "5:28.0.1-1", True),
        ("5", "5:28.0.1-1", True),  # of a version with its epoch
        ("6", "5:28.0.1-1", False),
    ],
)
def test_versions_match_by_their_parts(wanted: str, version: str, match: bool) -> None:
    assert _hosts_packages.matches(wanted, version) is match


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("demo\t1.37.2-1.1\tii \n", Installed("1.37.2-1.1", held=False)),
        ("demo\t1.37.2-1.1\thi \n", Installed("1.37.2-1.1", held=True)),
        ("demo\t1.37.2-1.1\tiF \n", Installed("1.37.2-1.1", held=False, ready=False)),
        ("demo\t1.37.2-1.1\thU \n", Installed("1.37.2-1.1", held=True, ready=False)),
        ("demo\t1.37.2-1.1\tiiR\n", Installed("1.37.2-1.1", held=False, ready=False)),
        ("demo\t1.37.2-1.1\trc \n", None),  # removed, its configuration is left
        ("demo\t\tun \n", None),
        ("", None),
    ],
)
def test_what_is_installed(line: str, found: Installed | None) -> None:
    run = Answers((1, line, "dpkg-query: no packages found matching other\n"))
    assert Apt(run).installed(["other", "demo", "demo"]) == ({"demo": found} if found else {})
    assert run.commands[0][3:] == ["demo", "other"]


def test_the_versions_that_repositories_have() -> None:
    sources = "      demo | 1.36.0-1.1 | http://127.0.0.1:18931  Sources\nN: something else\n"
    run = Answers((0, recorded("madison") + sources, ""))
    assert Apt(run).candidates({"other", "demo"}) == {"demo": ["1.37.2-1.1", "1.37.1-1.1"], "other": ["2.4.2-1"]}
    assert run.commands == [["apt-cache", "madison", "demo", "other"]]
    assert Apt(Answers((0, "", ""))).candidates(["nosuch"]) == {}


def test_lists_that_were_fetched_leave_no_complaint() -> None:
    warned = "W: Some index files failed to download.\n"
    assert Apt(Answers((0, warned, ""))).refresh() == ""
    assert Apt(Answers((100, "Reading package lists...\n", warned))).refresh() == warned[3:-1]


@pytest.mark.parametrize(
    ("recording", "cause", "apt"),
    [
        ("bad-signature", "not made by the key", "NO_PUBKEY 69A1519B6D803A85"),
        ("refused", "does not answer", "Connection refused"),
        ("unresolved", "does not answer", "nosuch.invalid"),
        ("no-repository", "no such repository", "does not have a Release file"),
        ("tampered-index", "was altered", "unexpected size"),
        ("tampered-package", "was altered", "demo_1.37.2-1.1_all.deb"),
        ("two-keys", "with another key", "/etc/apt/keyrings/bad.asc"),
    ],
)
def test_what_apt_says_has_a_known_cause(recording: str, cause: str, apt: str) -> None:
    said = _hosts_packages.explain(recorded(recording), "no")
    assert said.startswith("no: ") and cause in said.partition(" apt says: ")[0]
    assert apt in said.partition(" apt says: ")[2]


def test_what_no_one_knows_is_told_in_apts_own_words() -> None:
    assert _hosts_packages.explain("Reading...\nE: Held broken packages.\n", "no") == "no: Held broken packages."


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("Get:1 x\nW: one\nE: two\nE: two\n", "one; two"),
        ("  dpkg: error:\n  it broke\n", "dpkg: error: it broke"),
        ("x" * 700, "x" * 600),
        ("", ""),
    ],
)
def test_complaints(output: str, said: str) -> None:
    assert _hosts_packages.complaints(output) == said


def test_removals_are_simulated() -> None:
    run = Answers((0, "Inst demo (1.37.2-1.1)\nRemv oldrt [1.6]\nRemv docker [26] [x]\nConf demo\n", ""))
    assert Apt(run).removals(["demo=1"]) == ["oldrt", "docker"]
    assert "--simulate" in run.commands[0] and run.commands[0][-1] == "demo=1"
    with pytest.raises(PackagesError, match=r"apt would not install demo=1, other: .*Unable to locate"):
        Apt(Answers((100, "", "E: Unable to locate package demo\n"))).removals(["demo=1", "other"])


@pytest.mark.parametrize("may_remove", [True, False])
def test_an_installation_removes_only_what_it_may(may_remove: bool) -> None:
    run = Answers((0, "", ""))
    Apt(run, limit=7).install(["demo=1"], may_remove)
    assert ("--no-remove" in run.commands[0]) is not may_remove
    assert "DPkg::Lock::Timeout=7" in run.commands[0] and run.commands[0][-1] == "demo=1"


def test_a_failed_installation_is_a_sentence() -> None:
    with pytest.raises(PackagesError, match="could not be installed: a file of the repository .* was altered"):
        Apt(Answers((100, recorded("tampered-package"), ""))).install(["demo"], False)


def test_holds_are_selections_of_dpkg() -> None:
    run = Answers((0, "", ""))
    Apt(run).hold({"kubelet": True, "cri-tools": False})
    assert run.commands == [["dpkg", "--set-selections"]] and run.data == "cri-tools install\nkubelet hold\n"
    with pytest.raises(PackagesError, match="held.*status database area is locked"):
        Apt(Answers((2, "", "dpkg: error: status database area is locked\n")), limit=-1).hold({"x": True})


def test_an_interrupted_transaction_is_ended_or_told() -> None:
    run = Answers((0, "", ""))
    Apt(run).repair()
    assert run.commands[0][:3] == ["dpkg", "--configure", "-a"]
    with pytest.raises(PackagesError, match="could not be ended.*trigger loop"):
        Apt(Answers((1, "", "dpkg: trigger loop\n"))).repair()


def test_a_lock_is_waited_for_until_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    locked = (100, "", "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 4711 (apt-get)\n")
    now = [0.0]
    monkeypatch.setattr(_hosts_packages.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(_hosts_packages.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    run = Answers(locked, locked, (0, "", ""))
    assert Apt(run, limit=10).refresh() == "" and len(run.commands) == 3
    run = Answers(locked)
    assert "Could not get lock" in Apt(run, limit=10).refresh()
    assert len(run.commands) == 7  # at 0, 2 ... 12 seconds
    run = Answers((100, "", "E: Broken\n"))
    assert Apt(run).refresh() == "Broken" and len(run.commands) == 1, "another failure does not end by waiting"
