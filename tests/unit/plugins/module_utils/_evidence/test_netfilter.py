# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What nft says where its JSON breaks off, as nft 1.0.6 of Debian 12 said it (commands and output, shortened)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence import netfilter
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.source import Missing, Result, Source

KEEP = '{"nftables": [{"table": {"family": "inet", "name": "keep", "handle": 1}}]}'
SAID = {
    "nft -j list ruleset": '{"nftables": [{"table": {"family": "inet", "name": "o0", "handle": 2, "flags": \n',
    "nft list tables": "table inet keep\ntable inet o0\n",
    "nft -t list table inet keep": "table inet keep {\n\tchain c {\n\t}\n}\n",
    "nft -t list table inet o0": "table inet o0 {\n\tflags dormant\n\n\tchain c {\n\t}\n}\n",
    "nft -j list table inet keep": KEEP,
}


def source(folder: Path, **said: Any) -> Source:
    answers = {**SAID, **{key.replace("_", " "): value for key, value in said.items()}}
    return Source(str(folder), lambda argv, *_more, **_options: Result(0, answers[" ".join(argv)], ""))


def test_a_table_that_is_asleep_is_named_where_it_breaks_the_json(tmp_path: Path) -> None:
    assert netfilter.nft(source(tmp_path))["nftables"] == [
        {"table": {"family": "inet", "name": "keep", "handle": 1}},
        {"table": {"family": "inet", "name": "o0", "flags": "dormant"}},
    ]


def test_json_that_is_broken_by_something_else_is_missing(tmp_path: Path) -> None:
    awake = {"nft -t list table inet o0": "table inet o0 {\n}\n", "nft -j list table inet o0": KEEP}
    with pytest.raises(Missing, match="did not answer JSON"):
        netfilter.nft(source(tmp_path, **awake))
