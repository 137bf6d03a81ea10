# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from rules import findings, healthy, heard_alone

CONF = '{"Network": "10.244.0.0/16", "Backend": {"Type": "vxlan"}}'


def running(text):
    bundle = healthy()
    bundle["cluster"]["flannel_config"]["net-conf.json"] = text
    return [(one.severity, one.summary) for one in findings("flannel-netconf-invalid", bundle)]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"Network": "10.244.0.0/16"}',
        CONF.replace("vxlan", "vlxan"),
        CONF.replace("10.244.0.0/16", "10.244.0.0"),
        CONF.replace("10.244.0.0/16", "fd00::/56"),
        CONF.replace('"Network"', '"Netwrok"'),
        CONF.replace(
            '"Backend": {"Type": "vxlan"}',
            '"EnableIPv6": true, "IPv6Network": "fd00::/56", "Backend": {"Type": "ipip"}',
        ),
    ],
)
def test_what_cannot_be_meant(text):
    assert "error" in {severity for severity, _summary in running(text)}


def test_an_unknown_key_that_is_like_none_is_a_warning():
    assert [severity for severity, _summary in running(CONF.replace("{", '{"comment": "x", ', 1))] == ["warning"]


def test_an_ipv6_network_that_is_not_there_has_a_code_of_its_own():
    assert running(CONF.replace("{", '{"EnableIPv6": true, ', 1)) == []


def test_keys_in_another_case_are_read():
    assert running(CONF.replace("Network", "network").replace("Backend", "backend")) == []


def test_an_empty_text_is_undetermined_and_not_a_fault():
    assert running("") == []


def test_flannels_words_are_enough():
    words = "Failed to create SubnetManager: error parsing subnet config: invalid character '}'"
    assert findings("flannel-netconf-invalid", heard_alone(words))[0].where == ["cluster"]
