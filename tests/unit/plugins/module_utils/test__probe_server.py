# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import time

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _probe_server


def test_a_question_of_another_run_is_none() -> None:
    assert _probe_server.question(b"podnet w who\n", "w") == ["who"]
    assert _probe_server.question(b"podnet x who\n", "w") == []
    assert _probe_server.question(b"GET / HTTP/1.0\n", "w") == []


@pytest.mark.parametrize(("pid", "life"), [(2**22 + 1, 60.0), (os.getpid(), 0.0)])
def test_it_ends_with_the_pod_or_its_life(pid: int, life: float) -> None:
    start = time.monotonic()
    _probe_server.stay(pid, life)
    assert time.monotonic() - start < 1
