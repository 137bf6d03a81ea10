# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, undetermined

ROCKY = {
    "ID": "rocky",
    "ID_LIKE": "rhel centos fedora",
    "VERSION_ID": "9.6",
    "PRETTY_NAME": "Rocky Linux 9.6 (Blue Onyx)",
}


def test_another_system_is_found_on_its_host():
    bundle = healthy("host")
    bundle["nodes"]["node2"]["os_release"] = ROCKY
    (found,) = findings("system-unsupported", bundle)
    assert (found.severity, found.where) == ("warning", ["node2"])
    assert found.summary == "Rocky Linux 9.6 (Blue Onyx) is not supported"


@pytest.mark.parametrize("version, known", [("11", False), ("12", True), ("13", True), ("14", False)])
def test_releases_of_debian(version, known):
    bundle = healthy("host")
    bundle["nodes"]["node2"]["os_release"] = {"ID": "debian", "VERSION_ID": version}
    assert bool(findings("system-unsupported", bundle)) is not known


@pytest.mark.parametrize("version, known", [("20.04", False), ("22.04", True), ("24.04", True), ("23.10", False)])
def test_releases_of_ubuntu(version, known):
    bundle = healthy("host")
    bundle["nodes"]["node2"]["os_release"] = {"ID": "ubuntu", "VERSION_ID": version}
    assert bool(findings("system-unsupported", bundle)) is not known


def test_a_running_member_is_not_judged():
    bundle = healthy()
    bundle["nodes"]["node2"]["os_release"] = ROCKY
    assert findings("system-unsupported", bundle) == []


def test_many_hosts_are_one_finding():
    bundle = healthy("host")
    for node in bundle["nodes"].values():
        node["os_release"] = ROCKY
    (found,) = findings("system-unsupported", bundle)
    assert found.where == ["node1", "node2", "node3"]


def test_without_the_key_it_is_undetermined():
    bundle = healthy("host")
    bundle["nodes"]["node2"].pop("os_release", None)
    assert "node2" in undetermined("system-unsupported", bundle)[0].where
