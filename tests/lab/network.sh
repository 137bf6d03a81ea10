# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154
#
# The lab's network: a bridge whose nodes have a default route, a seal on this machine that ends it here, and a namespace
# that plays the outside.

# claim_subnet: sets index, address and the rest; a lab keeps the index it got first.
claim_subnet() {
    mkdir -p "$state"
    if [ ! -s "$state/index" ]; then
        (
            flock -w 30 9
            for index in $(seq 0 99); do
                ! grep -qsx "$index" "$cache"/labs/*/index || continue
                [ -z "$(ip -4 route show "10.211.$index.0/24"; ip -4 route show "10.212.$index.0/30")" ] || continue
                echo "$index" >"$state/index"
                exit
            done
            refuse 3 "All hundred subnets of labs, 10.211.0.0/24 to 10.211.99.0/24, are taken on this machine."
        ) 9>"$cache/labs/.lock"
    fi
    index=$(<"$state/index")
    prefix=10.211.$index
    prefix6=fd00:211:$index:
    address=$prefix.1
    network=podnet-$lab
    table=podnet_lab_$lab
    outside=podnet-$lab-outside
    outside_link=pnout$index
    outside_address=10.212.$index.2
}

ipv6() { [ "$(cat /proc/sys/net/ipv6/conf/all/disable_ipv6 2>/dev/null || echo 1)" = 0 ]; }

# bridge_name: the name podman gave to the lab's bridge.
bridge_name() { podman network inspect "$network" | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["network_interface"])'; }

make_network() {
    local options=(--disable-dns --label "$label=$lab" --subnet "$prefix.0/24" --gateway "$address")
    if ipv6; then options+=(--ipv6 --subnet "$prefix6:/64" --gateway "$prefix6:1"); fi
    podman network exists "$network" || podman network create "${options[@]}" "$network" >/dev/null
    bridge=$(bridge_name)
    # The mirror listens on the bridge's address before the first node makes podman set the bridge up.
    ip link show "$bridge" >/dev/null 2>&1 || ip link add "$bridge" type bridge
    ip -4 address show dev "$bridge" | grep -qF "$address/" || ip address add "$address/24" dev "$bridge"
    ip link set "$bridge" up
    seal
    make_outside
}

# seal: what nodes send ends at the bridge, but for the mirror's ports. Traffic between nodes passes this machine's forward
# hook where bridges are filtered (in and out by the bridge), and must be neither dropped nor rewritten there.
seal() {
    nft -f - <<NFT
table inet $table
delete table inet $table
table inet $table {
    chain opened { }
    chain raw {
        type filter hook prerouting priority raw; policy accept;
        iifname "$bridge" ip daddr != $address notrack
        iifname "$bridge" ip6 daddr != { $prefix6:1, fe80::/10, ff00::/8 } notrack
    }
    chain forward {
        type filter hook forward priority -10; policy accept;
        jump opened
        iifname "$bridge" oifname != "$bridge" counter drop
        iifname != "$bridge" oifname "$bridge" counter drop
    }
    chain input {
        type filter hook input priority -10; policy accept;
        iifname != "$bridge" accept
        ct state established,related accept
        ip daddr $address tcp dport { $packages_port, $registry_port } accept
        meta l4proto { icmp, ipv6-icmp } accept
        udp dport 53 reject
        counter drop
    }
}
NFT
}

make_outside() {
    ip netns list | grep -qw "$outside" || ip netns add "$outside"
    ip link show "$outside_link" >/dev/null 2>&1 && return
    ip link add "$outside_link" type veth peer name eth0 netns "$outside"
    ip address add "10.212.$index.1/30" dev "$outside_link"
    ip link set "$outside_link" up
    ip -n "$outside" link set lo up
    ip -n "$outside" address add "$outside_address/30" dev eth0
    ip -n "$outside" link set eth0 up
    ip -n "$outside" route add default via "10.212.$index.1"
}

# open_outside, close_outside: whether nodes reach the namespace outside.
open_outside() {
    close_outside
    nft add rule inet "$table" opened iifname "$bridge" oifname "$outside_link" accept
    nft add rule inet "$table" opened iifname "$outside_link" oifname "$bridge" accept
}
close_outside() { nft flush chain inet "$table" opened; }

remove_network() {
    ip netns delete "$outside" 2>/dev/null || true
    ip link delete "$outside_link" 2>/dev/null || true
    if podman network exists "$network"; then
        bridge=$(bridge_name)
        podman network rm "$network" >/dev/null
        ip link delete "$bridge" 2>/dev/null || true
    fi
    nft delete table inet "$table" 2>/dev/null || true
}
