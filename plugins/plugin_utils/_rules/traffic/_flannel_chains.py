# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The chains of iptables that flannel writes."""

from __future__ import annotations

import re

from ..._view import View


def wanted_chains(view: View) -> list[str]:
    """The chains that flannel's arguments ask for."""
    arguments: list[str] = []
    if view.cluster.has("daemonsets"):
        for daemonset in view.cluster.flannel_daemonsets:
            for one in daemonset.pod_spec.items("containers"):
                arguments += one.texts("command") + one.texts("args")
    wanted = []
    if not any(re.fullmatch(r"--?iptables-forward-rules=(false|0)", one) for one in arguments):
        wanted.append("FLANNEL-FWD")
    if not arguments or any(re.fullmatch(r"--?ip-masq(=true|=1)?", one) for one in arguments):
        wanted.append("FLANNEL-POSTRTG")
    return wanted
