# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy


def intent(pod, *arguments, networking=""):
    args = "".join(f"  - name: {name}\n    value: '{value}'\n" for name, value in arguments)
    extra = f"controllerManager:\n  extraArgs:\n{args}" if args else ""
    text = f"kind: ClusterConfiguration\nnetworking:\n  podSubnet: {pod}\n{networking}{extra}"
    return findings("node-mask-ignored", {"stage": "intent", "intent": {"kubeadm_config": text}})


@pytest.mark.parametrize(
    ("pod", "argument"),
    [
        ("10.0.0.0/25", ("node-cidr-mask-size", 27)),
        ("10.0.0.0/16,fd00::/56", ("node-cidr-mask-size", 24)),
        ("10.0.0.0/16", ("node-cidr-mask-size-ipv6", 64)),
        ("fd00::/56", ("node-cidr-mask-size-ipv4", 24)),
        ("10.0.0.0/16", ("node-mask-size", 24)),
    ],
)
def test_arguments_that_do_not_do_it(pod, argument):
    (found,) = intent(pod, argument)
    assert (found.severity, found.where) == ("error", ["intent"])


def test_a_field_that_does_not_exist():
    assert len(intent("10.0.0.0/16", networking="  nodeCIDRMaskSize: 26\n")) == 1


@pytest.mark.parametrize(
    ("pod", "arguments"),
    [
        ("10.0.0.0/16", [("node-cidr-mask-size", 25)]),
        ("10.0.0.0/16", [("node-cidr-mask-size-ipv4", 25)]),
        ("10.0.0.0/16,fd00::/56", [("node-cidr-mask-size-ipv4", 25), ("node-cidr-mask-size-ipv6", 64)]),
    ],
)
def test_arguments_that_do(pod, arguments):
    assert intent(pod, *arguments) == []


def test_a_running_cluster_without_any():
    assert findings("node-mask-ignored", healthy()) == []
