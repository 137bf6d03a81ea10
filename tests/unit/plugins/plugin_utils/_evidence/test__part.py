# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import contextlib
import gc
import weakref

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._part import Key, Part, kube_items, texts, whole
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Malformed, Missing


class Example(Part):
    number = Key(whole)
    names = Key(texts, "name_list")


def test_a_key_is_parsed_once():
    calls = []

    class Counted(Part):
        value = Key(lambda raw: calls.append(raw) or raw)

    part = Counted({"value": "x"}, "nodes.n1")
    assert (part.value, part.value, calls) == ("x", "x", ["x"])


@pytest.mark.parametrize("raw", [{}, {"number": None}])
def test_an_absent_key_is_missing_under_its_path(raw):
    with pytest.raises(Missing) as error:
        _read = Example(raw, "nodes.n1").number
    assert (error.value.key, error.value.kind) == ("nodes.n1.number", "absent")


def test_what_was_missed_does_not_hold_the_part():
    gc.disable()
    try:
        part = Example({"number": "x"}, "nodes.n1")
        for _twice in range(2):
            with contextlib.suppress(Missing):
                _read = part.number
        gone = weakref.ref(part)
        del part
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("value", ["x", [], {}, True, 1.5, -1])
def test_another_type_is_malformed(value):
    with pytest.raises(Malformed) as error:
        _read = Example({"number": value}, "intent").number
    assert "intent.number cannot be read" in error.value.why


def test_a_number_as_text_is_one_and_an_attribute_may_have_another_name():
    part = Example({"number": "24", "name_list": ["a", "b"]}, "intent")
    assert (part.number, part.names) == (24, ["a", "b"])


def test_objects_without_a_name_are_none():
    listed = {"items": [{"metadata": {"name": "a"}}, {"metadata": {}}, {}, None, "x"]}
    assert [one.text("metadata", "name") for one in kube_items(listed)] == ["a"]
