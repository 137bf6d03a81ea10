# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154

# make_base FOLDER: the layer under kube-proxy and flannel: iptables, nftables, ip and a shell.
make_base() {
    # extract runs no maintainer scripts, so that the links they would make are made here.
    cat >"$1/links" <<'HOOK'
#!/bin/sh
set -eu
cd "$1"
for name in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do ln -sf xtables-nft-multi "usr/sbin/$name"; done
for name in sh cp cat ls; do ln -sf busybox "bin/$name"; done
rm -rf usr/share/doc usr/share/man usr/share/locale var/lib/apt var/cache
HOOK
    chmod +x "$1/links"
    timeout 300 mmdebstrap --quiet --mode=root --variant=extract --include=iptables,nftables,busybox-static,iproute2 \
        --customize-hook="$1/links \"\$1\"" bookworm "$1/base.tar" "deb $debian_mirror bookworm main" >"$1/log" 2>&1 ||
        { tail -n 20 "$1/log" >&2; refuse 3 "mmdebstrap could not make the layer under kube-proxy and flannel."; }
}
