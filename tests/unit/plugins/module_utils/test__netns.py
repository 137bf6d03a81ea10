# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import socket
import threading

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _netns

# The fields of `crictl inspectp` (v1.37.0, containerd 2.4.2) that are read.
INSPECT = {
    "status": {
        "id": "5f0c",
        "metadata": {"name": "probe-x", "namespace": "podnet-verify"},
        "network": {"ip": "10.244.1.5", "additionalIps": [{"ip": "fd42::5"}]},
    },
    "info": {
        "pid": 4711,
        "runtimeSpec": {
            "linux": {"namespaces": [{"type": "pid"}, {"type": "network", "path": "/var/run/netns/cni-1"}]}
        },
    },
}


def test_sandbox() -> None:
    found = _netns.sandbox_of(INSPECT)
    assert found is not None
    assert (found.pid, found.netns, found.addresses) == (4711, "/var/run/netns/cni-1", ("10.244.1.5", "fd42::5"))


def test_sandbox_without_a_path_is_entered_by_its_process() -> None:
    found = _netns.sandbox_of({**INSPECT, "info": {"pid": 4711}})
    assert found is not None and found.netns == "/proc/4711/ns/net"


@pytest.mark.parametrize("answer", [{}, {**INSPECT, "info": {}}, {**INSPECT, "status": {"network": {"ip": ""}}}])
def test_sandbox_that_is_not_up_yet(answer: dict[str, object]) -> None:
    assert _netns.sandbox_of(answer) is None


def test_entering_what_is_not_there_says_so() -> None:
    with pytest.raises(_netns.NetnsError, match="/nowhere cannot be opened: No such file"):
        _netns.enter("/nowhere")


def test_mtu_of_loopback() -> None:
    assert _netns.mtu_of("lo") >= 1500


@pytest.mark.skipif(os.geteuid() != 0, reason="a network namespace is made and entered by root only")
def test_a_thread_enters_and_the_others_stay() -> None:
    """A namespace without any link but a loopback that is down: nothing can be reached from it."""
    made, seen = threading.Event(), {}
    done = threading.Event()

    def make() -> None:
        import ctypes

        assert ctypes.CDLL(None).unshare(_netns.CLONE_NEWNET) == 0
        seen["tid"] = threading.get_native_id()
        made.set()
        done.wait(5)

    def enter() -> None:
        _netns.enter(f"/proc/self/task/{seen['tid']}/ns/net")
        try:
            socket.create_connection(("127.0.0.1", 1), 1).close()
        except OSError as exc:
            seen["inside"] = exc.errno

    for target in (make, enter):
        thread = threading.Thread(target=target, daemon=True)
        thread.start()
        made.wait(5) if target is make else thread.join(5)
    done.set()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", 1), 1)
    assert seen["inside"] == 101  # ENETUNREACH
