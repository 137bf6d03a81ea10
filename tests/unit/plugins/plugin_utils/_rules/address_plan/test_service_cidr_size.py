# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy


@pytest.mark.parametrize(
    ("service", "count"),
    [
        ("10.96.0.0/12", 0),
        ("10.96.0.0/11", 1),
        ("10.96.0.0/28", 0),
        ("10.96.0.0/29", 1),
        ("fd00:10:96::/108", 0),
        ("fd00:10:96::/107", 1),
        ("fd00:10:96::/124", 0),
        ("fd00:10:96::/125", 1),
    ],
)
def test_kubeadms_limits(service, count):
    bundle = healthy("intent")
    bundle["intent"]["service_cidr"] = service
    assert [one.severity for one in findings("service-cidr-size", bundle)] == ["error"] * count
