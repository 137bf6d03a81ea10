# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases of forward_policy.py: what is done to a node's firewall, and what has to come of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

CIDR = "10.244.0.0/16"
CIDR6 = "fd42::/48"

NFT_FILE = """table inet filter {
  chain forward {
    type filter hook forward priority %s; policy drop;
    ct state established,related accept
  }
}
"""


@dataclass
class Case:
    """up and down: shell on the node. drops: whether pods are cut off. by: what the rule's place has to contain.

    remedy: what `permitted` answers, or None where it has to refuse. accepted_first: in flannel's iptables mode its own
    accept comes first, so nothing is dropped. bare: not on a node of a cluster, whose rules it would flush.
    """

    name: str
    up: str
    down: str
    drops: bool
    by: str = ""
    remedy: str | None = None
    accepted_first: bool = False
    bare: bool = False
    restart: str = ""  # a service that keeps the rules; our own has to be there after it was restarted
    denied: bool = False  # a pair of addresses is denied, and has to stay so
    needs: str = ""  # a command of the package that the case is about
    closes: bool = False  # the host's own ports are closed as well, the tunnel's with them
    on_cluster: str = ""  # up, where kube-proxy's rules may not be flushed; nothing is restarted then


IPT = "iptables-nft"
OWN_ACCEPT = f"{IPT} -A FORWARD -s {CIDR} -j ACCEPT; {IPT} -A FORWARD -d {CIDR} -j ACCEPT"
NO_ACCEPT = f"{IPT} -D FORWARD -s {CIDR} -j ACCEPT; {IPT} -D FORWARD -d {CIDR} -j ACCEPT"
OPEN = f"{IPT} -P FORWARD ACCEPT"
REJECT = "-j REJECT --reject-with icmp-host-prohibited"
DENIED = {"4": ("10.244.200.9", "10.244.201.9"), "6": ("fd42:0:0:200::9", "fd42:0:0:201::9")}  # that no pod has
PAIR = "FORWARD -s 10.244.200.9 -d 10.244.201.9 -j DROP"
# As kube-router lays out its chains: what a policy denies is rejected, the rest goes on.
POLICIES = (
    f"{IPT} -N KUBE-ROUTER-FORWARD; {IPT} -N KUBE-POD-FW-LAB; {IPT} -A KUBE-ROUTER-FORWARD -j KUBE-POD-FW-LAB; "
    f"{IPT} -A KUBE-POD-FW-LAB -s 10.244.200.9 -d 10.244.201.9 -j REJECT"
)
NO_POLICIES = (
    f"for c in KUBE-ROUTER-FORWARD KUBE-POD-FW-LAB; do {IPT} -F $c; done; "
    f"for c in KUBE-ROUTER-FORWARD KUBE-POD-FW-LAB; do {IPT} -X $c; done"
)
ON_FORWARD = "filter/FORWARD"
# A firewalld that is stopped too soon after its start leaves its table behind.
FIREWALLD_OFF = "systemctl stop firewalld; nft delete table inet firewalld 2>/dev/null"
# ufw leaves its chains behind, and in the next case they would be taken for those of a ufw that is off.
NO_UFW = f"{IPT}-save | grep -v ufw > /root/without-ufw.rules; {IPT}-restore < /root/without-ufw.rules"

