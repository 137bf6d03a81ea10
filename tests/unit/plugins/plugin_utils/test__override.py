# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._override import OWNED, Refused, override

BASE: dict[str, Any] = {
    "apiVersion": "kubeadm.k8s.io/v1beta4",
    "kind": "ClusterConfiguration",
    "networking": {"podSubnet": "10.244.0.0/16"},
    "controllerManager": {"extraArgs": [{"name": "node-cidr-mask-size-ipv4", "value": "24"}]},
}


def test_fields_and_arguments_are_merged() -> None:
    over = {"controllerManager": {"extraArgs": [{"name": "v", "value": "2"}]}, "clusterName": "x"}
    merged = override(BASE, over, "v")
    assert [one["name"] for one in merged["controllerManager"]["extraArgs"]] == ["node-cidr-mask-size-ipv4", "v"]
    assert merged["clusterName"] == "x"
    assert merged["networking"] == BASE["networking"]


def test_an_argument_replaces_its_namesake() -> None:
    base = {"kind": "X", "args": [{"name": "a", "value": "1"}, {"name": "b", "value": "1"}]}
    merged = override(base, {"args": [{"name": "a", "value": "2"}]}, "v")
    assert {one["name"]: one["value"] for one in merged["args"]} == {"a": "2", "b": "1"}


def set_path(path: tuple[str, ...]) -> dict[str, Any]:
    *above, last = path
    over: Any = [{"name": last, "value": "1"}] if above and above[-1].endswith("Args") else {last: "1"}
    for key in reversed(above):
        over = {key: over}
    return over


@pytest.mark.parametrize(("kind", "path"), [(kind, path) for kind, fields in OWNED.items() for path in fields])
def test_what_the_plan_owns_is_refused(kind: str, path: tuple[str, ...]) -> None:
    with pytest.raises(Refused) as info:
        override({"kind": kind}, set_path(path), "the_variable")
    assert "the_variable" in str(info.value) and OWNED[kind][path] in str(info.value)


def test_every_wrong_field_is_named() -> None:
    over = {"networking": {"podSubnet": "10.1.0.0/16", "serviceSubnet": "10.2.0.0/16"}}
    with pytest.raises(Refused, match="podSubnet.*serviceSubnet"):
        override(BASE, over, "v")


def test_another_kind_is_refused() -> None:
    with pytest.raises(Refused, match="fields of ClusterConfiguration only"):
        override(BASE, {"kind": "InitConfiguration"}, "v")
