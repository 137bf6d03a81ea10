# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

import pytest
from rules import findings, healthy, heard_of_node2, undetermined

BRIDGE = json.dumps({"cniVersion": "0.4.0", "name": "other", "plugins": [{"type": "bridge", "bridge": "other0"}]})
FLANNEL = json.dumps({"name": "all", "plugins": [{"type": "multus", "delegates": [{"type": "flannel"}]}]})


def with_file(name, text=BRIDGE, base="cluster"):
    bundle = healthy(base)
    bundle["nodes"]["node2"]["cni_config"][name] = text
    return bundle


def strayed(bundle, address="10.88.0.3"):
    for pod in bundle["cluster"]["pods"]["items"]:
        if pod["spec"].get("nodeName") == "node2" and not pod["spec"].get("hostNetwork"):
            pod["status"].update(podIP=address, podIPs=[{"ip": address}])
    return bundle


@pytest.mark.parametrize("name", ["00-other.conflist", "05-cilium.conf", "10-containerd-net.conflist"])
def test_a_file_that_sorts_first(name):
    (found,) = findings("cni-foreign-config", with_file(name))
    assert (found.severity, found.where) == ("error", ["node2"])


def test_a_file_that_sorts_first_and_cannot_be_read():
    assert findings("cni-foreign-config", with_file("00-broken.conflist", "{"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("87-podman-bridge.conflist", BRIDGE),
        ("100-crio-bridge.conflist", BRIDGE),
        ("00-multus.conf", FLANNEL),
        ("00-old.conflist.bak", BRIDGE),
        ("00-loopback.conf", '{"type": "loopback"}'),
    ],
)
def test_what_looks_like_it(name, text):
    assert findings("cni-foreign-config", with_file(name, text)) == []


def test_pods_that_keep_foreign_addresses():
    (found,) = findings("cni-foreign-config", strayed(with_file("87-podman-bridge.conflist")))
    assert found.where == ["node2"]
    (found,) = findings("cni-foreign-config", strayed(healthy()))  # the file was taken away, the pods were not
    assert "not seen" in found.summary


def test_a_file_that_flannels_will_precede_once_flannel_runs_there():
    bundle = with_file("87-podman-bridge.conflist")
    del bundle["nodes"]["node2"]["cni_config"]["10-flannel.conflist"]
    assert [found.severity for found in findings("cni-foreign-config", bundle)] == ["warning"]


def test_without_flannel_there_is_nothing_to_keep_out():
    bundle = with_file("00-other.conflist")
    bundle["cluster"]["daemonsets"]["items"] = []
    assert findings("cni-foreign-config", bundle) == []


def test_before_the_cluster_only_what_would_win():
    assert findings("cni-foreign-config", with_file("10-calico.conflist", base="host"))
    assert findings("cni-foreign-config", with_file("87-podman-bridge.conflist", base="host")) == []


def test_cri_o_takes_the_network_of_a_name():
    bundle = with_file("00-other.conflist")
    bundle["nodes"]["node2"]["runtime"]["config"] = 'cni_default_network = "cbr0"\n'
    assert findings("cni-foreign-config", bundle) == []


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["cni_config"]
    assert [missed.key for missed in undetermined("cni-foreign-config", bundle)] == ["nodes.*.cni_config"]


def test_addresses_that_tell_without_a_file():
    bundle = healthy()
    for pod in bundle["cluster"]["pods"]["items"]:
        if pod["metadata"]["name"] == "web-5bb4cdcfd-tgnz6":  # on node2
            pod["status"].update(podIP="10.88.0.5", podIPs=[{"ip": "10.88.0.5"}])
    assert [(one.severity, one.where) for one in findings("cni-foreign-config", bundle)] == [("error", ["node2"])]
    del bundle["nodes"]["node2"]["cni_config"]
    assert [one.where for one in findings("cni-foreign-config", bundle)] == [["node2"]]
    del bundle["nodes"]["node2"]
    assert [one.where for one in findings("cni-foreign-config", bundle)] == [["node2"]]
    bundle["cluster"]["pods"]["items"][0]["status"].update(podIP="10.245.0.5", podIPs=[{"ip": "10.245.0.5"}])
    assert findings("cni-foreign-config", bundle) == []  # of a former pod range, see live-cidr-change


def test_a_plugin_that_fails_is_enough():
    words = 'plugin type="weave-net" name="weave" failed (add): unable to allocate IP address: connection refused'
    assert "Weave" in findings("cni-foreign-config", heard_of_node2(words))[0].summary
    assert findings("cni-foreign-config", heard_of_node2(words.replace("weave-net", "portmap"))) == []
