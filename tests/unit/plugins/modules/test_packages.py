# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
from typing import Any, Callable

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _hosts_packages
from ansible_collections.podnet.kubeadm.plugins.modules import packages

RECORDED = pathlib.Path(__file__).parent / "fixtures" / "apt"
KUBELET = {"name": "demo", "version": "1.37.2", "hold": True}
RUNTIME = {"name": "other", "version": "2", "replaces": ["oldrt"]}


class Host:
    """A package database, and apt as the recordings have it."""

    def __init__(self) -> None:
        self.database: dict[str, tuple[str, str]] = {}  # name -> (version, status), status as dpkg abbreviates it
        self.commands: list[list[str]] = []
        self.update = (0, "")
        self.install = (0, "")
        self.removes: list[str] = []
        self.services: dict[str, tuple[str, str]] = {}  # active state and unit file state
        self.dies = ""

    def run_command(self, command: list[str], data: str = "", **more: Any) -> tuple[int, str, str]:
        self.commands.append(command)
        name = command[0] if command[0] != "apt-get" else command[1]
        if name == "dpkg-query":
            known = [(one, *self.database[one]) for one in command[3:] if one in self.database]
            lines = [f"{one}\t{version}\t{status}\n" for one, version, status in known]
            return int(len(known) < len(command) - 3), "".join(lines), "dpkg-query: no packages found matching x\n"
        if name == "update":
            return *self.update, ""
        if name == "apt-cache":
            return 0, (RECORDED / "madison.txt").read_text(), ""
        if name == "install" and "--simulate" in command:
            return 0, "".join(f"Remv {one} [1.6]\n" for one in self.removes), ""
        if name == "install" and self.install[0] == 0:
            for argument in command:
                if argument.startswith(("demo", "other")):
                    package, _equals, version = argument.partition("=")
                    self.database[package] = (version or "9", "ii ")
        if name == "install":
            return *self.install, ""
        if name == "systemctl":
            return self.systemctl(command)
        if name == "dpkg" and "--set-selections" in command:
            for line in data.splitlines():
                package, selection = line.split()
                self.database[package] = (self.database[package][0], "hi " if selection == "hold" else "ii ")
        return 0, "", ""

    def systemctl(self, command: list[str]) -> tuple[int, str, str]:
        verb, units = command[1], [one.removesuffix(".service") for one in command[command.index("--") + 1 :]]
        if verb == "show":
            form = "Id={0}.service\nActiveState={1}\nUnitFileState={2}\n"
            return 0, "\n".join(form.format(one, *self.services.get(one, ("inactive", ""))) for one in units), ""
        for one in units:
            active, enabled = self.services[one]
            if verb == "start" and one == self.dies:
                return 1, "", f"Job for {one}.service failed."
            self.services[one] = ("active", enabled) if verb == "start" else (active, "enabled")
        return 0, "", ""

    def ran(self, *words: str) -> list[list[str]]:
        return [command for command in self.commands if all(word in command for word in words)]


@pytest.fixture
def host() -> Host:
    return Host()


