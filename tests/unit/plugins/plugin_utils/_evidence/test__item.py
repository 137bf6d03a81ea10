# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._evidence._item import Item
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._finding import Malformed, Missing

POD = Item(
    {"metadata": {"name": "a", "labels": {"x": "1", "y": 2}}, "spec": {"ports": [{"p": 1}, None, "x"], "on": True}},
    "pod",
)


def test_readers_answer_an_empty_value_where_something_else_stands():
    assert (POD.text("metadata", "name"), POD.text("metadata"), POD.text("no", "such")) == ("a", "", "")
    assert (POD.flag("spec", "on"), POD.flag("metadata", "name")) == (True, None)
    assert POD.map("metadata", "labels") == {"x": "1"}
    assert [one.number("p") for one in POD.items("spec", "ports")] == [1]
    assert POD.items("metadata", "name") == []


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("7", 7),
        (7, 7),
        (" -3 ", -3),
        ("--3", None),
        (True, None),
        ("", None),
        ("7.5", None),
        ("²", None),
        ("9" * 20, None),
    ],
)
def test_numbers(value, number):
    assert Item({"n": value}).number("n") == number


def test_need_raises_where_absent_must_not_read_as_no():
    assert POD.need("spec", "on", kind=bool) is True
    with pytest.raises(Missing) as error:
        POD.need("spec", "off")
    assert error.value.key == "pod.spec.off"
    with pytest.raises(Malformed):
        POD.need("metadata", kind=str)


@pytest.mark.parametrize("raw", [None, 7, "x", []])
def test_what_is_no_object_is_an_empty_one(raw):
    assert not Item(raw)
