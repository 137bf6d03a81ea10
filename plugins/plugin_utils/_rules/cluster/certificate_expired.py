# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A certificate has expired, or will within a month.

## What it means
kubeadm's certificates live one year; `kubeadm upgrade` renews them, nothing else does. A kubelet renews its own
client certificate, but only while it runs: a node that was off for too long has an expired one.

## How it looks
`x509: certificate has expired or is not yet valid`; a kubelet that asks for bootstrap-kubelet.conf, which `kubeadm
join` deleted long ago (the missing file is the symptom, the expiry the cause); kubectl that says `You must be logged
in`.

## What looks like it but is not
- A clock that is wrong: see `clock-skew`.
- The kubelet's serving certificate (kubelet.crt) that nobody checks: a warning.
- The kubelet's client certificate near its end: the kubelet renews it by itself.
- Old certificates beside the ones in use (kubelet-client-DATE.pem).

## How it is told
The end of every certificate in /etc/kubernetes/pki and /var/lib/kubelet/pki against the time the evidence was taken;
for the one inside kubelet.conf, the words of a kubelet that does not run.

## Mend
`kubeadm certs renew all` on a control plane, then move the files of /etc/kubernetes/manifests away and back so that the
static pods start again; for a kubelet, a fresh join of that node.

## Prevent
`kubeadm upgrade apply` renews them, so an upgrade a year is enough; the doctor warns 30 days before.

## Sources
- kubernetes documentation, "Certificate management with kubeadm"; kubernetes/website issue 42944
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from ..._evidence._host import Host
from ..._evidence._said import heard, refused
from ..._finding import Found
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="A certificate has expired",
    severity="error",
    needs=("nodes.certificates",),
    remedy="Run kubeadm certs renew all on that control plane and restart its static pods; join a node again whose "
    "kubelet's certificate expired.",
    explains=("kubelet-down", "controller-manager-down", "service-path-broken", "etcd-stale-member"),
    rank=20,
)

SOON = timedelta(days=30)
SERVING = "/var/lib/kubelet/pki/kubelet.crt"
ROTATED = "/var/lib/kubelet/pki/kubelet-client"
"""Beginning of the kubelet's client certificates, which it renews by itself; only -current is in use."""
EMBEDDED = re.compile(
    r"bootstrap client certificate(?: in| which located at| located at)? ?\\*\"?(/[^\s\"\\]+)?\\*\"? ?is expired: (.+)"
    r"|currently active client certificate has expired"
)
"""What a kubelet that cannot start says of the certificate inside its kubeconfig; older ones do not name the file."""
AFTER = re.compile(r"^(?!.*webhook).*certificate has expired or is not yet valid: current time \S+ is after")
SERVER = re.compile(r"https://[^\s/\"]+")
KUBELET = "/etc/kubernetes/kubelet.conf"


def check_node(node: Host, view: View) -> Iterator[Found]:
    if match := _said(node):
        file = match[1] or KUBELET
        yield Found(f"certificates have expired: {file}", {file: (match[2] or match[0]).strip()})
        return
    if not node.has("certificates") and (said := heard(view, node, AFTER) or refused(node, AFTER)):
        server = (SERVER.search(said) or [""])[0]
        yield Found(
            f"a certificate that the host is shown has expired{f': {server}' if server else ''}", {"said": said}
        )
        return
    expired: dict[str, str] = {}
    soon: dict[str, str] = {}
    for path in node.certificates:
        end = _moment(node.certificates.item(path).text("not_after"))
        if end is None or (path.startswith(ROTATED) and not path.endswith("-current.pem")):
            continue
        if end <= view.now:
            expired[path] = end.isoformat()
        elif end - view.now < SOON and not path.startswith(ROTATED) and path != SERVING:
            soon[path] = end.isoformat()
    if set(expired) == {SERVING}:
        yield Found("the kubelet's serving certificate has expired", expired, severity="warning")
    elif expired:
        yield Found(f"certificates have expired: {', '.join(sorted(expired))}", expired)
    if soon:
        yield Found(f"certificates end within {SOON.days} days", soon, severity="warning")


def _said(node: Host) -> re.Match[str] | None:
    stands = node.has("journal") and node.has("units") and not node.unit_works("kubelet")
    return EMBEDDED.search(node.journal.get("kubelet", "")) if stands else None


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return moment if moment.tzinfo else None
