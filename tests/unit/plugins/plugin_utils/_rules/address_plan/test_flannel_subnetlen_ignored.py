# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy


def running(text):
    bundle = healthy()
    bundle["cluster"]["flannel_config"]["net-conf.json"] = text
    return [one.severity for one in findings("flannel-subnetlen-ignored", bundle)]


def test_another_size_than_the_nodes_have():
    assert running('{"Network": "10.244.0.0/16", "SubnetLen": 26, "Backend": {"Type": "vxlan"}}') == ["warning"]


def test_the_size_that_the_nodes_have_is_only_noted():
    assert running('{"Network": "10.244.0.0/16", "SubnetLen": 24, "Backend": {"Type": "vxlan"}}') == ["info"]


def test_in_a_plan_it_is_an_error_for_the_plan_will_not_come_true():
    bundle = healthy("intent")
    bundle["intent"]["net_conf"] = '{"Network": "10.244.0.0/16", "SubnetLen": 20, "Backend": {"Type": "vxlan"}}'
    assert [one.severity for one in findings("flannel-subnetlen-ignored", bundle)] == ["error"]


def test_without_these_keys_nothing():
    assert findings("flannel-subnetlen-ignored", healthy()) == []
