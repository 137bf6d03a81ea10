# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import flannel_pod, kube_node, link, not_ready
from rules import findings, healthy, undetermined

PREFIX = "flannel.alpha.coreos.com/"


def without_link() -> dict:
    bundle = healthy()
    bundle["nodes"]["node2"]["ip_address"].remove(link(bundle, "node2", "flannel.1"))
    return bundle


def test_no_tunnel_although_flannel_runs():
    (found,) = findings("flannel-link-missing", without_link())
    assert (found.severity, found.where) == ("error", ["node2"])


def test_a_tunnel_that_is_down():
    bundle = healthy()
    link(bundle, "node2", "flannel.1")["flags"] = ["BROADCAST", "MULTICAST"]
    assert "is down" in findings("flannel-link-missing", bundle)[0].summary


def test_a_consequence_where_flannel_does_not_run():
    bundle = without_link()
    not_ready(flannel_pod(bundle))
    assert [one.severity for one in findings("flannel-link-missing", bundle)] == ["info"]


def test_the_link_is_the_backends():
    bundle = without_link()
    conf = bundle["cluster"]["flannel_config"]
    conf["net-conf.json"] = '{"Network": "10.244.0.0/16", "Backend": {"Type": "host-gw"}}'
    assert findings("flannel-link-missing", bundle) != []  # flannel has not been restarted yet
    annotations = kube_node(bundle, "node2")["metadata"]["annotations"]
    annotations[f"{PREFIX}backend-type"] = "host-gw"
    assert findings("flannel-link-missing", bundle) == []


def test_the_vni_is_in_the_links_name():
    bundle = healthy()
    annotations = kube_node(bundle, "node2")["metadata"]["annotations"]
    annotations[f"{PREFIX}backend-data"] = '{"VNI": 4096, "VtepMAC": "5e:39:90:9d:83:12"}'
    assert findings("flannel-link-missing", bundle)[0].evidence["link"] == "flannel.4096"


def test_no_cni0_is_no_fault():
    bundle = healthy()
    bundle["nodes"]["node3"]["ip_address"].remove(link(bundle, "node3", "cni0"))
    assert findings("flannel-link-missing", bundle) == []


def test_without_links_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["ip_address"]
    assert undetermined("flannel-link-missing", bundle)[0].key == "nodes.*.ip_address"
