# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils._netfilter import FORWARD, Ruleset, complete, walk


def forward_verdict(node: Any, pod_cidrs: Any, packet: Any) -> dict[str, Any]:
    if not isinstance(node, Mapping):
        raise AnsibleFilterError(
            "forward_verdict: the input is not the evidence of one node; "
            "give nodes.NAME of what node_evidence_info gathers"
        )
    if not isinstance(packet, Mapping):
        raise AnsibleFilterError("forward_verdict: packet is no mapping; give at least its source and destination")
    ranges = pod_cidrs.split(",") if isinstance(pod_cidrs, str) else list(pod_cidrs or [])
    try:
        whole = complete(node, [str(one).strip() for one in ranges], packet)
        return walk(Ruleset.from_evidence(node), whole, FORWARD).as_dict()
    except ValueError as error:
        raise AnsibleFilterError(f"forward_verdict: {error}") from error


class FilterModule:
    def filters(self) -> dict[str, Any]:
        return {"forward_verdict": forward_verdict}
