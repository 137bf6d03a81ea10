# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from recorded import Recorded

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence import system
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.source import Missing


@pytest.fixture
def source(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


def command(source: Recorded, words: str) -> str:
    return next(one for one in source.commands if words in one)


def test_units_of_a_recorded_host(source: Recorded) -> None:
    found = system.units(source)
    assert set(found) == set(system.UNITS)
    assert (found["kubelet"]["active"], found["kubelet"]["enabled"]) == ("active", "enabled")
    assert found["docker"] == {"active": "inactive", "enabled": "not-found", "since": ""}


@pytest.mark.parametrize(("active", "stamp", "told"), [("active", True, True), ("failed", True, False),
                                                       ("active", False, False)])  # fmt: skip
def test_since_when_a_unit_runs_is_told_in_utc(source: Recorded, active: str, stamp: bool, told: bool) -> None:
    hour_ago = int((time.clock_gettime(time.CLOCK_MONOTONIC) - 3600) * 1e6) if stamp else 0
    block = f"Id=kubelet.service\nActiveState={active}\nActiveEnterTimestampMonotonic={abs(hour_ago)}\n"
    source.say(command(source, "ActiveEnterTimestampMonotonic"), block)
    since = system.units(source)["kubelet"]["since"]
    assert bool(since) is told
    if told and hour_ago > 0:
        moment = datetime.strptime(since, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
        assert abs(time.time() - 3600 - moment.timestamp()) < 60


@pytest.mark.parametrize(
    ("unit", "line", "kept"),
    [
        ("kubelet", "E1130 12:00:00.0 1 x.go:1] broken", True),
        ("kubelet", "W1130 12:00:00.0 1 x.go:1] odd", True),
        ("kubelet", "I1130 12:00:00.0 1 x.go:1] failed to", False),
        ("kubelet", "Error: failed to run Kubelet", True),
        ("kubelet", "Started kubelet.service", False),
        ("containerd", 'time="x" level=error msg="y"', True),
        ("containerd", 'time="x" level=info msg="error"', False),
        ("containerd", "panic: x", True),
    ],
)
def test_of_a_journal_warnings_and_errors_are_kept(source: Recorded, unit: str, line: str, kept: bool) -> None:
    source.say(command(source, f"-u {unit}.service"), line + "\n")
    assert system.journal(source)[unit] == (line + "\n" if kept else "")


@pytest.mark.parametrize(
    ("state", "seconds", "asked"),
    [("active", 600, " --since=@1700000000"), ("active", 60, ""), ("activating", 600, "")],
    ids=["it ran long enough to say again what holds", "it is too young", "it starts again and again"],
)
def test_what_a_unit_said_before_its_start_is_left_out(
    source: Recorded, monkeypatch: pytest.MonkeyPatch, state: str, seconds: int, asked: str
) -> None:
    monkeypatch.setattr(system.time, "time", lambda: 1_700_000_000.0 + seconds)
    monkeypatch.setattr(system.time, "clock_gettime", lambda _clock: 100.0 + seconds)
    show = "systemctl show --no-pager --property=ActiveState,ExecMainStartTimestampMonotonic kubelet.service"
    source.say(show, f"ActiveState={state}\nExecMainStartTimestampMonotonic=100000000\n")
    source.commands = {name: one for name, one in source.commands.items() if not name.startswith("journalctl")}
    source.say(f"journalctl -q --no-pager -o cat -n 1500 -u kubelet.service{asked}", "E1130 12:00:00.0 1 x.go:1] y\n")
    assert system.journal(source) == {"kubelet": "E1130 12:00:00.0 1 x.go:1] y\n"}


def test_journals_are_bounded(source: Recorded) -> None:
    for name in list(source.commands):
        if name.startswith("journalctl"):
            source.say(name, "".join(f"E1130 {n} {'x' * 5000}\nI1130 failed\n" for n in range(1500)))
    found = system.journal(source)
    assert len(found["kubelet"].splitlines()) == 200 and "I1130" not in found["kubelet"]
    assert len(json.dumps(found)) < 1_500_000


def test_of_the_command_line_the_parameters_that_matter_are_told(source: Recorded) -> None:
    source.write("/proc/cmdline", "ipv6.disable=1 root=/dev/vda1 token=geheim cgroup_disable=memory quiet\n")
    source.say(command(source, "-p warning"), "Nov 30 kernel: odd\n")
    assert system.journal(source)["kernel"] == (
        "kernel: Command line: ipv6.disable=1 cgroup_disable=memory\nNov 30 kernel: odd\n"
    )


def test_cri_o_is_asked_where_it_is_and_what_cannot_be_read_is_listed(source: Recorded) -> None:
    source.write("/etc/crio/crio.conf", "")
    assert set(system.journal(source)) == {"kubelet", "containerd", "kernel"}
    assert set(source.missing) == {"journal.crio"}
    source.commands.clear()
    source = Recorded(Path(source.root), build=False)
    source.commands.clear()
    with pytest.raises(Missing, match="no journal could be read"):
        system.journal(source)


def test_packages_of_dpkg(source: Recorded) -> None:
    found = system.packages(source)
    assert found["kubelet"] == {"version": "1.37.2-1.1", "held": True}
    assert found["iptables"] == {"version": "1.8.11-2", "held": False}
    assert "containerd" not in found and "runc" not in found
    source = Recorded(Path(source.root), build=False)
    source.say(command(source, "dpkg-query"), "ufw\t1\tdeinstall\tconfig-files\nkubeadm\t1\thold\tinstalled\nodd\n")
    assert system.packages(source) == {"kubeadm": {"version": "1", "held": True}}


@pytest.mark.parametrize(
    ("lock", "held"),
    [
        ("kubelet-0:1.37.2-150500.1.1.*\n", True),
        ("0:kubelet-1.37.2\n", True),
        ("# kubelet\nkubelet-plugin-1\n", False),
        ("", False),
    ],
)
def test_packages_of_rpm_are_held_by_versionlock(source: Recorded, lock: str, held: bool) -> None:
    source.remove("/var/lib/dpkg/status")
    source.write("/etc/dnf/plugins/versionlock.list", lock)
    query = r"rpm -q --qf %{NAME}\t%{VERSION}-%{RELEASE}\n " + " ".join(system.PACKAGES)
    source.say(query, "kubelet\t1.37.2-150500.1.1\npackage crio is not installed\n", 1)
    assert system.packages(source) == {"kubelet": {"version": "1.37.2-150500.1.1", "held": held}}


@pytest.mark.parametrize(
    ("path", "text", "lines"),
    [
        ("/etc/apt/sources.list", "deb  http://a  stable main\n# deb http://b x\n deb-src http://c x main\n",
         ["deb http://a stable main", "deb-src http://c x main"]),
        ("/etc/apt/sources.list.d/x.list", "deb [signed-by=/k.asc] https://u:geheim@a /\n",
         ["deb [signed-by=/k.asc] https://(removed)@a /"]),
        ("/etc/apt/sources.list.d/x.list.save", "deb http://a x\n", []),
        ("/etc/apt/sources.list.d/x.sources",
         "Types: deb deb-src\nURIs: http://a\n http://b\nSuites: s t\nComponents: main\nSigned-By: /k.gpg\n",
         [f"{kind} [signed-by=/k.gpg] http://{host} {suite} main" for kind in ("deb", "deb-src") for host in "ab"
          for suite in "st"]),
        ("/etc/apt/sources.list.d/x.sources", "Enabled: no\nURIs: http://a\nSuites: s\n\nURIs: http://b\nSuites: /\n",
         ["deb http://b /"]),
        ("/etc/yum.repos.d/x.repo", "[a]\nbaseurl=https://a/\nenabled=1\n[b]\nbaseurl = https://b/\nenabled = 0\n"
         "[c]\nmirrorlist=https://c/\n", ["https://a/", "https://c/"]),
        ("/etc/apk/repositories", "https://a/main\n# https://b\n\n", ["https://a/main"]),
    ],
)  # fmt: skip
def test_repositories_that_are_on(source: Recorded, path: str, text: str, lines: list[str]) -> None:
    for name in ("debian.sources", "docker.list", "kubernetes.list"):
        source.remove(f"/etc/apt/sources.list.d/{name}")
    source.write(path, text)
    assert system.package_sources(source) == lines


def test_swap_now_is_the_kernels_text(source: Recorded) -> None:
    assert system.swap(source).startswith("Filename")
    source.remove("/proc/swaps")
    with pytest.raises(Missing, match="/proc/swaps"):
        system.swap(source)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("UUID=2c3d none swap sw 0 0", True),
        ("/swapfile none swap", True),
        ("/swapfile none swap defaults,noauto 0 0", False),
        ("#/swapfile none swap sw 0 0", False),
        ("/dev/a /swap ext4 defaults", False),
        ("swap", False),
    ],
)
def test_lines_that_turn_swap_on_at_boot(source: Recorded, line: str, found: bool) -> None:
    source.write("/etc/fstab", f"UUID=0a1b / ext4 defaults 0 1\n  {line} \n")
    assert system.fstab_swap(source) == ([line] if found else [])


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("HTTPS_PROXY=http://proxy:3128", {"HTTPS_PROXY": "http://proxy:3128"}),
        ("export no_proxy='10.0.0.0/8,.svc'", {"no_proxy": "10.0.0.0/8,.svc"}),
        ("http_proxy=http://user:geheim@proxy:3128/", {"http_proxy": "http://proxy:3128/"}),
        ("http_proxy=user:geheim@proxy:3128", {"http_proxy": "proxy:3128"}),
        ("http_proxy=http://user:ge@heim@proxy:3128", {"http_proxy": "http://proxy:3128"}),
        ("http_proxy=http://user:ge/heim@proxy:3128", {"http_proxy": "http://proxy:3128"}),
        ("API_TOKEN=geheim", {}),
        ("MY_HTTP_PROXY=http://x", {}),
        ("# HTTP_PROXY=http://x", {}),
        ("HTTP_PROXY=", {}),
    ],
)
def test_proxies_without_user_and_password(source: Recorded, line: str, found: dict[str, str]) -> None:
    source.write("/etc/environment", line + "\n")
    assert system.proxy_env(source)["shell"] == found
    source.write("/etc/environment", "")
    source.write("/etc/profile.d/proxy.sh", line + "\n")
    assert system.proxy_env(source)["shell"] == found


def test_proxies_of_units_and_of_their_files(source: Recorded) -> None:
    source.write("/etc/default/containerd", "HTTPS_PROXY=http://file:1\n")
    said = 'Environment="HTTP_PROXY=http://u:geheim@p:1" NO_PROXY=.svc "X=a b"\n'
    source.say(
        command(source, "Environment,EnvironmentFiles containerd"),
        said + "EnvironmentFiles=/etc/default/containerd (ignore_errors=yes)\n",
    )
    found = system.proxy_env(source)
    assert found["containerd"] == {"HTTPS_PROXY": "http://file:1", "HTTP_PROXY": "http://p:1", "NO_PROXY": ".svc"}
    assert found["kubelet"] == {}


def test_a_unit_that_cannot_be_asked_is_listed(source: Recorded, monkeypatch: Any) -> None:
    del source.commands[command(source, "Environment,EnvironmentFiles kubelet")]
    assert set(system.proxy_env(source)) == {"containerd", "shell"} and set(source.missing) == {"proxy_env.kubelet"}
