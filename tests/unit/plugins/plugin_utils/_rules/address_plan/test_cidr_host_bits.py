# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy


def test_host_bits_are_named_with_what_they_mean():
    bundle = healthy("intent")
    bundle["intent"]["pod_cidr"] = "10.244.1.0/16"
    (found,) = findings("cidr-host-bits", bundle)
    assert (found.severity, found.evidence["means"]) == ("warning", "10.244.0.0/16")


def test_host_bits_of_a_running_clusters_net_conf():
    bundle = healthy()
    bundle["cluster"]["flannel_config"]["net-conf.json"] = '{"Network": "10.244.9.9/16", "Backend": {"Type": "vxlan"}}'
    (found,) = findings("cidr-host-bits", bundle)
    assert found.where == ["cluster"]


def test_masked_ranges_are_right():
    assert findings("cidr-host-bits", healthy()) == []
