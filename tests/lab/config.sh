# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2034  # names, versions and places of the lab, read by the other parts
lab=${PODNET_LAB:-podnet}
[[ $lab =~ ^[a-z][a-z0-9]{0,11}$ ]] || { echo "PODNET_LAB is '$lab'; it must be up to twelve lower-case letters and digits, a letter first." >&2; exit 2; }
lab_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${PODNET_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/podnet.kubeadm}
export PODNET_CACHE=$cache
state=$cache/labs/$lab            # one lab: its subnet, inventory, nodes' data, process ids
label=podnet.kubeadm.lab          # on everything podman keeps for labs; its value is the lab's name
architecture=$(dpkg --print-architecture)

kubernetes_version=v1.37.2
containerd_version=2.4.2
crictl_version=1.37.0
cni_version=1.10.0
flannel_version=v0.28.10
busybox_image=docker.io/library/busybox:1.37
debian_mirror=${PODNET_DEBIAN_MIRROR:-http://deb.debian.org/debian}
declare -A suites=([12]=bookworm [13]=trixie)

packages_port=8081
registry_port=5000

# once FOLDER COMMAND...: runs COMMAND with an empty folder as its last argument, which becomes FOLDER by a rename when
# it succeeded; does nothing where FOLDER is there. One run at a time; what a killed run left is removed.
once() {
    local folder=$1 part
    shift
    [ ! -d "$folder" ] || return 0
    mkdir -p "$(dirname "$folder")"
    (
        flock -w 3000 9 || refuse 3 "Another run has been making $folder for 50 minutes."
        [ ! -d "$folder" ] || exit 0
        rm -rf "$folder".part.*
        part=$(mktemp -d "$folder.part.XXXXXX")
        chmod 755 "$part"
        "$@" "$part"
        mv -T "$part" "$folder"
    ) 9>"$folder.lock"
}

# digest FILE... : a short hash of files and of the arguments after --
digest() {
    local files=()
    while [ $# -gt 0 ] && [ "$1" != -- ]; do files+=("$1"); shift; done
    { cat "${files[@]}"; echo "$@"; } | sha256sum | cut -c1-12
}

# until_true SECONDS COMMAND...: waits for COMMAND to succeed, at most so long.
until_true() {
    local end=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.1
    done
}
