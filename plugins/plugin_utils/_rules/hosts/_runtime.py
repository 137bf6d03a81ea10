# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which container runtime the kubelet of a host uses, or will use."""

from __future__ import annotations

from ..._evidence._host import Host
from ..._finding import Missing
from ..._view import View


def kubelet_socket(node: Host, view: View) -> str:
    """The CRI socket of the kubelet: by its flags, by its configuration, by the intent; "" where none is named."""
    try:
        if flag := node.kubelet_flags.get("container-runtime-endpoint"):
            return flag
    except Missing:
        pass
    try:
        if said := node.kubelet_config.text("containerRuntimeEndpoint"):
            return said
    except Missing:
        pass
    try:
        return view.intent.cri_socket
    except Missing:
        return ""
