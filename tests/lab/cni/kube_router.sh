# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154
#
# kube-router, as an image in this lab's registry: what enforces network policies beside flannel, or is a second network.
# No cluster needs it, so it is built where a fault asks for it, and is none of the mirror's products.

kube_router_image=docker.io/cloudnativelabs/kube-router:v2.1.0

kube_router() {
    local source=$lab_folder/cni/kube-router bin=/usr/local/bin/kube-router package library folder
    PATH=$(go_path):$PATH
    folder=$cache/components/kube-router-$(digest "$source"/go.{mod,sum} "$lab_folder/cni/kube_router.sh" -- "$(go version)")
    once "$folder" build_kube_router "$source" >&2
    for package in "$(root_folder 12)"/debs/{ipset,libipset13}_*.deb; do dpkg-deb -x "$package" "$work/ipset"; done
    library=$(cd "$work/ipset" && find . -name 'libipset.so.13')
    python3 "$lab_folder/mirror/image.py" "$work/image.tar" "$kube_router_image" $bin --base "$(image_base)" \
        "$bin=$folder/kube-router" "/usr/sbin/ipset=$work/ipset/usr/sbin/ipset" "${library#.}=$work/ipset/$library"
    timeout 120 skopeo copy -q --insecure-policy --dest-tls-verify=false --dest-compress-level 1 \
        "docker-archive:$work/image.tar" "docker://$address:$registry_port/${kube_router_image#*/}" </dev/null
    echo "$kube_router_image"
}

# build_kube_router SOURCE FOLDER
build_kube_router() {
    say "    building kube-router"
    export GOMODCACHE=$cache/go/mod GOCACHE=$cache/go/build GOTOOLCHAIN=local
    (cd "$1" && CGO_ENABLED=0 GOFLAGS='-mod=readonly -buildvcs=false' timeout 1200 go build -trimpath \
        -ldflags "-s -w -X github.com/cloudnativelabs/kube-router/v2/pkg/version.Version=${kube_router_image##*:}" -o "$2/" tool) >"$2/build.log" 2>&1 ||
        { tail -n 20 "$2/build.log" >&2; refuse 3 "The build of kube-router failed; the lines above are the last ones of Go's answer."; }
}
