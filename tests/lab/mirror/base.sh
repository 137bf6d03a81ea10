# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154

# make_base FOLDER: the layer under kube-proxy and flannel: iptables, nftables, ip and a shell.
make_base() {
    local root=$1/root name
    timeout 300 mmdebstrap --quiet --mode=root --format=directory --variant=extract --include=iptables,nftables,busybox-static,iproute2 \
        bookworm "$root" "deb $debian_mirror bookworm main" >"$1/log" 2>&1 ||
        { tail -n 20 "$1/log" >&2; refuse 3 "mmdebstrap could not make the layer under kube-proxy and flannel."; }
    # extract runs no maintainer scripts, so the links they would make are made here.
    for name in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do ln -sf xtables-nft-multi "$root/usr/sbin/$name"; done
    for name in sh cp cat ls; do ln -sf busybox "$root/bin/$name"; done
    tar -C "$root" --sort=name --exclude='./dev/*' --exclude=./usr/share/doc --exclude=./usr/share/man --exclude=./usr/share/locale \
        --exclude=./var/lib/apt --exclude=./var/cache -cf "$1/base.tar" .
    rm -rf "$root"
}
