# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._texts import (
    assignments,
    flags,
    json_object,
    kubelet_flags,
    resolvers,
    swap_devices,
    yaml_document,
    yaml_documents,
)


def test_flags_of_a_command_line():
    words = ["kube-controller-manager", "--a=1", "--b", "2", "--bare", "--c=x=y", "-v=2"]
    assert flags(words) == {"a": "1", "b": "2", "bare": "true", "c": "x=y", "v": "2"}


def test_kubelet_flags_of_two_files_the_later_wins():
    text = 'KUBELET_KUBEADM_ARGS="--node-ip=10.0.0.1 --x=1"\n# comment\nKUBELET_EXTRA_ARGS=--node-ip=10.0.0.2\n'
    assert kubelet_flags(text) == {"node-ip": "10.0.0.2", "x": "1"}


def test_subnet_env():
    assert assignments("FLANNEL_MTU=1450\nexport A='b c'\n\nnonsense\n") == {"FLANNEL_MTU": "1450", "A": "b c"}


def test_swaps_and_resolvers():
    assert swap_devices("Filename Type Size Used Priority\n/dev/zram0 partition 1 0 100\n") == ["/dev/zram0"]
    text = "search x\nnameserver 10.0.0.1\nnameserver fe80::1%eth0\nnameserver x\n#nameserver 1.1.1.1\n"
    assert [str(one) for one in resolvers(text)] == ["10.0.0.1", "fe80::1"]


def test_yaml_has_no_dates_and_no_surprises():
    assert yaml_document("a: 2026-11-30").text("a") == "2026-11-30"
    assert [one.text("kind") for one in yaml_documents("kind: A\n---\n- list\n---\nkind: B\n")] == ["A", "B"]


@pytest.mark.parametrize("parse", [yaml_documents, json_object, assignments, resolvers, swap_devices])
@pytest.mark.parametrize("raw", [None, 7, [], {}])
def test_what_is_no_text_raises_a_sentence(parse, raw):
    with pytest.raises(ValueError, match="text is expected"):
        parse(raw)


@pytest.mark.parametrize("text", ["a: [", "\t- x", "a: !!python/object:x {}", "*unknown"])
def test_what_is_no_yaml_raises_a_sentence(text):
    with pytest.raises(ValueError, match="no YAML"):
        yaml_documents(text)
