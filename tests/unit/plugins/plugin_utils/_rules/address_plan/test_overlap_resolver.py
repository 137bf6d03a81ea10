# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from rules import findings, healthy


def with_resolver(address, pod="10.244.0.0/16"):
    bundle = healthy("host")
    bundle["intent"]["pod_cidr"] = pod
    bundle["nodes"]["node2"]["resolv_conf"] = f"search example.internal\nnameserver {address}\n"
    return findings("overlap-resolver", bundle)


def test_a_resolver_in_the_pod_range():
    (found,) = with_resolver("172.16.0.23", "172.16.0.0/12")
    assert (found.severity, found.where) == ("error", ["node2"])


def test_a_resolver_in_the_service_range():
    assert len(with_resolver("10.100.0.53")) == 1


def test_cluster_dns_itself_and_others_are_right():
    assert with_resolver("10.96.0.10") == with_resolver("192.168.10.1") == with_resolver("127.0.0.53") == []
