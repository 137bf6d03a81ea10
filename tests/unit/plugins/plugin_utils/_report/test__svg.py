# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from reports import HOSTILE

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._report._svg import enlarged, space, way


def entry(network, kind="pods", label="pods", meets=()):
    family = 6 if ":" in network else 4
    return {"kind": kind, "network": network, "family": family, "label": label, "hosts": [], "meets": list(meets)}


def drawn(picture):
    return ElementTree.fromstring(picture)


def boxes(picture, kind):
    """x, y, width and height of the rectangles of a class, in order."""
    found = [one for one in drawn(picture).iter("rect") if kind in (one.get("class") or "").split()]
    return [tuple(float(one.get(name)) for name in ("x", "y", "width", "height")) for one in found]


def told(picture):
    return drawn(picture).findtext("desc")


def size(picture):
    root = drawn(picture)
    return float(root.get("width")), float(root.get("height"))


ENTRIES = [
    entry("10.244.0.0/16", meets=[3]),
    entry("10.96.0.0/12", "services", "services"),
    entry("10.244.1.0/24", "node-range", "node2"),
    entry("10.244.128.0/20", "bridge", "docker0", meets=[0]),
    entry("192.168.10.0/24", "nodes", "eth0"),
    entry("fd00:10:244::/56"),
]


@pytest.mark.parametrize("picture", [space([], 4), space(ENTRIES[:5], 6), enlarged([], 4), enlarged(ENTRIES[:2], 4)])
def test_of_nothing_there_is_no_picture(picture):
    assert picture == ""


def test_ranges_have_a_row_for_each_kind_in_the_order_of_kinds():
    rows = [one.text for one in drawn(space(ENTRIES, 4)).iter("text") if one.get("class") == "row"]
    assert rows == ["Pods", "Services", "One node's pods", "Node networks", "Container bridges"]


def test_ranges_lie_in_their_stretch_to_scale():
    picture = space(ENTRIES, 4)
    stretches = boxes(picture, "stretch")
    (pods,), (node,), (bridge,) = (boxes(picture, kind) for kind in ("pods", "node-range", "bridge"))
    assert len(stretches) == 3
    assert pods[:1] + pods[2:3] == stretches[1][:1] + stretches[1][2:3]  # the widest fills its stretch
    assert node[0] >= pods[0] and node[2] == 3.0  # a hair is still seen
    assert bridge[0] == pytest.approx(pods[0] + pods[2] / 2, abs=0.1)
    assert bridge[2] == pytest.approx(pods[2] / 16, abs=0.1)
    width, height = size(picture)
    assert all(
        x >= 0 and x + wide <= width + 0.1 and y + high <= height for x, y, wide, high in [*stretches, pods, node]
    )
    assert all(one[0] + one[2] < other[0] for one, other in zip(stretches, stretches[1:]))


def test_the_last_address_is_not_drawn_beyond_its_stretch():
    picture = space([entry("10.0.0.0/8"), entry("10.255.255.255/32", "resolver", "resolver")], 4)
    (stretch,), (dot,) = boxes(picture, "stretch"), boxes(picture, "resolver")
    assert dot[0] + dot[2] == pytest.approx(stretch[0] + stretch[2], abs=0.1)


@pytest.mark.parametrize(
    ("entries", "words", "bad"),
    [
        (ENTRIES, "5 ranges in 3 parts of the address space; 2 of them meet a range that they must not meet.", 2),
        (ENTRIES[1:3], "2 ranges in 2 parts of the address space; none meets one that it must not.", 0),
    ],
)
def test_what_meets_is_told_in_words_and_drawn_with_stripes(entries, words, bad):
    picture = space(entries, 4)
    assert told(picture) == words
    assert len(boxes(picture, "bad")) == picture.count('fill="url(#stripes-space4)"') == bad


def test_of_one_kind_four_hundred_ranges_are_drawn():
    many = [entry(f"10.{index // 256}.{index % 256}.0/24", "node-range", f"n{index}") for index in range(500)]
    assert len(boxes(space(many, 4), "node-range")) == len(boxes(enlarged(many, 4), "node-range")) == 400
    assert told(space(many, 4)).startswith("500 ranges in 1 parts")


