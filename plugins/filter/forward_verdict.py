# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils._netfilter import FORWARD, Ruleset, complete, walk

_RULES = ("iptables", "ip6tables", "nft")


def forward_verdict(node: Any, pod_cidrs: Any, packet: Any) -> dict[str, Any]:
    if not isinstance(node, Mapping) or not any(key in node for key in _RULES):
        raise AnsibleFilterError(
            "forward_verdict: the input is not the evidence of one node, which has a key iptables, ip6tables or nft; "
            "give nodes.NAME of what node_evidence_info gathers"
        )
    for key in _RULES[:2]:
        if not isinstance(node.get(key, {}), Mapping):
            raise AnsibleFilterError(
                f"forward_verdict: {key} of the evidence is no mapping; give {{nft: TEXT, legacy: TEXT}}, what "
                f"{key}-nft-save -c and {key}-legacy-save -c print"
            )
    if not isinstance(packet, Mapping):
        raise AnsibleFilterError("forward_verdict: packet is no mapping; give at least its source and destination")
    ranges = _ranges(pod_cidrs)
    try:
        whole = complete(node, ranges, packet)
        return walk(Ruleset.from_evidence(node), whole, FORWARD).as_dict()
    except ValueError as error:
        raise AnsibleFilterError(f"forward_verdict: {error}") from error
    except (AttributeError, KeyError, TypeError) as error:
        raise AnsibleFilterError(
            f"forward_verdict: the evidence of the node is not as node_evidence_info gathers it: {error}"
        ) from error


def _ranges(given: Any) -> list[str]:
    if given is not None and not isinstance(given, (str, list, tuple)):
        raise AnsibleFilterError(f"forward_verdict: pod_cidrs is {given!r}; give a list of networks")
    found = [str(one).strip() for one in (given.split(",") if isinstance(given, str) else given or [])]
    for one in found:
        try:
            ipaddress.ip_network(one, strict=False)
        except ValueError:
            raise AnsibleFilterError(f"forward_verdict: pod_cidrs has {one!r}, which is no network") from None
    return found


class FilterModule:
    def filters(self) -> dict[str, Any]:
        return {"forward_verdict": forward_verdict}
