# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re

from reports import HOSTILE, broken
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._describe import describe
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._model import model


def test_the_network_as_it_is():
    text = describe(model(*broken(healthy("cluster"))))
    for line in (
        "| Pods | `10.244.0.0/16` |",
        "| flannel | `v0.28.10 vxlan` |",
        "| 8472 | UDP | every node | every node | flannel (vxlan) |",
        "| Container bridges | `10.244.128.0/20` | docker0 | node2 | 10.244.0.0/16 |",
        "| Node networks | `192.168.10.0/24` | eth0 | node1, node2, node3 |  |",
    ):
        assert line in text.splitlines()


def test_a_hostile_name_makes_no_markup():
    text = describe(model(*broken(healthy("cluster"), HOSTILE)))
    assert "\x1b" not in text
    assert not re.search(r"(?<!\\)<(script|img)", re.sub(r"`[^`]*`", "", text))
    heads = {line.count("|") - line.count("\\|") for line in text.splitlines() if line.startswith("| node2")}
    assert len(heads) == 1
