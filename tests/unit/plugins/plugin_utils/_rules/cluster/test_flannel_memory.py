# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from edits import flannel_pod, log, waits
from rules import findings, healthy

KILLED = {"terminated": {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-11-30T15:48:04Z"}}


def test_a_killed_flannel_is_an_error_with_its_limit():
    bundle = healthy()
    pod = flannel_pod(bundle)
    pod["spec"]["containers"][0]["resources"]["limits"] = {"memory": "50Mi"}
    waits(pod, "CrashLoopBackOff")["lastState"] = KILLED
    (found,) = findings("flannel-memory", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])
    assert found.evidence["memory limit"] == "50Mi"


def test_one_that_is_ready_again_is_a_warning():
    bundle = healthy()
    flannel_pod(bundle)["status"]["containerStatuses"][0]["lastState"] = KILLED
    assert [one.severity for one in findings("flannel-memory", bundle)] == ["warning"]


def test_exit_code_137_of_a_failed_probe_is_not_memory():
    bundle = healthy()
    state = {"terminated": {"exitCode": 137, "reason": "Error"}}
    waits(flannel_pod(bundle), "CrashLoopBackOff")["lastState"] = state
    assert findings("flannel-memory", bundle) == []


def test_an_iptables_that_gets_no_memory():
    bundle = healthy()
    pod = flannel_pod(bundle)
    log(bundle, pod, "failed to check rule existence: fork/exec /sbin/iptables: cannot allocate memory")
    assert findings("flannel-memory", bundle) == []
    waits(pod, "CrashLoopBackOff")
    (found,) = findings("flannel-memory", bundle)
    assert (found.severity, found.where) == ("error", ["node2"])
