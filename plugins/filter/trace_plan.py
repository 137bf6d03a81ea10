# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import random
from typing import Any

from ..plugin_utils._plain import plain
from ..plugin_utils._trace_plan import TraceError, plan

SOURCE_PORTS = range(10000, 30000)
"""Below the ports that a kernel and Kubernetes choose of themselves."""


def trace_plan(cluster: Any, hosts: Any, source: str, target: str) -> dict[str, Any]:
    """What there is to watch, on which hosts, for a connection from a pod; or a sentence about why it cannot be."""
    try:
        number = random.getrandbits(32) or 1  # 0 leaves TCP's to the kernel
        found = plan(plain(cluster), plain(hosts), str(source), str(target), random.choice(SOURCE_PORTS), number)
        return found.as_dict()
    except TraceError as error:
        return {"refused": str(error)}


class FilterModule:
    def filters(self) -> dict[str, Any]:
        return {"trace_plan": trace_plan}
