# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleFilterError

from ..plugin_utils._override import Refused, override


def kubeadm_override(base: dict[str, Any], over: dict[str, Any] | None, variable: str) -> dict[str, Any]:
    try:
        return override(base, over or {}, variable)
    except Refused as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    def filters(self) -> dict[str, Any]:
        return {"kubeadm_override": kubeadm_override}
