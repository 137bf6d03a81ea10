# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from ..plugin_utils._membership import strangers
from ..plugin_utils._view import View


def foreign_members(
    nodes: dict[str, Any], control_planes: list[str], cluster: dict[str, Any] | None = None, endpoint: str = ""
) -> list[str]:
    """Sentences on hosts that belong to another cluster."""
    source = {"stage": "cluster", "cluster": cluster or {}, "nodes": nodes}
    return strangers(View(source, {"control_plane_endpoint": endpoint} if endpoint else {}), list(control_planes))


class FilterModule:
    def filters(self) -> dict[str, Any]:
        return {"foreign_members": foreign_members}
