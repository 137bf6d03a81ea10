# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whose rules these are, as far as their names tell."""

from __future__ import annotations

import functools
import re

from ._model import Chain

# Names that software gives to its tables and chains, and to the chains it jumps to from the shared ones.
_TABLES = (
    (re.compile(r"^firewalld$"), "firewalld"),
    (re.compile(r"^kube-proxy$"), "kube-proxy"),
    (re.compile(r"^flannel-ipv[46]$"), "flannel"),
    (re.compile(r"^kube-network-policies"), "kube-network-policies"),
    (re.compile(r"^docker-bridges$"), "docker"),
    (re.compile(r"^libvirt_network$"), "libvirt"),
    (re.compile(r"^(netavark)$"), "netavark"),
    (re.compile(r"^(cni_hostport)$"), "portmap"),
    (re.compile(r"^calico$"), "calico"),
    (re.compile(r"^(kube-router|kube-router-.*)$"), "kube-router"),
    (re.compile(r"^podnet"), "podnet.kubeadm"),
    (re.compile(r"^incus|^lxd$|^lxc$"), "lxd"),
    (re.compile(r"^fail2ban|^f2b-"), "fail2ban"),
    (re.compile(r"^crowdsec"), "crowdsec"),
)
_CHAINS = (
    (re.compile(r"^KUBE-(ROUTER|POD-FW|NWPLCY|DEFAULT-NWPLCY)"), "kube-router"),
    (re.compile(r"^KUBE-(KUBELET|IPTABLES-HINT|FIREWALL)"), "kubelet"),
    (re.compile(r"^KUBE-"), "kube-proxy"),
    (re.compile(r"^FLANNEL-"), "flannel"),
    (re.compile(r"^PODNET-"), "podnet.kubeadm"),
    (re.compile(r"^CNI-"), "portmap"),
    (re.compile(r"^ufw6?-"), "ufw"),
    (re.compile(r"^DOCKER"), "docker"),
    (re.compile(r"^LIBVIRT_"), "libvirt"),
    (re.compile(r"^cali-"), "calico"),
    (re.compile(r"^CILIUM_"), "cilium"),
    (re.compile(r"^WEAVE"), "weave"),
    (re.compile(r"^NETAVARK"), "netavark"),
    (re.compile(r"^f2b-"), "fail2ban"),
    (re.compile(r"^CROWDSEC"), "crowdsec"),
    # Not FORWARD_direct and its like, which hold rules that a person wrote and firewalld asks before its own.
    (re.compile(r"^((FWD[IO]?|IN|PRE|POST)_|(FORWARD|INPUT)_((IN|OUT)_)?(ZONES|POLICIES))"), "firewalld"),
)
# Who gives FORWARD its policy DROP, told by the chains of theirs that it enters; first match wins.
_POLICY = ("ufw", "docker", "firewalld")


def owner_of(chain: Chain) -> str | None:
    """The software whose chain this is, or None. A shared chain (FORWARD) is owned by who sets its policy."""
    named = _by_table(chain.table.name) or _by_name(chain.name)
    if named or not chain.hook:
        return named
    entered = {_by_name(target) for rule in chain.rules for target in rule.find_targets()}
    return next((name for name in _POLICY if name in entered and chain.policy == "drop"), None)


@functools.lru_cache(maxsize=1000)
def _by_table(table: str) -> str | None:
    return next((name for pattern, name in _TABLES if pattern.search(table)), None)


@functools.lru_cache(maxsize=20_000)
def _by_name(chain: str) -> str | None:
    return next((name for pattern, name in _CHAINS if pattern.search(chain)), None)
