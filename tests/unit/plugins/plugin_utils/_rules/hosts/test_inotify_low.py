# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, heard_of_node2, undetermined


def limits(instances, watches=524288, said=""):
    bundle = healthy()
    node = bundle["nodes"]["node2"]
    node["inotify"] = {"max_user_instances": instances, "max_user_watches": watches}
    node["journal"]["containerd"] = said
    return bundle


def test_instances_used_up():
    (found,) = findings("inotify-low", limits(128, said="failed to create fsnotify watcher: too many open files"))
    assert (found.severity, found.where) == ("error", ["node2"])


def test_watches_used_up():
    said = "failed to add inotify watch: no space left on device"
    assert [found.severity for found in findings("inotify-low", limits(8192, 8192, said))] == ["error"]


@pytest.mark.parametrize("said", ["", "write /var/log/x: no space left on device"])
def test_the_default_that_nobody_complains_of(said):
    assert [found.severity for found in findings("inotify-low", limits(128, 8192, said))] == ["info"]


def test_enough_of_them_and_too_many_open_files_is_another_code():
    assert findings("inotify-low", limits(8192, said="too many open files")) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["inotify"], bundle["nodes"]["node2"]["sysctl"]
    assert [missed.key for missed in undetermined("inotify-low", bundle)] == ["nodes.*.inotify"]


def test_the_limits_as_kernel_values():
    bundle = healthy()
    node = bundle["nodes"]["node2"]
    del node["inotify"]
    node["sysctl"]["fs.inotify.max_user_instances"] = "128"
    node["journal"]["kubelet"] = "failed to create fsnotify watcher: too many open files"
    assert [found.where for found in findings("inotify-low", bundle) if found.severity == "error"] == [["node2"]]
    assert findings("limit-too-low", bundle) == []


def test_words_of_inotify_are_enough():
    words = "failed to create fsnotify watcher: too many open files"
    assert findings("inotify-low", heard_of_node2(words))[0].where == ["node2"]
    bundle = heard_of_node2(words, "inotify")
    bundle["nodes"]["node2"].pop("sysctl")
    assert findings("inotify-low", bundle)[0].where == ["node2"]
    assert findings("limit-too-low", bundle) == []
