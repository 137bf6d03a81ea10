# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any, Callable

import pytest

from ansible_collections.podnet.kubeadm.plugins.modules import packet_trace

RunModule = Callable[..., dict[str, Any]]
CONNECTION = {"word": "w", "pods": ["shop/client"], "source_port": 23456, "address": "192.0.2.1", "port": 80}


@pytest.mark.parametrize("state", ["watching", "connecting", "collected"])
def test_check_mode_watches_nothing(run_module: RunModule, state: str) -> None:
    result = run_module(packet_trace, {**CONNECTION, "state": state}, check=True)
    assert result["changed"] is False and "failed" not in result and "packets" not in result


def test_a_connection_needs_its_ends(run_module: RunModule) -> None:
    result = run_module(packet_trace, {"state": "watching", "word": "w"})
    assert result["failed"] and "source_port, address, port" in result["msg"]


@pytest.mark.parametrize("peer, said", [("192.0.2.2", "an address, a blank and a port"), ("nowhere 80", "'nowhere'")])
def test_a_peer_that_is_none_is_told(run_module: RunModule, peer: str, said: str) -> None:
    result = run_module(packet_trace, {**CONNECTION, "state": "watching", "peers": [peer]}, check=True)
    assert result["failed"] and said in result["msg"]


def test_a_watch_that_is_not_there_is_told(run_module: RunModule) -> None:
    result = run_module(packet_trace, {"state": "collected", "word": "nobody"})
    assert result["failed"] and "the watch nobody on this host does not answer" in result["msg"]
