# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from edits import daemonset
from rules import healthy

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._rules.traffic._flannel_chains import wanted_chains
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

BOTH = ["FLANNEL-FWD", "FLANNEL-POSTRTG"]


@pytest.mark.parametrize(
    ("arguments", "chains"),
    [
        (["--ip-masq", "--kube-subnet-mgr"], BOTH),
        (["-ip-masq=true"], BOTH),
        (["--ip-masq=1"], BOTH),
        (["--kube-subnet-mgr"], ["FLANNEL-FWD"]),
        (["--ip-masq=false"], ["FLANNEL-FWD"]),
        (["--ip-masq", "--iptables-forward-rules=false"], ["FLANNEL-POSTRTG"]),
        (["--ip-masq", "-iptables-forward-rules=0"], ["FLANNEL-POSTRTG"]),
        (["--ip-masq", "--iptables-forward-rules=true"], BOTH),
    ],
)
def test_chains_are_those_that_the_arguments_ask_for(arguments, chains):
    bundle = healthy()
    daemonset(bundle)["spec"]["template"]["spec"]["containers"][0]["args"] = arguments
    assert wanted_chains(View(bundle)) == chains


@pytest.mark.parametrize("daemonsets", [None, {"items": []}])
def test_where_no_arguments_are_known_both_are_expected(daemonsets):
    assert wanted_chains(View({"cluster": {"daemonsets": daemonsets}})) == BOTH
