# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._versions import (
    image_name,
    image_tag,
    image_version,
    version,
)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("v1.37.2", (1, 37, 2)),
        ("1.37", (1, 37, 0)),
        ("1.37.2-1.1", (1, 37, 2)),
        ("v1.36.2+k3s1", (1, 36, 2)),
        ("v1.38.0-rc.1", (1, 38, 0)),
        ("latest", None),
        ("", None),
        ("1", None),
        ("1.37.2.4", None),
        ("9" * 30 + ".1", None),
    ],
)
def test_versions(text, numbers):
    assert version(text) == numbers


@pytest.mark.parametrize(
    ("image", "name", "tag"),
    [
        ("ghcr.io/flannel-io/flannel:v0.28.10", "flannel", "v0.28.10"),
        ("registry:5000/kube-proxy", "kube-proxy", ""),
        ("quay.io/cilium/cilium:v1.18.3@sha256:aa", "cilium", "v1.18.3"),
        ("x@sha256:aa", "x", ""),
    ],
)
def test_images(image, name, tag):
    assert (image_name(image), image_tag(image)) == (name, tag)
    assert image_version(image) == version(tag)
