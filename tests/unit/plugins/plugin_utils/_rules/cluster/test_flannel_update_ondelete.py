# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import daemonset
from rules import findings, healthy


def on_delete(**status) -> dict:
    bundle = healthy()
    daemonset(bundle)["spec"]["updateStrategy"] = {"type": "OnDelete"}
    daemonset(bundle)["status"].update(status)
    return bundle


def test_pods_of_an_older_template_are_a_warning():
    (found,) = findings("flannel-update-ondelete", on_delete(updatedNumberScheduled=1))
    assert (found.severity, found.where) == ("warning", ["cluster"])
    assert found.evidence["pods of an older template"] == 2


def test_pods_that_are_all_up_to_date_are_an_info():
    assert [one.severity for one in findings("flannel-update-ondelete", on_delete())] == ["info"]


def test_a_rolling_update_under_way_is_not_reported():
    bundle = healthy()
    daemonset(bundle)["status"]["updatedNumberScheduled"] = 1
    assert findings("flannel-update-ondelete", bundle) == []