def test_addresses_of_ipv6_are_written_as_such():
    picture = space([*ENTRIES, entry("::/96", "route", "x")], 6)
    assert [one.text for one in drawn(picture).iter("text") if one.get("class") == "scale"] == ["::", "fd00:10:244::"]


@pytest.mark.parametrize(("count", "columns", "named"), [(3, 3, True), (9, 8, True), (64, 8, True), (65, 40, False)])
def test_nodes_ranges_stand_side_by_side(count, columns, named):
    picture = enlarged([entry(f"10.244.{index}.0/24", "node-range", f"n{index}") for index in range(count)], 4)
    found = boxes(picture, "node-range")
    assert len(found) == count
    assert len({x for x, *_more in found}) == columns and len({y for _x, y, *_more in found}) == -(-count // columns)
    assert bool(list(drawn(picture).iter("text"))) is named
    width, height = size(picture)
    assert all(x + wide <= width and y + high <= height for x, y, wide, high in found)


def hops(*codes):
    """A way of nine hops, with codes at some of them."""
    found = [{"name": f"hop{index}", "node": f"n{index}", "detail": "one two", "codes": []} for index in range(9)]
    for index, code in codes:
        found[index]["codes"].append(code)
    return found


def path(*codes, broken=None):
    return {"from": "n1", "to": "n2", "hops": hops(*codes), "broken": broken}


@pytest.mark.parametrize(
    ("given", "states", "dead", "words"),
    [
        (path(), ["fine"] * 9, 0, "no finding breaks its way."),
        (path((2, "mtu")), ["fine"] * 2 + ["warned"] + ["fine"] * 6, 0, "no finding breaks its way."),
        (
            path((2, "mtu"), (4, "forward-rule-drop"), broken=4),
            ["fine", "fine", "warned", "fine", "broken", "after", "after", "after", "after"],
            4,
            "it stops at hop4 on n4 (forward-rule-drop).",
        ),
    ],
)
def test_the_way_of_a_packet_ends_where_it_breaks(given, states, dead, words):
    picture = way(given)
    assert told(picture) == f"A packet from a pod on n1 to a pod on n2: {words}"
    assert [one.get("class").split()[1] for one in drawn(picture).iter("g")] == states
    assert picture.count('class="arrow dead"') == dead and picture.count('class="arrow') == 8
    assert picture.count('class="cross"') == (1 if dead else 0)


def test_the_way_turns_at_its_middle_and_fits():
    picture = way(path())
    found = [
        tuple(float(one.get(name)) for name in ("x", "y", "width", "height")) for one in drawn(picture).iter("rect")
    ]
    assert [x for x, *_more in found[:4]] == sorted(x for x, *_more in found[:4])
    assert [x for x, *_more in found[5:]] == [x for x, *_more in reversed(found[:4])]
    width, height = size(picture)
    assert all(x + wide <= width and y + high <= height for x, y, wide, high in found)
    assert way({**path(), "hops": []}) == ""


def test_a_code_at_a_hop_takes_the_place_of_its_detail():
    texts = [
        one.text
        for one in drawn(way(path((0, "flannel-network-mismatch")))).iter("text")
        if one.get("class") == "small"
    ]
    assert texts[:2] == ["flannel-network-", "mismatch"] and texts[2] == "one two"


def test_hostile_text_is_no_markup():
    hostile = [entry("10.0.0.0/8", label=HOSTILE), entry("10.1.0.0/16", "node-range", HOSTILE)]
    given = path((0, HOSTILE), broken=0)
    given["hops"][1] |= {"name": HOSTILE, "node": HOSTILE, "detail": HOSTILE}
    for picture in (space(hostile, 4), enlarged(hostile, 4), way({**given, "from": HOSTILE})):
        assert not list(drawn(picture).iter("script")) and "<script" not in picture
        assert not re.search(r"\son\w+=", re.sub(r">[^<]*<", "><", picture))
