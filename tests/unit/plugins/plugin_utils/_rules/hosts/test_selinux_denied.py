# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, heard_of_node2, undetermined

LINE = (
    'type=AVC msg=audit(1796053201.117:412): avc:  denied  {{ {action} }} for  pid=4211 comm="{comm}" '
    'name="{name}" path="{path}" dev="vda1" scontext=a tcontext=b tclass=file permissive={permissive}'
)


def denied(action="write", comm="cp", name="x", path="/x", permissive=0, mode="enforcing"):
    bundle = healthy()
    node = bundle["nodes"]["node2"]
    node["selinux"] = mode
    line = LINE.format(action=action, comm=comm, name=name, path=path, permissive=permissive)
    node["selinux_denials"] = [line]
    return bundle


@pytest.mark.parametrize(
    "what",
    [
        {"name": "10-flannel.conflist", "path": "/etc/cni/net.d/10-flannel.conflist"},
        {"name": "flannel", "path": "/opt/cni/bin/flannel"},
        {"comm": "cp", "name": "bin", "path": "bin"},
        {"comm": "iptables", "name": "xtables.lock", "path": "/run/xtables.lock"},
        {"comm": "flanneld", "name": ".subnet.env", "path": "/run/flannel/.subnet.env"},
    ],
)
def test_what_is_on_the_way(what):
    (found,) = findings("selinux-denied", denied(**what))
    assert (found.severity, found.where) == ("error", ["node2"])


@pytest.mark.parametrize(
    "what",
    [
        {"comm": "httpd", "path": "/srv/www/index.html"},
        {"comm": "sshd", "path": "/root/.ssh"},
        {"comm": "rsync", "name": "bin"},
    ],
)
def test_what_is_not(what):
    assert findings("selinux-denied", denied(**what)) == []


def test_what_was_only_noted():
    path = "/etc/cni/net.d/10-flannel.conflist"
    assert findings("selinux-denied", denied(path=path, permissive=1)) == []
    assert [found.severity for found in findings("selinux-denied", denied(path=path, mode="permissive"))] == ["info"]


def test_without_the_key_it_is_undetermined():
    bundle = healthy()
    del bundle["nodes"]["node2"]["selinux_denials"]
    assert [missed.key for missed in undetermined("selinux-denied", bundle)] == ["nodes.*.selinux_denials"]


def test_flannels_words_are_enough_where_no_denial_was_kept():
    words = "Failed to write subnet file: open /run/flannel/.subnet.env: permission denied"
    assert findings("selinux-denied", heard_of_node2(words))[0].where == ["node2"]
    bundle = heard_of_node2(words, "journal")
    bundle["nodes"]["node2"]["selinux"] = "enforcing"
    assert "restorecon" in findings("selinux-denied", bundle)[0].remedy
    bundle["nodes"]["node2"]["selinux"] = "disabled"
    assert "not enforced" in findings("selinux-denied", bundle)[0].remedy
