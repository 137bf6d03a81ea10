# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import time
from typing import Any

from ..plugin_utils import _lease_proof
from ..plugin_utils._plain import plain


def lease_proof(
    cluster: dict[str, Any],
    intent: dict[str, Any],
    net_conf: dict[str, Any] | None = None,
    nodes: dict[str, Any] | None = None,
) -> list[str]:
    """What speaks against flannel, or with *nodes* what is not proven of it."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    asked = {key: value for key, value in plain(intent).items() if value not in (None, "")}
    if nodes is not None:
        return _lease_proof.after(plain(cluster), plain(nodes), asked, now)
    return _lease_proof.before(plain(cluster), json.dumps(plain(net_conf)), asked, now)


class FilterModule:
    def filters(self) -> dict[str, Any]:
        return {"lease_proof": lease_proof}
