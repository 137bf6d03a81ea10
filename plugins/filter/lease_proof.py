# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import time
from typing import Any

from ..plugin_utils import _lease_proof


def lease_proof(
    cluster: dict[str, Any],
    intent: dict[str, Any],
    net_conf: dict[str, Any] | None = None,
    nodes: dict[str, Any] | None = None,
) -> list[str]:
    """What speaks against flannel, or with *nodes* what is not proven of it."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    asked = {key: value for key, value in _plain(intent).items() if value not in (None, "")}
    if nodes is not None:
        return _lease_proof.after(_plain(cluster), _plain(nodes), asked, now)
    return _lease_proof.before(_plain(cluster), json.dumps(_plain(net_conf)), asked, now)


def _plain(value: Any) -> Any:
    """A copy without the types by which Ansible marks values."""
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, str) else value


class FilterModule:
    def filters(self) -> dict[str, Any]:
        return {"lease_proof": lease_proof}
