# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154,SC2034
#
# What upstream answers with, where it answers: packages by apt, so that its signature is checked, and images by skopeo.
# PODNET_UPSTREAM=no builds everything from source without asking.
kubernetes_upstream=${PODNET_UPSTREAM_KUBERNETES:-https://pkgs.k8s.io}
kubernetes_fingerprint=${PODNET_UPSTREAM_KUBERNETES_KEY:-DE15B14486CD377B9E876E1A234654DA9A296436}
docker_upstream=${PODNET_UPSTREAM_DOCKER:-https://download.docker.com/linux/debian}
docker_fingerprint=${PODNET_UPSTREAM_DOCKER_KEY:-9DC858229FC7DD38854AE2D88D81803C0EBFCD88}
flannel_manifest=https://github.com/flannel-io/flannel/releases/download/$flannel_version/kube-flannel.yml

# answers URL: whether upstream may be asked, and has it.
answers() { [ "${PODNET_UPSTREAM:-yes}" != no ] && curl -fsSL -m 5 -o /dev/null "$1" 2>/dev/null; }

# upstream_debs FOLDER KEY_URL FINGERPRINT "URI SUITE COMPONENTS" PACKAGE[=VERSION]...: into FOLDER, by an apt of its own.
upstream_debs() {
    local folder=$1 key_url=$2 fingerprint=$3 source=$4 apt=$work/apt found
    shift 4
    rm -rf "$apt"
    mkdir -p "$folder" "$apt"/{lists,archives}/partial
    curl -fsSL -m 20 -o "$apt/key.asc" "$key_url" || return
    found=$(gpg --homedir "$(lab_keys)/gnupg" --batch --show-keys --with-colons "$apt/key.asc" | awk -F: '$1 == "fpr" { print $10 }')
    grep -qx "$fingerprint" <<<"$found" || refuse 3 "The key at $key_url has not the fingerprint $fingerprint but: $found"
    echo "deb [arch=$architecture signed-by=$apt/key.asc] $source" >"$apt/sources.list"
    : >"$apt/status"
    local options=(-qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/nowhere -o "Dir::State::lists=$apt/lists"
        -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt" -o APT::Sandbox::User=root)
    timeout 120 apt-get "${options[@]}" update >&2 && (cd "$folder" && timeout 600 apt-get "${options[@]}" download "$@" >&2)
}

# upstream_image REFERENCE REGISTRY: copies an image from the registry that its name begins with.
upstream_image() {
    [ "${PODNET_UPSTREAM:-yes}" != no ] && curl -sS -m 5 -o /dev/null "https://${1%%/*}/v2/" 2>/dev/null &&
        timeout 600 skopeo copy -q --insecure-policy --override-os linux --dest-tls-verify=false "docker://$1" "docker://$2/${1#*/}"
}
