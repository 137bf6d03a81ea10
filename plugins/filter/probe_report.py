# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from ..plugin_utils import _probe_report


def probe_report(
    probes: list[dict[str, Any]],
    drops: dict[str, Any] | None = None,
    findings: list[dict[str, Any]] | None = None,
    form: str = "lines",
) -> Any:
    """Lines for people, JUnit, or evidence."""
    if form == "lines":
        return _probe_report.report(probes, drops, findings)
    return {"junit": _probe_report.junit, "evidence": _probe_report.evidence}[form](probes)


class FilterModule:
    def filters(self) -> dict[str, Any]:
        return {"probe_report": probe_report}
