# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._rules.hosts._network_path import concerns

DENIED = 'apparmor="DENIED" operation="open" '


@pytest.mark.parametrize(
    "line",
    [
        'avc: denied { write } comm="x" path="/etc/cni/net.d/10-flannel.conflist"',
        DENIED + 'profile="cri-containerd.apparmor.d" name="/run/xtables.lock" comm="x"',
        DENIED + 'target="/proc/sys/net/ipv4/ip_forward"',
        DENIED + 'profile="/usr/sbin/runc" name="/run/netns/cni-1"',
        DENIED + 'name="/x" comm="ip6tables-restor"',
        DENIED + 'name="/x" comm="flanneld"',
        'avc: denied { add_name } comm="x" name=".subnet.env"',
        'avc: denied { write } comm="cp" name="bin"',
        'avc: denied { write } name="net.d" comm="busybox"',
    ],
)
def test_what_is_on_the_networks_way(line):
    assert concerns(line)


@pytest.mark.parametrize(
    "line",
    [
        "",
        DENIED + 'name="/srv/www/index.html" comm="httpd"',
        DENIED + 'name="bin" comm="rsync"',
        DENIED + 'name="/etc/cni-old" profile="snap.firefox.firefox" comm="x"',
        DENIED + 'profile="/usr/sbin/ntpd" name="/run/netns/x" comm="nft"',
        DENIED + 'profile="docker-default" name="/run/xtables.lock"',
        'comm="my-flanneld" name="flannel.txt"',
    ],
)
def test_what_is_not(line):
    assert not concerns(line)
