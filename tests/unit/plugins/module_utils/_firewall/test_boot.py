# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The real nft and iptables, in a network namespace of each test's own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

import pytest

from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall import change
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.accepts import accepts_of
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.boot import script
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.change import ChangeError, Tools
from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall.remedy import Jump

ACCEPTS = accepts_of(["10.42.0.0/16"], [])
NFT = Jump("forward", "nft", "inet", "f", "c")
IPTABLES = Jump("forward", "nft", "ip", "filter", "FORWARD")
DENY = "ip saddr 10.9.9.9 drop"
WAYS = "jump PODNET-FORWARD"


class Namespace:
    def __init__(self, pid: int) -> None:
        self.enter = ["nsenter", f"--net=/proc/{pid}/ns/net"]
        self.tools = Tools(self.run)

    def run(self, argv: list[str], text: str = "") -> tuple[int, str, str]:
        done = subprocess.run([*self.enter, *argv], input=text, text=True, capture_output=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def load(self, *rules: str) -> None:
        head = "flush ruleset; table inet f { chain c { type filter hook forward priority 0; policy accept;"
        code, _out, err = self.run(["nft", "-f", "-"], f"{head} {'; '.join(rules)}; }}; }}\n")
        assert code == 0, err

    def boot(self, jump: Jump) -> None:
        code, _out, err = self.run(["sh"], script([jump], ACCEPTS))
        assert code == 0, err

    def rules(self, jump: Jump) -> list[str]:
        return [text for text, _handle in change.rules_of(self.tools, jump)]


@pytest.fixture
def namespace() -> Iterator[Namespace]:
    if (
        not all(map(shutil.which, ("nft", "iptables-nft", "nsenter")))
        or subprocess.run(["unshare", "-n", "nft", "list", "ruleset"], capture_output=True, check=False).returncode
    ):
        pytest.skip("needs root, nft and iptables-nft")
    with subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec cat"], stdin=-1, stdout=-1) as process:
        assert process.stdout and process.stdin
        process.stdout.readline()
        yield Namespace(process.pid)
        process.stdin.close()


@pytest.mark.parametrize(
    ("rules", "number"),
    [
        ([DENY, "drop"], 1),
        ([DENY, "counter drop"], 1),
        ([DENY, 'counter drop comment "the # handle 7"'], 1),
        (["meta mark 1 drop", "meta mark set 1", DENY, "meta mark 1 drop"], 3),
        ([DENY, 'iifname "eth0" accept'], None),
    ],
)
def test_the_boot_enters_where_the_run_did(namespace: Namespace, rules: list[str], number: int | None) -> None:
    namespace.load(*rules)
    plain = namespace.rules(NFT)
    jump = change.located(namespace.tools, NFT, number)
    change.add_jump(namespace.tools, jump, ACCEPTS, move=True)
    entered = namespace.rules(NFT)
    expected = len(plain) if number is None else number
    assert entered == [*plain[:expected], WAYS, *plain[expected:]]
    namespace.load(*rules)
    if "counter drop" in rules:  # counts of packets are no part of a rule
        namespace.load(DENY, "counter packets 5 bytes 7 drop")
    for _again in range(2):
        namespace.boot(jump)
        assert namespace.rules(NFT) == entered


def test_the_boot_enters_before_the_same_of_equal_rules_of_iptables(namespace: Namespace) -> None:
    def load() -> None:
        namespace.tools.run("iptables-nft", "-F", "FORWARD")
        for words in ("-i x -j DROP", "-s 10.9.9.9 -j DROP", "-i x -j DROP"):
            namespace.tools.run("iptables-nft", "-A", "FORWARD", *words.split())

    load()
    jump = change.located(namespace.tools, IPTABLES, 2)
    load()
    namespace.boot(jump)
    assert namespace.rules(IPTABLES).index("-A FORWARD -j PODNET-FORWARD") == 2


@pytest.mark.parametrize("entry", [NFT, IPTABLES])
def test_a_jump_that_comes_too_late_is_moved_and_taken_back(namespace: Namespace, entry: Jump) -> None:
    namespace.load()
    change.add_jump(namespace.tools, entry, ACCEPTS, move=True)
    if entry is NFT:
        namespace.tools.run("nft", "insert", "rule", "inet", "f", "c", "iifname", '"cni0"', "drop")
    else:
        namespace.tools.run("iptables-nft", "-I", "FORWARD", "-i", "cni0", "-j", "DROP")
    late = namespace.rules(entry)
    jump = change.located(namespace.tools, entry, 0)
    assert not change.comes_before(namespace.tools, jump)
    change.add_jump(namespace.tools, jump, ACCEPTS, move=False)
    assert namespace.rules(entry) == late
    for _again in range(2):
        change.add_jump(namespace.tools, jump, ACCEPTS, move=True)
        assert namespace.rules(entry) == late[::-1]
    for _again in range(2):
        change.remove_jump(namespace.tools, jump)
        change.remove_chain(namespace.tools, jump)
        assert namespace.rules(entry) == late[:1]


@pytest.mark.parametrize("entry", [NFT, IPTABLES])
def test_a_chain_that_somebody_enters_elsewhere_is_told(namespace: Namespace, entry: Jump) -> None:
    namespace.load()
    change.add_jump(namespace.tools, entry, ACCEPTS, move=True)
    if entry is NFT:
        namespace.tools.run("nft", "add", "chain", "inet", "f", "own")
        namespace.tools.run("nft", "add", "rule", "inet", "f", "own", *WAYS.split())
    else:
        namespace.tools.run("iptables-nft", "-A", "OUTPUT", "-j", "PODNET-FORWARD")
    change.remove_jump(namespace.tools, entry)
    with pytest.raises(ChangeError, match="PODNET-FORWARD"):
        change.remove_chain(namespace.tools, entry)


def test_a_table_of_iptables_name_that_nft_drives_is_driven_by_nft_at_boot_too(namespace: Namespace) -> None:
    rules = "ip saddr { 10.9.9.9, 10.9.9.10 } drop; iifname { cni0, eth9 } drop"
    table = "table ip filter { chain FORWARD { type filter hook forward priority 0; policy accept;"
    code, _out, err = namespace.run(["nft", "-f", "-"], f"{table} {rules}; }}; }}\n")
    assert code == 0, err
    jump = change.located(namespace.tools, Jump("forward", "nft", "ip", "filter", "FORWARD", by_nft=True), 1)
    remembered = Jump(**jump.as_dict())
    assert remembered.native and remembered.before.startswith("iifname {")
    namespace.boot(remembered)
    assert namespace.rules(remembered) == ["ip saddr { 10.9.9.9, 10.9.9.10 } drop", WAYS, remembered.before]
    namespace.boot(remembered)
    assert namespace.rules(remembered).count(WAYS) == 1
    change.remove_jump(namespace.tools, remembered)
    change.remove_chain(namespace.tools, remembered)
    assert WAYS not in namespace.rules(remembered)
