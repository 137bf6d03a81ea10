# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154
#
# The root filesystem of nodes: what a cloud image of Debian holds. containerd, Kubernetes and what they need are not in it;
# the Debian packages among those are downloaded beside it, for the mirror.
node_packages=systemd,systemd-sysv,dbus,udev,sudo,openssh-server,python3,python3-apt,iproute2,iputils-ping,kmod,procps,ca-certificates,netbase,less,systemd-timesyncd

# root_folder RELEASE: where a release's root.tar and debs/ are.
root_folder() {
    echo "$cache/root/debian-$1-$(digest "$lab_folder/node/root.sh" "$lab_folder/mirror/debian-packages.txt" "$(lab_keys)/id_ed25519.pub" "$(lab_keys)/archive.asc")"
}

# lab_keys: the folder with the key by which the lab logs in to its nodes and the one that signs the mirror's packages.
lab_keys() {
    once "$cache/keys" make_keys
    echo "$cache/keys"
}

make_keys() {
    ssh-keygen -q -t ed25519 -N '' -C podnet.kubeadm.lab -f "$1/id_ed25519"
    mkdir -m 700 "$1/gnupg"
    gpg --homedir "$1/gnupg" --batch --quiet --passphrase '' --quick-generate-key 'podnet.kubeadm lab <lab@podnet.invalid>' rsa3072 sign never
    gpg --homedir "$1/gnupg" --batch --armor --export >"$1/archive.asc"
    gpg --homedir "$1/gnupg" --batch --with-colons --list-keys | awk -F: '$1 == "fpr" { print $10; exit }' >"$1/fingerprint"
    gpgconf --homedir "$1/gnupg" --kill all
}

# make_root RELEASE FOLDER: mmdebstrap, then the few things that make a container start like a host.
make_root() {
    local suite=${suites[$1]} folder=$2 security=http://security.debian.org/debian-security
    say "    making the root filesystem of Debian $1 ($suite)"
    mkdir "$folder/debs"
    cat >"$folder/lab-host.service" <<'UNIT'
[Unit]
Description=Make this container a host: mounts propagate, names and package sources are there
DefaultDependencies=no
Before=local-fs-pre.target sysinit.target
[Service]
Type=oneshot
PassEnvironment=LAB_ADDRESS LAB_MIRROR
ExecStart=/usr/local/sbin/lab-host
[Install]
WantedBy=sysinit.target
UNIT
    cat >"$folder/lab-host" <<'SCRIPT'
#!/bin/sh
# A container's root is private where a host's is shared, and kubelet needs it shared.
mount --make-rshared /
[ ! -e /etc/apt/sources.list.d/debian.sources ] || exit 0
printf '127.0.0.1 localhost\n%s %s\n::1 localhost ip6-localhost ip6-loopback\n' "$LAB_ADDRESS" "$(cat /etc/hostname)" >/etc/hosts
printf 'nameserver %s\n' "$LAB_MIRROR" >/etc/resolv.conf
. /etc/os-release
printf 'Types: deb\nURIs: http://%s:@PACKAGES@/debian\nSuites: %s\nComponents: main\nSigned-By: /etc/apt/keyrings/archive.asc\n' \
    "$LAB_MIRROR" "$VERSION_CODENAME" >/etc/apt/sources.list.d/debian.sources
SCRIPT
    sed -i "s/@PACKAGES@/$packages_port/" "$folder/lab-host"
    cat >"$folder/customize" <<'HOOK'
#!/bin/sh
# customize ROOT FOLDER KEYS PACKAGES...
set -eu
root=$1 folder=$2 keys=$3
shift 3
APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get -qq --yes --no-install-recommends --download-only install "$@"
cp "$root"/var/cache/apt/archives/*.deb "$folder/debs/"
cp "$folder/lab-host.service" "$root/etc/systemd/system/"
install -m 755 "$folder/lab-host" "$root/usr/local/sbin/"
chroot "$root" systemctl -q enable ssh lab-host
# getty@tty1 fails in about half of all containers, and the system then counts as degraded for ever.
chroot "$root" systemctl -q mask getty@tty1.service console-getty.service systemd-udevd.service systemd-timesyncd.service \
    systemd-udevd-control.socket systemd-udevd-kernel.socket systemd-networkd-wait-online.service apt-daily.timer apt-daily-upgrade.timer
mkdir -p "$root/lib/modules" "$root/etc/apt/keyrings"
install -d -m 700 "$root/root/.ssh"
install -m 600 "$keys/id_ed25519.pub" "$root/root/.ssh/authorized_keys"
install -m 644 "$keys/archive.asc" "$root/etc/apt/keyrings/archive.asc"
: >"$root/etc/machine-id"
rm -f "$root/etc/hostname" "$root/etc/resolv.conf" "$root/etc/apt/sources.list" "$root"/etc/apt/sources.list.d/*
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/lab"
# Nodes have a default route and nothing behind it: a name server that drops questions must not hold up logins.
printf 'UseDNS no\nMaxStartups 100\nMaxSessions 100\n' >"$root/etc/ssh/sshd_config.d/lab.conf"
HOOK
    chmod +x "$folder/customize"
    # shellcheck disable=SC2046
    timeout 900 mmdebstrap --quiet --mode=root --variant=minbase --include="$node_packages" \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --customize-hook="$folder/customize \"\$1\" $folder $(lab_keys) $(tr '\n' ' ' <"$lab_folder/mirror/debian-packages.txt")" \
        "$suite" "$folder/root.tar" \
        "deb $debian_mirror $suite main" "deb $debian_mirror $suite-updates main" "deb $security $suite-security main" >"$folder/log" 2>&1 ||
        { tail -n 20 "$folder/log" >&2; refuse 3 "mmdebstrap could not make Debian $1; the lines above are the last it said."; }
}

# node_image RELEASE: the name of podman's image of a release, imported when it is not there.
node_image() {
    local folder name
    folder=$(root_folder "$1")
    once "$folder" make_root "$1" >&2
    name=localhost/podnet-lab-debian$1:${folder##*-}
    podman image exists "$name" || {
        say "    importing the image of Debian $1"
        timeout 300 podman import -q -c 'CMD ["/sbin/init"]' -c "LABEL $label=image" "$folder/root.tar" "$name" >/dev/null
    }
    echo "$name"
}
