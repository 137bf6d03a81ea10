# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a denial of a security module is about a file, a socket or a program on the pod network's way."""

from __future__ import annotations

import re

_PATHS = re.compile(
    r'(?:path|name|target)="[^"]*(?:/etc/cni|/opt/cni|/usr/libexec/cni|/usr/lib/cni|/var/lib/cni|/run/flannel|/etc/kube-flannel'
    r"|xtables\.lock|/dev/net/tun|/run/netns|/proc/sys/net|/proc/sys/net/bridge|subnet\.env|10-flannel\.conf"
    r"|containerd\.sock|crio\.sock)"
)
_PROGRAMS = re.compile(
    r'comm="(?:flanneld|flannel|iptables[\w-]*|ip6tables[\w-]*|xtables-\S*|nft|kube-proxy|bridge|host-local|portmap|loopback'
    r'|install-conf|coredns)"'
)
_OWN_NAMES = re.compile(r'name="(?:flannel|10-flannel\.conf(?:list)?|xtables\.lock|\.?subnet\.env|net\.d|cni)"')
_COPIES = re.compile(r'(?=.*comm="(?:cp|sh|busybox)").*name="(?:bin|net\.d|cni|flannel)"')
"""What the init containers do; a folder's name alone would say too little."""
_FOREIGN = re.compile(r'profile="(?:snap\.|/usr/s?bin/(?!runc)|docker-default|firefox|libvirt|lxc-)')


def concerns(line: str) -> bool:
    if _FOREIGN.search(line):
        return False
    return any(pattern.search(line) for pattern in (_PATHS, _PROGRAMS, _OWN_NAMES, _COPIES))
