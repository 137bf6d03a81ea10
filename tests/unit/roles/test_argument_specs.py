# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every role's argument specification is complete and says the same as its defaults."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest
import yaml

ROLES = sorted(path for path in (pathlib.Path(__file__).parents[3] / "roles").iterdir() if path.is_dir())
PYTHON_TYPES = {"str": str, "path": str, "int": int, "bool": bool, "list": list, "dict": dict, "float": float}


def load(path: pathlib.Path) -> dict[str, Any]:
    return (yaml.safe_load(path.read_text(encoding="utf-8")) or {}) if path.exists() else {}


def options(role: pathlib.Path) -> dict[str, dict[str, Any]]:
    """All options of all entry points of a role."""
    specs = load(role / "meta" / "argument_specs.yml").get("argument_specs", {})
    return {name: option for entry in specs.values() for name, option in entry.get("options", {}).items()}


@pytest.fixture(params=ROLES, ids=[role.name for role in ROLES])
def role(request: pytest.FixtureRequest) -> pathlib.Path:
    return request.param


def test_a_role_has_a_specification_with_a_description(role: pathlib.Path) -> None:
    specs = load(role / "meta" / "argument_specs.yml")["argument_specs"]
    assert "main" in specs
    for entry in specs.values():
        assert entry["short_description"] and entry["description"] and entry["author"]


def test_every_default_is_specified_and_equal(role: pathlib.Path) -> None:
    specified = options(role)
    defaults = load(role / "defaults" / "main.yml")
    assert set(defaults) - set(specified) == set(), "defaults without a specification"
    assert {name: option["default"] for name, option in specified.items() if "default" in option} == defaults


def test_defaults_have_the_specified_type(role: pathlib.Path) -> None:
    for name, option in options(role).items():
        default = option.get("default")
        if default is None or option["type"] == "raw" or (isinstance(default, str) and "{{" in default):
            continue
        assert default.__class__ is PYTHON_TYPES[option["type"]], f"{name}: {default!r} is no {option['type']}"


def check_described(where: str, specified: dict[str, dict[str, Any]]) -> None:
    for name, option in specified.items():
        assert option.get("description"), f"{where}{name} has no description"
        assert option.get("type"), f"{where}{name} has no type"
        if option["type"] == "list":
            assert option.get("elements"), f"{where}{name} is a list without elements"
        check_described(f"{where}{name}.", option.get("options", {}))


def test_every_option_is_described_and_typed(role: pathlib.Path) -> None:
    check_described("", options(role))


def test_variables_carry_the_prefix_of_their_role(role: pathlib.Path) -> None:
    for name in options(role):
        assert name.startswith(f"{role.name}_"), name
    for name in load(role / "vars" / "main.yml"):
        assert name.startswith((f"__{role.name}_", f"{role.name}_")), name
