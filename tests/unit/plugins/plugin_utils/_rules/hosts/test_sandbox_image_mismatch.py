# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, undetermined


def image(name, base="host"):
    bundle = healthy(base)
    bundle["nodes"]["node2"]["runtime"]["sandbox_image"] = name
    return bundle


@pytest.mark.parametrize(
    "name", ["registry.k8s.io/pause:3.8", "mirror.example.com:5000/pause:3.6", "k8s.gcr.io/pause:3.10.2"]
)
def test_an_older_image_or_a_dead_registry_is_a_warning(name):
    (found,) = findings("sandbox-image-mismatch", image(name))
    assert (found.severity, found.where) == ("warning", ["node2"])


@pytest.mark.parametrize(
    "name",
    ["", "mirror.example.com:5000/pause:3.10.2", "registry.k8s.io/pause:3.11", "registry.k8s.io/pause", "own/init:1"],
)
def test_what_looks_like_it(name):
    assert findings("sandbox-image-mismatch", image(name)) == []


def test_an_image_that_cannot_be_had_is_an_error():
    bundle = image("k8s.gcr.io/pause:3.5", "cluster")
    said = 'failed to get sandbox image "k8s.gcr.io/pause:3.5": failed to pull image'
    bundle["nodes"]["node2"]["journal"]["containerd"] = said
    (found,) = findings("sandbox-image-mismatch", bundle)
    assert found.severity == "error"


def test_without_the_key_it_is_undetermined():
    bundle = healthy("host")
    del bundle["nodes"]["node2"]["runtime"]
    assert [missed.key for missed in undetermined("sandbox-image-mismatch", bundle)] == ["nodes.*.runtime"]