CASES = [
    Case("nothing", "true", "true", drops=False),
    Case("policy DROP, nft", f"{IPT} -P FORWARD DROP", OPEN, True, "policy drop", ON_FORWARD, accepted_first=True),
    Case("policy DROP behind an accept of the pods", f"{IPT} -P FORWARD DROP; {OWN_ACCEPT}", f"{NO_ACCEPT}; {OPEN}",
         False, bare=True),
    Case("policy DROP, legacy", "iptables-legacy -P FORWARD DROP", "iptables-legacy -P FORWARD ACCEPT", True,
         "policy drop", ON_FORWARD),
    Case("REJECT at the head", f"{IPT} -I FORWARD 1 -j REJECT", f"{IPT} -D FORWARD -j REJECT", True, "REJECT",
         ON_FORWARD),
    Case("REJECT at the end", f"{IPT} -A FORWARD {REJECT}", f"{IPT} -D FORWARD {REJECT}", True, "REJECT", ON_FORWARD,
         accepted_first=True),
    Case("REJECT at the end, behind an accept", f"{OWN_ACCEPT}; {IPT} -A FORWARD {REJECT}",
         f"{NO_ACCEPT}; {IPT} -D FORWARD {REJECT}", False, bare=True),
    Case("REJECT at the head, a denied pair behind it", f"{IPT} -I FORWARD 1 -j REJECT; {IPT} -A {PAIR}",
         f"{IPT} -D FORWARD -j REJECT; {IPT} -D {PAIR}", True, "REJECT", None),
    Case("policy DROP, a denied pair before it", f"{IPT} -P FORWARD DROP; {IPT} -A {PAIR}", f"{IPT} -D {PAIR}; {OPEN}",
         True, "policy drop", ON_FORWARD, accepted_first=True, denied=True),
    Case("REJECT at the head, a policy engine's chains behind it",
         f"{POLICIES}; {IPT} -I FORWARD 1 -j KUBE-ROUTER-FORWARD; {IPT} -I FORWARD 1 -j REJECT",
         f"{IPT} -D FORWARD -j REJECT; {IPT} -D FORWARD -j KUBE-ROUTER-FORWARD; {NO_POLICIES}", True, "REJECT", None),
    Case("policy DROP, a policy engine's chains before it",
         f"{POLICIES}; {IPT} -I FORWARD 1 -j KUBE-ROUTER-FORWARD; {IPT} -P FORWARD DROP",
         f"{OPEN}; {IPT} -D FORWARD -j KUBE-ROUTER-FORWARD; {NO_POLICIES}", True, "policy drop", ON_FORWARD,
         accepted_first=True, denied=True),
    *(
        Case(f"inet table, policy drop, priority {priority}, loaded by hand",
             "nft -f - <<'END'\n" + (NFT_FILE % priority).replace("filter {", "mine {") + "END\n",
             "nft delete table inet mine", True, "policy drop", None)
        for priority in ("-10", "0", "10")
    ),
    Case("inet table, policy drop, in /etc/nftables.conf",
         "cp /etc/nftables.conf /root/nftables.conf.before; "
         f"(echo 'flush ruleset'; cat <<'END'\n{NFT_FILE % '0'}END\n) > /etc/nftables.conf; systemctl start nftables",
         "systemctl -q is-active nftables && systemctl stop nftables; nft delete table inet filter 2>/dev/null; "
         "cp /root/nftables.conf.before /etc/nftables.conf",
         True, "policy drop", "filter/forward", restart="nftables", needs="nft",
         on_cluster="cp /etc/nftables.conf /root/nftables.conf.before; "
         f"cat > /etc/nftables.conf <<'END'\n{NFT_FILE % '0'}END\nnft -f /etc/nftables.conf"),
    Case("firewalld, default zones", "systemctl start firewalld", FIREWALLD_OFF, True, "firewalld",
         "firewalld", restart="firewalld", needs="firewall-cmd", closes=True),
    Case("ufw, routed deny", "ufw allow 22/tcp >/dev/null; ufw --force enable; systemctl start ufw",
         f"ufw --force disable; ufw --force delete allow 22/tcp; {OPEN}; {IPT} -P INPUT ACCEPT; {NO_UFW}", True,
         "ufw", "ufw",
         accepted_first=True, restart="ufw", needs="ufw", closes=True),
    # Docker sets its policy only where it is the one who turns forwarding on.
    Case("Docker's DROP", f"{IPT}-save > /root/before.rules; systemctl start docker; {IPT} -P FORWARD DROP",
         f"systemctl stop docker docker.socket; {IPT}-restore < /root/before.rules", True, "docker",
         "filter/DOCKER-USER", accepted_first=True, restart="docker", needs="dockerd"),
]  # fmt: skip


def for_ipv6(case: Case) -> Case:
    """The same case for IPv6; Docker leaves it alone."""

    def text(words: str) -> str:
        for old, new in (("iptables", "ip6tables"), (CIDR, CIDR6), ("icmp-host-prohibited", "icmp6-adm-prohibited"),
                         *zip(DENIED["4"], DENIED["6"])):  # fmt: skip
            words = words.replace(old, new)
        return words

    return replace(case, up=text(case.up), down=text(case.down))
