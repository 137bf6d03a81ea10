# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy


def test_one_nodes_range_for_all():
    bundle = healthy()
    bundle["cluster"]["flannel_config"]["net-conf.json"] = '{"Network": "10.244.0.0/24", "Backend": {"Type": "vxlan"}}'
    (found,) = findings("flannel-network-narrow", bundle)
    assert (found.severity, found.where) == ("error", ["cluster"])
    assert findings("flannel-network-mismatch", bundle) == []


def test_a_users_own_file():
    bundle = healthy("intent")
    bundle["intent"]["net_conf"] = '{"Network": "10.244.0.0/17", "Backend": {"Type": "vxlan"}}'
    assert findings("flannel-network-narrow", bundle)[0].where == ["intent"]


def test_the_pod_range_itself_and_a_wider_one():
    assert findings("flannel-network-narrow", healthy()) == []
    bundle = healthy()
    bundle["cluster"]["flannel_config"]["net-conf.json"] = '{"Network": "10.240.0.0/12", "Backend": {"Type": "vxlan"}}'
    assert findings("flannel-network-narrow", bundle) == []
