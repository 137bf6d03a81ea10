# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils import _probe_asker, _probe_client
from ansible_collections.podnet.kubeadm.plugins.module_utils._probe_client import ProbeFailed
from ansible_collections.podnet.kubeadm.plugins.module_utils._probe_plan import Probe


def asker(**targets: Any) -> _probe_asker.Asker:
    return _probe_asker.Asker(
        {"node": "n1", "word": "w", "limit": 1.0, "port": 1, "partial": False, "targets": targets}
    )


def answers(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    left = list(names)

    def who(*_args: Any) -> str:
        name = left.pop(0)
        if not name:
            raise ProbeFailed("no answer")
        return name

    monkeypatch.setattr(_probe_client, "tcp_who", who)


def test_another_pod_than_the_one_that_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "n3")
    with pytest.raises(ProbeFailed, match="n3 answered instead of n2"):
        asker().who(Probe("tcp/pod", "n2", "10.244.1.5"))


def test_a_service_is_asked_until_each_of_its_pods_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "n1", "n1", "n2")
    one = asker(service_port=1)
    one.service(Probe("tcp/vip", "n1", "10.96.1.1", extra={"expected": ["n1", "n2"]}))
    assert one.seen == {"10.96.1.1": {"n1", "n2"}}


def test_a_dead_pod_behind_a_service_is_not_hidden_by_a_living_one(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "n1", "")
    with pytest.raises(ProbeFailed, match="try 2: no answer"):
        asker(service_port=1).service(Probe("tcp/vip", "n1", "10.96.1.1", extra={"expected": ["n1", "n2"]}))


def test_pods_of_hosts_that_take_no_part_may_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    left = ["n1", "", "n2"]

    def who(*_args: Any) -> str:
        name = left.pop(0)
        if not name:
            raise ProbeFailed("connection refused")
        return name

    monkeypatch.setattr(_probe_client, "tcp_who", who)
    one = asker(service_port=1)
    one.params["partial"] = True
    one.service(Probe("tcp/vip", "n1", "10.96.1.1", extra={"expected": ["n1", "n2"]}))
    assert left == []


def test_a_pod_that_never_answers_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, *["n1"] * 24)
    with pytest.raises(ProbeFailed, match="its pod on n2 never answered"):
        asker(service_port=1).service(Probe("tcp/vip", "n1", "10.96.1.1", extra={"expected": ["n1", "n2"]}))


def test_a_pod_that_is_none_of_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "n9", "n1")
    with pytest.raises(ProbeFailed, match="n9 answered, which is none of its pods"):
        asker(service_port=1).service(Probe("tcp/vip", "n1", "10.96.1.1", extra={"expected": ["n1"]}))


def test_patience_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "", "n2")
    monkeypatch.setattr(_probe_asker.time, "sleep", lambda _seconds: None)
    result = asker().ask(Probe("tcp/pod", "n2", "10.244.1.5"), _probe_asker.time.monotonic() + 5)
    assert (result["ok"], result["tries"], result["detail"]) == (True, 2, "")


def test_a_hairpin_is_told_from_who_answered() -> None:
    one = asker()
    one.seen = {"10.96.1.1": {"n2"}, "fd96::1": {"n1"}}
    result = {"from": "n1", "to": "n1", "what": "tcp/vip", "ok": True, "ms": 1.0, "detail": ""}
    found = one.hairpins([{**result, "address": address} for address in one.seen])
    assert [(each["what"], each["ok"]) for each in found] == [("tcp/hairpin", False), ("tcp/hairpin", True)]


def test_a_hairpin_is_known_where_another_pod_of_the_service_is_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, "n1", "")
    one = asker(service_port=1)
    result = one.ask(Probe("tcp/vip", "n1", "10.96.1.1", extra={"expected": ["n1", "n2"]}), 0)
    assert (result["ok"], one.hairpins([result])[0]["ok"]) == (False, True)
