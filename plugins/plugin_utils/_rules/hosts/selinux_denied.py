# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

r"""SELinux denied something that the pod network needs.

## What it means
The host enforces SELinux, and its policy or a file's label kept flannel, a plugin or iptables from a file or a socket
on the way: /etc/cni/net.d, /opt/cni/bin, /run/flannel, /run/xtables.lock.

## How it looks
flannel's init container: `cp: can't create '/etc/cni/net.d/10-flannel.conflist': Permission denied`; flannel:
`open /run/flannel/.subnet.env: permission denied` or `can't open lock file /run/xtables.lock: Permission denied`. The
audit log has `avc: denied { write } ... comm="cp" name="10-flannel.conflist"`.

## What looks like it but is not
- Denials of things that are not on the way (a web server, a desktop, a backup): they are left out.
- `permissive=1`, or SELinux permissive: it was noted and not denied.
- The same texts where SELinux is off: AppArmor, a read-only or NFS mount, a user namespace. They are told under this
  code too, since flannel is root and no mode of a file keeps it out, with another thing to look for.

## Mend
Install container-selinux of the distribution, then `restorecon -Rv /etc/cni /opt/cni /run/flannel`. On immutable
systems run flannel privileged. Do not turn SELinux off.

## Prevent
container-selinux before the runtime; folders made by packages, not by hand.

## Sources
- flannel issues 709, 1202; rancher/rke2-charts issue 448; flatcar/Flatcar issues 635, 779
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._host import Host
from ..._evidence._said import heard, heard_without_host
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View
from ._network_path import concerns

RULE = Rule(
    title="SELinux denies the pod network",
    severity="error",
    needs=("nodes.selinux_denials",),
    remedy="Install container-selinux and run restorecon -Rv /etc/cni /opt/cni /run/flannel; do not turn SELinux off.",
    explains=(
        "cni-plugin-missing",
        "cni-dir-mismatch",
        "flannel-link-missing",
        "flannel-rules-missing",
        "route-missing",
        "flannel-absent",
    ),
    rank=15,
)


_SAID = re.compile(
    r"(?:open|create|can't create|can't open lock file|unlink|cannot (?:create|remove)[^:]*) *'?"
    r"(?P<path>/(?:run/flannel|var/run/flannel|run/xtables\.lock|etc/cni|opt/cni|host/opt/cni|host/etc/cni)[^': ]*)'?: "
    r"permission denied",
    re.IGNORECASE,
)
"""What flannel and its init containers say. They run as root, so that no mode of a file keeps them out."""
_ANY = dict.fromkeys(
    ("disabled", "permissive"),
    "SELinux is not enforced there: look for another keeper of that path, an AppArmor profile (dmesg), a read-only or "
    "NFS mount (findmnt -T PATH), or a runtime in a user namespace.",
)


def check_node(node: Host, view: View) -> Iterator[Found]:
    noted = node.has("selinux_denials") and any(map(concerns, node.selinux_denials))
    if not noted and not _flannel_runs(node, view) and (said := heard(view, node, _SAID)):
        mode = node.selinux.strip() if node.has("selinux") else "not looked at"
        yield Found(f"flannel may not open {_path(said)}", {"said": said, "SELinux": mode}, remedy=_ANY.get(mode))
        return
    lines = [line for line in node.selinux_denials if concerns(line) and "permissive=1" not in line]
    if not lines or (node.has("selinux") and node.selinux.strip() == "disabled"):
        return
    soft = "info" if node.has("selinux") and node.selinux.strip() == "permissive" else None
    what = sorted({_about(line) for line in lines})
    summary = f"SELinux denied {', '.join(what[:3])}"
    yield Found(summary, {"denials": [line.strip()[:300] for line in lines[-3:]]}, severity=soft)


def check_cluster(view: View) -> Iterator[Found]:
    for place, _kube, said in heard_without_host(view, _SAID):
        yield Found(f"flannel may not open {_path(said)}", {"said": said}, where=place)


def _flannel_runs(node: Host, view: View) -> bool:
    try:
        return bool(view.flannel_runs(node))
    except Missing:
        return False


def _path(said: str) -> str:
    match = _SAID.search(said)
    return match["path"] if match else "a file"


def _about(line: str) -> str:
    command = re.search(r'comm="([^"]+)"', line)
    target = re.search(r'path="([^"]+)"', line) or re.search(r'name="([^"]+)"', line)
    action = re.search(r"denied\s+\{ ?([^}]*?) ?\}", line)
    words = [command[1] if command else "a process", f"to {action[1]}" if action else "access to"]
    return " ".join([*words, target[1] if target else "something of the network"])
