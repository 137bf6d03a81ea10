# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import flannel_pod, log, pods, probe, remove_pods, waits
from rules import findings, healthy, heard_alone, heard_of_node2

TIMEOUT = "Failed to create SubnetManager: error retrieving pod spec: Get: dial tcp 10.96.0.1:443: i/o timeout"


def test_a_probe_that_got_no_answer():
    bundle = healthy()
    probe(bundle, "tcp/service", sender="node2")
    (found,) = findings("service-path-broken", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])


def test_without_probes_flannels_log_and_kube_proxy_tell():
    bundle = healthy()
    del bundle["nodes"]["node2"]["probes"]
    pod = flannel_pod(bundle)
    waits(pod, "CrashLoopBackOff")
    log(bundle, pod, TIMEOUT)
    assert "flannel's log" in findings("service-path-broken", bundle)[0].evidence
    waits(pods(bundle, "kube-proxy-", "node2")[0], "CrashLoopBackOff")
    assert "kube-proxy" in findings("service-path-broken", bundle)[0].evidence
    del bundle["nodes"]["node2"]
    assert findings("service-path-broken", bundle)[0].where == ["node2"]


def test_an_address_that_answers_now():
    bundle = healthy()
    pod = flannel_pod(bundle)
    waits(pod, "CrashLoopBackOff")
    log(bundle, pod, TIMEOUT)
    assert findings("service-path-broken", bundle) == []


def test_an_answer_that_refuses_is_an_answer():
    bundle = healthy()
    del bundle["nodes"]["node2"]["probes"]
    pod = flannel_pod(bundle)
    waits(pod, "CrashLoopBackOff")
    log(bundle, pod, "Get https://10.96.0.1:443/api/v1: pods is forbidden")
    assert findings("service-path-broken", bundle) == []


def flushed(bundle) -> None:
    """Takes the way into kube-proxy's rules from node2, as `iptables -t nat -F` does."""
    del bundle["nodes"]["node2"]["probes"]
    rules = bundle["nodes"]["node2"]["iptables"]
    rules["nft"] = "\n".join(line for line in rules["nft"].splitlines() if "-A PREROUTING" not in line)


def test_rules_that_were_flushed_under_a_kube_proxy_that_runs():
    bundle = healthy()
    flushed(bundle)
    (found,) = findings("service-path-broken", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])
    assert found.evidence == {"nat PREROUTING": "has no jump to KUBE-SERVICES although kube-proxy runs"}


def test_a_node_without_kube_proxy_has_none_of_its_rules():
    bundle = healthy()
    flushed(bundle)
    remove_pods(bundle, "kube-proxy-", "node2")
    assert findings("service-path-broken", bundle) == []


def test_in_mode_nftables_the_table_of_kube_proxy_tells():
    bundle = healthy()
    flushed(bundle)
    bundle["cluster"]["kube_proxy_config"] = "mode: nftables\n"
    bundle["nodes"]["node2"]["nft"] = {"nftables": [{"table": {"family": "ip", "name": "kube-proxy"}}]}
    assert findings("service-path-broken", bundle) == []
    bundle["nodes"]["node2"]["nft"] = {"nftables": []}
    (found,) = findings("service-path-broken", bundle)
    assert (found.where, list(found.evidence)) == (["node2"], ["nft table kube-proxy"])


@pytest.mark.parametrize(
    "words",
    [
        "net/http: TLS handshake timeout",
        "EOF",
        "read tcp 192.168.10.12:44300->10.96.0.1:443: read: connection reset by peer",
        "Service Unavailable",
        "x509: certificate is valid for 192.168.1.1, not 10.96.0.1",
    ],
)
def test_what_answers_in_place_of_the_api_server(words):
    bundle = healthy()
    del bundle["nodes"]["node2"]["probes"]
    pod = flannel_pod(bundle)
    waits(pod, "CrashLoopBackOff")
    log(bundle, pod, f'error retrieving pod spec: Get "https://10.96.0.1:443/api/v1/pods/x": {words}')
    assert [(one.severity, one.where) for one in findings("service-path-broken", bundle)] == [("warning", ["node2"])]


def test_flannels_words_are_enough():
    words = "pod spec for 'kube-flannel/x': Get \"https://10.96.0.1:443/api\": dial tcp 10.96.0.1:443: i/o timeout"
    assert findings("service-path-broken", heard_alone(words))[0].where == ["cluster"]
    patch = 'failed to acquire lease: timeout contacting kube-api, failed to patch node "node2". Error: deadline'
    assert findings("service-path-broken", heard_of_node2(patch))[0].where == ["node2"]


def test_another_clusters_certificate_is_told_though_the_port_answers():
    words = 'Get "https://10.96.0.1:443/api": tls: x509: certificate signed by unknown authority'
    (found,) = findings("service-path-broken", heard_of_node2(words, "journal"))
    assert (found.where, found.severity) == (["node2"], "warning")
