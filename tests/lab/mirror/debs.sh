# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154
#
# Debian packages in the shape of pkgs.k8s.io's and Docker's, and the signed repositories that hold them.

# tree PACKAGE: an empty package root under $work; sets root.
tree() { root=$work/tree/$1; rm -rf "$root"; mkdir -p "$root/DEBIAN"; }

# control NAME VERSION LINE...: the control file of the tree at root.
control() {
    { printf '%s\n' "Package: $1" "Version: $2" "Architecture: $architecture" "Maintainer: podnet.kubeadm lab <lab@podnet.invalid>" \
        "Section: misc" "Priority: optional" "${@:3}" "Description: $1, as upstream packages it"; } >"$root/DEBIAN/control"
}

# pack FOLDER: the tree at root as a package in FOLDER; uncompressed, for nothing is gained by packing what crosses a bridge.
pack() { mkdir -p "$1"; dpkg-deb -Znone --root-owner-group -b "$root" "$1" >/dev/null; }

# kubernetes_debs BINARIES CRICTL CNI FOLDER
kubernetes_debs() {
    local version=${kubernetes_version#v}-1.1
    tree kubelet
    install -D -m 755 "$1/kubelet" "$root/usr/bin/kubelet"
    install -D -m 644 "$lab_folder/mirror/units/kubelet.service" "$root/usr/lib/systemd/system/kubelet.service"
    install -D -m 644 <(echo KUBELET_EXTRA_ARGS=) "$root/etc/default/kubelet"
    install -D -m 644 /dev/null "$root/var/lib/kubelet/.kubelet-keep"
    install -D -m 644 /dev/null "$root/etc/kubernetes/manifests/.kubelet-keep"
    echo /etc/default/kubelet >"$root/DEBIAN/conffiles"
    control kubelet "$version" 'Depends: kubernetes-cni (>= 1.2.0), util-linux, mount' 'Recommends: iptables'
    pack "$4"
    tree kubeadm
    install -D -m 755 "$1/kubeadm" "$root/usr/bin/kubeadm"
    install -D -m 644 "$lab_folder/mirror/units/10-kubeadm.conf" "$root/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf"
    control kubeadm "$version"
    pack "$4"
    tree kubectl
    install -D -m 755 "$1/kubectl" "$root/usr/bin/kubectl"
    control kubectl "$version"
    pack "$4"
    tree cri-tools
    install -D -m 755 "$2/crictl" "$root/usr/bin/crictl"
    control cri-tools "$crictl_version-1.1"
    pack "$4"
    tree kubernetes-cni
    install -D -m 755 -t "$root/opt/cni/bin" "$3"/{bridge,loopback,host-local,portmap}
    install -D -m 644 /dev/null "$root/etc/cni/net.d/.kubernetes-cni-keep"
    control kubernetes-cni "$cni_version-1.1"
    pack "$4"
}

# containerd_deb BINARIES RUNC RELEASE FOLDER: like Docker's, it brings its own runc and a configuration without CRI.
containerd_deb() {
    tree containerd.io
    install -D -m 755 -t "$root/usr/bin" "$1"/{containerd,ctr,containerd-shim-runc-v2} "$2/runc"
    install -D -m 644 "$lab_folder/mirror/units/containerd.service" "$root/lib/systemd/system/containerd.service"
    [ "$3" = 12 ] || { mkdir -p "$root/usr" && mv "$root/lib" "$root/usr/lib"; }
    install -D -m 644 "$lab_folder/mirror/units/containerd.config.toml" "$root/etc/containerd/config.toml"
    echo /etc/containerd/config.toml >"$root/DEBIAN/conffiles"
    cat >"$root/DEBIAN/postinst" <<'SCRIPT'
#!/bin/sh
set -e
if [ "$1" = configure ]; then
    deb-systemd-helper unmask containerd.service >/dev/null || true
    if deb-systemd-helper --quiet was-enabled containerd.service; then deb-systemd-helper enable containerd.service >/dev/null || true; fi
    if [ -d /run/systemd/system ]; then
        systemctl --system daemon-reload >/dev/null || true
        if [ -n "$2" ]; then action=restart; else action=start; fi
        deb-systemd-invoke $action containerd.service >/dev/null || true
    fi
fi
SCRIPT
    chmod 755 "$root/DEBIAN/postinst"
    control containerd.io "$containerd_version-1~debian.$3~${suites[$3]}" 'Depends: libc6 (>= 2.34), libseccomp2 (>= 2.5.0)' \
        'Provides: containerd, runc' 'Conflicts: containerd, runc' 'Replaces: containerd, runc'
    pack "$4"
}

# sign FOLDER [OPTION=VALUE...]: the Release of the packages' index in FOLDER, and its two signatures.
sign() {
    local folder=$1 option options=()
    shift
    for option in "$@"; do options+=(-o "APT::FTPArchive::Release::$option"); done
    apt-ftparchive "${options[@]}" release "$folder" >"$work/Release"
    mv "$work/Release" "$folder/Release"
    gpg --homedir "$(lab_keys)/gnupg" --batch --yes --armor --clearsign -o "$folder/InRelease" "$folder/Release"
    gpg --homedir "$(lab_keys)/gnupg" --batch --yes --armor --detach-sign -o "$folder/Release.gpg" "$folder/Release"
}

# flat_repository FOLDER: as pkgs.k8s.io is.
flat_repository() {
    (cd "$1" && apt-ftparchive packages . >Packages)
    sign "$1" Origin=podnet-lab Label=podnet-lab Architectures="$architecture"
    cp "$(lab_keys)/archive.asc" "$1/Release.key"
}

# suite_repository ROOT SUITE COMPONENT: packages of ROOT/pool/SUITE under ROOT/dists/SUITE, as Debian's and Docker's are.
suite_repository() {
    local index=$1/dists/$2/$3/binary-$architecture
    mkdir -p "$index"
    (cd "$1" && apt-ftparchive packages "pool/$2") >"$index/Packages"
    gzip -k "$index/Packages"
    sign "$1/dists/$2" Origin=podnet-lab Label=podnet-lab Suite="$2" Codename="$2" Components="$3" Architectures="$architecture"
}