@pytest.fixture
def run(run_module: Callable[..., dict[str, Any]], host: Host, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setattr(
        packages.AnsibleModule, "run_command", lambda self, command, **more: host.run_command(command, **more)
    )

    def call(*wanted: dict[str, Any], check: bool = False, **options: Any) -> dict[str, Any]:
        return run_module(packages, {"packages": list(wanted), **options}, check)

    return call


def recorded(name: str) -> str:
    return (RECORDED / f"{name}.txt").read_text()


def test_one_transaction_installs_and_holds_and_a_second_run_asks_apt_nothing(run: Any, host: Host) -> None:
    predicted = run(KUBELET, RUNTIME, check=True)
    assert predicted["changed"] and not host.ran("apt-get")
    result = run(KUBELET, RUNTIME)
    assert len(host.ran("apt-get", "install")) == 1
    assert {"demo=1.37.2-1.1", "other=2.4.2-1", "--no-remove"} <= set(host.ran("apt-get", "install")[0])
    assert result["installed"] == {
        "demo": {"before": "", "after": "1.37.2-1.1"},
        "other": {"before": "", "after": "2.4.2-1"},
    }
    assert result["holds"] == {"demo": True} and host.database["demo"][1] == "hi "
    assert set(predicted["installed"]) == set(result["installed"]) and predicted["holds"] == result["holds"]
    host.commands.clear()
    again = run(KUBELET, RUNTIME)
    assert not again["changed"] and [command[0] for command in host.commands] == ["dpkg-query"]
    assert again["versions"] == {"demo": "1.37.2-1.1", "other": "2.4.2-1"}


def test_a_lost_hold_is_set_again_without_apt(run: Any, host: Host) -> None:
    host.database["demo"] = ("1.37.2-1.1", "ii ")
    assert run(KUBELET)["holds"] == {"demo": True} and not host.ran("apt-get")
    assert run({**KUBELET, "hold": False})["holds"] == {"demo": False}
    assert not run({**KUBELET, "hold": False})["changed"]


def test_another_version_is_changed_or_refused(run: Any, host: Host) -> None:
    host.database["demo"] = ("1.37.1-1.1", "hi ")
    refused = run({**KUBELET, "locked_by": __file__}, check=True)
    assert refused["failed"] and "demo 1.37.1-1.1 instead of 1.37.2" in refused["msg"] and not host.ran("apt-get")
    assert run({**KUBELET, "locked_by": "/no/such/file"})["installed"] == {
        "demo": {"before": "1.37.1-1.1", "after": "1.37.2-1.1"}
    }
    assert host.database["demo"] == ("1.37.2-1.1", "hi ")
    assert "--allow-change-held-packages" in host.ran("apt-get", "install")[0]


def test_what_is_removed_must_be_what_is_replaced(run: Any, host: Host) -> None:
    host.database["oldrt"] = ("1.6", "ii ")
    host.removes = ["oldrt", "docker"]
    refused = run(RUNTIME)
    assert refused["failed"] and "would remove docker" in refused["msg"]
    assert not [command for command in host.ran("apt-get", "install") if "--simulate" not in command]
    assert "oldrt in place of other" in run({**RUNTIME, "locked_by": __file__})["msg"]
    host.removes = ["oldrt"]
    assert run(RUNTIME)["changed"]
    assert "--no-remove" not in host.commands[-2]


def test_an_interrupted_installation_is_ended(run: Any, host: Host) -> None:
    host.database["demo"] = ("1.37.2-1.1", "iF ")
    assert run(KUBELET)["changed"]
    assert host.ran("dpkg", "--configure", "-a")


@pytest.mark.parametrize(
    "recording, said",
    [
        ("bad-signature", "signature is not made by the key"),
        ("refused", "does not answer"),
        ("unresolved", "does not answer"),
        ("no-repository", "no such repository at that address"),
        ("tampered-index", "was altered"),
        ("two-keys", "names the same repository with another key"),
    ],
)
def test_a_repository_that_fails_is_a_sentence(run: Any, host: Host, recording: str, said: str) -> None:
    host.update = (100, recorded(recording))
    wanted = {"name": "kubeadm", "version": "1.37.2"}
    result = run(wanted)
    assert result["failed"] and said in result["msg"] and "kubeadm 1.37.2" in result["msg"]
    assert not host.ran("apt-get", "install")


def test_a_dead_repository_that_is_not_needed_is_none_of_our_business(run: Any, host: Host) -> None:
    host.update = (100, recorded("unresolved"))
    assert run(KUBELET)["changed"]


def test_a_tampered_package_is_a_sentence(run: Any, host: Host) -> None:
    host.install = (100, recorded("tampered-package"))
    result = run(KUBELET)
    assert result["failed"] and "was altered" in result["msg"] and "demo_1.37.2-1.1_all.deb" in result["msg"]


def test_a_version_that_is_not_there_names_those_that_are(run: Any, host: Host) -> None:
    result = run({"name": "demo", "version": "1.37.9"})
    assert result["failed"] and "demo 1.37.9 (there are 1.37.2-1.1, 1.37.1-1.1)" in result["msg"]


def test_another_apt_at_work_is_waited_for(run: Any, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    # As apt 2.6.2 says it while another process holds the file.
    locked = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 4711 (apt-get)\n"
    host.update = (100, locked)
    monkeypatch.setattr(_hosts_packages.time, "sleep", lambda seconds: setattr(host, "update", (0, "")))
    assert run(KUBELET)["changed"] and len(host.ran("apt-get", "update")) == 2


def test_dpkg_that_is_locked_is_waited_for(run: Any, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words are those of dpkg 1.21.22 on a host whose apt-get went on after its connection was cut."""
    words = "dpkg: error: dpkg frontend lock was locked by /usr/bin/apt-get process with pid 194\n"
    host.database["demo"] = ("1.37.2-1.1", "iF ")
    original, answers = host.run_command, [(2, "", words), (2, "", words)]

    def locked(command: list[str], **more: Any) -> tuple[int, str, str]:
        return answers.pop(0) if command[0] == "dpkg" and answers else original(command, **more)

    monkeypatch.setattr(host, "run_command", locked)
    monkeypatch.setattr(_hosts_packages.time, "sleep", lambda _seconds: None)
    assert run(KUBELET)["changed"]
    assert answers == []


def test_services_are_enabled_and_started_with_their_packages(run: Any, host: Host) -> None:
    wanted = ({**KUBELET, "unit": "kubelet"}, {**RUNTIME, "unit": "containerd", "start": True})
    predicted = run(*wanted, check=True)
    host.services = {"kubelet": ("inactive", "disabled"), "containerd": ("inactive", "disabled")}
    result = run(*wanted)
    assert result["units"] == predicted["units"] == {"kubelet": ["enabled"], "containerd": ["enabled", "started"]}
    assert host.services == {"kubelet": ("inactive", "enabled"), "containerd": ("active", "enabled")}
    assert "service containerd enabled and started\n" in result["diff"]["after"]
    assert not run(*wanted)["changed"]
    host.services["containerd"] = ("failed", "enabled")
    assert run(*wanted)["units"] == {"containerd": ["started"]}


def test_a_service_that_does_not_start_is_a_sentence(run: Any, host: Host) -> None:
    host.services, host.dies = {"containerd": ("inactive", "enabled")}, "containerd"
    result = run({**RUNTIME, "unit": "containerd", "start": True})
    assert result["failed"] and "containerd could not be started: Job for containerd.service failed" in result["msg"]


def test_one_package_wanted_twice(run: Any) -> None:
    assert run({"name": "demo"}, KUBELET, {"name": "demo"}, check=True)["holds"] == {"demo": True}
    result = run(KUBELET, {"name": "demo", "version": "1.36"}, check=True)
    assert result["failed"] and "versions 1.37.2 and 1.36" in result["msg"]
