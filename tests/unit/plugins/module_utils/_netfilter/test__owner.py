# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter import Ruleset, owner_of
from ansible_collections.podnet.kubeadm.plugins.module_utils._netfilter._model import Chain, Table


@pytest.mark.parametrize(
    ("table", "owner"),
    [
        ("firewalld", "firewalld"), ("kube-proxy", "kube-proxy"), ("flannel-ipv4", "flannel"),
        ("flannel-ipv6", "flannel"), ("flannel-ipv5", None), ("calico", "calico"), ("calico2", None),
        ("kube-router-filter", "kube-router"), ("podnet_kubeadm", "podnet.kubeadm"), ("libvirt_network", "libvirt"),
        ("filter", None), ("f2b-table", "fail2ban"),
    ],
)  # fmt: skip
def test_tables_by_their_names(table: str, owner: str | None) -> None:
    assert owner_of(Chain("c", Table("inet", table, "nft"))) == owner


@pytest.mark.parametrize(
    ("chain", "owner"),
    [
        ("KUBE-ROUTER-FORWARD", "kube-router"), ("KUBE-FIREWALL", "kubelet"), ("KUBE-KUBELET-CANARY", "kubelet"),
        ("KUBE-FORWARD", "kube-proxy"), ("FLANNEL-FWD", "flannel"), ("CNI-HOSTPORT-DNAT", "portmap"),
        ("ufw-before-forward", "ufw"), ("ufw6-user-input", "ufw"), ("DOCKER-USER", "docker"),
        ("LIBVIRT_FWI", "libvirt"), ("cali-FORWARD", "calico"), ("CILIUM_FORWARD", "cilium"),
        ("PODNET-FORWARD", "podnet.kubeadm"),
        ("FWDI_public", "firewalld"), ("FWDO_public", "firewalld"), ("FWD_public", "firewalld"),
        ("FORWARD_IN_ZONES", "firewalld"), ("FORWARD_POLICIES_pre", "firewalld"), ("INPUT_ZONES", "firewalld"),
        ("INPUT_ZONES_SOURCE", "firewalld"), ("IN_public_allow", "firewalld"), ("FORWARD_direct", None),
        ("INPUT", None), ("MY-KUBE-FORWARD", None), ("FORWARD", None),
    ],
)  # fmt: skip
def test_chains_by_their_names(chain: str, owner: str | None) -> None:
    assert owner_of(Chain(chain, Table("ip", "filter", "nft"))) == owner


@pytest.mark.parametrize(
    ("policy", "rules", "owner"),
    [
        ("DROP", ("-j DOCKER-USER",), "docker"),
        ("DROP", ("-j DOCKER-USER", "-j ufw-before-forward"), "ufw"),  # docker leaves the policy as it is then
        ("DROP", ("-j FORWARD_IN_ZONES", "-j DOCKER-USER"), "docker"),
        ("ACCEPT", ("-j DOCKER-USER",), None),
        ("DROP", ("-j KUBE-FORWARD",), None),
        ("DROP", (), None),
    ],
)
def test_a_shared_chain_is_owned_by_who_sets_its_policy(policy: str, rules: tuple[str, ...], owner: str | None) -> None:
    text = "\n".join(["*filter", f":FORWARD {policy} [0:0]", *(f"-A FORWARD {one}" for one in rules), "COMMIT", ""])
    tables = Ruleset.from_evidence({"iptables": {"nft": text}}).tables
    assert owner_of(tables[0].chains["FORWARD"]) == owner
