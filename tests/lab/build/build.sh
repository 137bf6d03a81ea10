#!/usr/bin/env bash
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# build.sh [PRODUCT...]: builds the lab's components from their Go modules, each product by the go.mod of its own folder,
# whose `tool` lines are the list of its commands. Prints one line per product: NAME FOLDER.
# Result: $PODNET_CACHE/components/PRODUCT-KEY/, where KEY covers the folder, the settings below and Go's version;
# it appears by a rename, so that a run killed half way leaves nothing that looks finished.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${PODNET_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/podnet.kubeadm}
products=(kubernetes containerd etcd coredns crictl flannel cni-plugins flannel-cni runc)

# settings PRODUCT: sets cgo, tags and ldflags of a product, beside those all have.
settings() {
    cgo=0 tags='' ldflags=''
    local version
    version=$(awk '$1 == "//" && $2 == "version" { print $3 }' "$here/$1/go.mod")
    case $1 in
    kubernetes*)
        tags=selinux,notest,grpcnotrace
        local package
        for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
            ldflags+=" -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=$(cut -d. -f2 <<<"$version")"
            ldflags+=" -X $package.gitTreeState=clean -X $package.gitCommit=0000000000000000000000000000000000000000"
            ldflags+=" -X $package.buildDate=2026-01-01T00:00:00Z"
        done ;;
    containerd)
        tags=no_btrfs,no_devmapper,no_zfs,no_aufs
        ldflags="-X github.com/containerd/containerd/v2/version.Version=$version" ;;
    crictl)
        ldflags="-X sigs.k8s.io/cri-tools/pkg/version.Version=$version" ;;
    flannel) # its udp backend is C
        cgo=1 tags=netgo,osusergo
        ldflags="-extldflags \"-static\" -X github.com/flannel-io/flannel/pkg/version.Version=$version" ;;
    runc) # without seccomp every sandbox fails; static, so that it runs on an older Debian than this machine's
        cgo=1 tags=seccomp,netgo,osusergo
        ldflags="-extldflags \"-static\" -X main.version=${version#v}" ;;
    esac
}

# key PRODUCT: what the result depends on, as a short hash.
key() {
    settings "$1"
    { (cd "$here/$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum); echo "$cgo|$tags|$ldflags"; go version; } | sha256sum | cut -c1-12
}

build() {
    local product=$1 target=$2 part started=$SECONDS
    part=$(mktemp -d "$cache/components/.part.XXXXXX")
    settings "$product"
    echo "    building $product ..." >&2
    (cd "$here/$product" && CGO_ENABLED=$cgo GOFLAGS='-mod=readonly -buildvcs=false' \
        timeout 2400 go build -trimpath -tags "$tags" -ldflags "-s -w $ldflags" -o "$part/" tool) >"$part/build.log" 2>&1 || {
        tail -n 20 "$part/build.log" >&2
        echo "The build of $product failed; the lines above are the last ones of Go's answer." >&2
        rm -rf "$part"
        return 1
    }
    case $product in # commands that are named after their module's folder
    etcd) mv "$part/server" "$part/etcd" ;;
    flannel) mv "$part/flannel" "$part/flanneld"
        cp "$(cd "$here/flannel" && go list -mod=readonly -m -f '{{.Dir}}' github.com/flannel-io/flannel)/Documentation/kube-flannel.yml" "$part/" ;;
    esac
    chmod 755 "$part"
    mv -T "$part" "$target"
    echo "    built $product in $((SECONDS - started)) s" >&2
}

mkdir -p "$cache/components"
export GOMODCACHE=$cache/go/mod GOCACHE=$cache/go/build GOTOOLCHAIN=local
exec 9>"$cache/components/.lock"
flock -n 9 || { echo "    another run builds components; waiting for it" >&2; flock -w 3000 9; }
rm -rf "$cache"/components/.part.*
for product in "${@:-${products[@]}}"; do
    target=$cache/components/$product-$(key "$product")
    [ -d "$target" ] || build "$product" "$target"
    echo "$product $target"
done
