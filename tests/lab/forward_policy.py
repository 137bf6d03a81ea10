# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Firewalls on a lab node, each judged, mended and taken back, with a probe for the truth.

    PODNET_LAB=NAME ./dev lab up 1
    PODNET_LAB=NAME ./dev run python tests/lab/forward_policy.py [NODE] [--only WORD] [--flannel iptables|nftables]

For each case: the module's answer against what a probe packet does, the rule it names, `permitted` where an owner is
known and its refusal where not, a second run that changes nothing, and `absent` after which the rules are as before.
Needs no cluster; on a node of one, --flannel says in which mode, and cases that would flush its rules are left out.
Needs the packages firewalld, ufw and docker.io on the node for their cases. Last line "N passed, M failed".
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from typing import Any

CIDR = "10.244.0.0/16"

NFT_FILE = """table inet filter {
  chain forward {
    type filter hook forward priority %s; policy drop;
    ct state established,related accept
  }
}
"""


@dataclass
class Case:
    """up and down: shell on the node. drops: whether pods are cut off. by: what the rule's place has to contain.

    remedy: what `permitted` answers, or None where it has to refuse. accepted_first: in flannel's iptables mode its own
    accept comes first, so nothing is dropped. bare: not on a node of a cluster, whose rules it would flush.
    """

    name: str
    up: str
    down: str
    drops: bool
    by: str = ""
    remedy: str | None = None
    accepted_first: bool = False
    bare: bool = False
    restart: str = ""  # a service that keeps the rules; our own has to be there after it was restarted


IPT = "iptables-nft"
OWN_ACCEPT = f"{IPT} -A FORWARD -s {CIDR} -j ACCEPT; {IPT} -A FORWARD -d {CIDR} -j ACCEPT"
NO_ACCEPT = f"{IPT} -D FORWARD -s {CIDR} -j ACCEPT; {IPT} -D FORWARD -d {CIDR} -j ACCEPT"
OPEN = f"{IPT} -P FORWARD ACCEPT"
REJECT = "-j REJECT --reject-with icmp-host-prohibited"
PAIR = "FORWARD -s 10.244.0.9 -d 10.244.1.9 -j DROP"
ON_FORWARD = "filter/FORWARD"
# A firewalld that is stopped too soon after its start leaves its table behind.
FIREWALLD_OFF = "systemctl stop firewalld; nft delete table inet firewalld 2>/dev/null"

CASES = [
    Case("nothing", "true", "true", drops=False),
    Case("policy DROP, nft", f"{IPT} -P FORWARD DROP", OPEN, True, "policy drop", ON_FORWARD, accepted_first=True),
    Case("policy DROP behind an accept of the pods", f"{IPT} -P FORWARD DROP; {OWN_ACCEPT}", f"{NO_ACCEPT}; {OPEN}",
         False, bare=True),
    Case("policy DROP, legacy", "iptables-legacy -P FORWARD DROP", "iptables-legacy -P FORWARD ACCEPT", True,
         "policy drop", ON_FORWARD),
    Case("REJECT at the head", f"{IPT} -I FORWARD 1 -j REJECT", f"{IPT} -D FORWARD -j REJECT", True, "REJECT",
         ON_FORWARD),
    Case("REJECT at the end", f"{IPT} -A FORWARD {REJECT}", f"{IPT} -D FORWARD {REJECT}", True, "REJECT", ON_FORWARD,
         accepted_first=True),
    Case("REJECT at the end, behind an accept", f"{OWN_ACCEPT}; {IPT} -A FORWARD {REJECT}",
         f"{NO_ACCEPT}; {IPT} -D FORWARD {REJECT}", False, bare=True),
    Case("REJECT at the head, a denied pair behind it", f"{IPT} -I FORWARD 1 -j REJECT; {IPT} -A {PAIR}",
         f"{IPT} -D FORWARD -j REJECT; {IPT} -D {PAIR}", True, "REJECT", None),
    Case("policy DROP, a denied pair before it", f"{IPT} -P FORWARD DROP; {IPT} -A {PAIR}", f"{IPT} -D {PAIR}; {OPEN}",
         True, "policy drop", ON_FORWARD, accepted_first=True),
    *(
        Case(f"inet table, policy drop, priority {priority}, loaded by hand",
             "nft -f - <<'END'\n" + (NFT_FILE % priority).replace("filter {", "mine {") + "END\n",
             "nft delete table inet mine", True, "policy drop", None)
        for priority in ("-10", "0", "10")
    ),
    Case("inet table, policy drop, in /etc/nftables.conf",
         "cp /etc/nftables.conf /root/nftables.conf.before; "
         f"(echo 'flush ruleset'; cat <<'END'\n{NFT_FILE % '0'}END\n) > /etc/nftables.conf; systemctl start nftables",
         "systemctl stop nftables; nft delete table inet filter 2>/dev/null; "
         "cp /root/nftables.conf.before /etc/nftables.conf",
         True, "policy drop", "filter/forward", bare=True, restart="nftables"),
    Case("firewalld, default zones", "systemctl start firewalld", FIREWALLD_OFF, True, "firewalld",
         "firewalld", restart="firewalld"),
    Case("ufw, routed deny", "ufw allow 22/tcp >/dev/null; ufw --force enable; systemctl start ufw",
         f"ufw --force disable; ufw --force delete allow 22/tcp; {OPEN}; {IPT} -P INPUT ACCEPT", True, "ufw", "ufw",
         accepted_first=True, restart="ufw"),
    Case("Docker's DROP", "systemctl start docker; iptables-nft -P FORWARD DROP",
         f"systemctl stop docker docker.socket; {OPEN}; iptables-nft -F; iptables-nft -X", True, "docker",
         "filter/DOCKER-USER", bare=True, restart="docker"),
]  # fmt: skip


class Node:
    """A lab node, by podman."""

    def __init__(self, lab: str, name: str) -> None:
        done = subprocess.run(
            ["podman", "inspect", "--format", "{{.State.Pid}}", f"{lab}-{name}"],
            capture_output=True,
            text=True,
            check=True,
        )
        # nsenter costs a tenth of `podman exec`.
        self.enter = [
            "nsenter",
            "--target",
            done.stdout.strip(),
            "-m",
            "-u",
            "-i",
            "-n",
            "-p",
            "-r",
            "env",
            "-i",
            "-C/",
        ]
        self.enter += ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"]
        self.seconds = 0.0

    def shell(self, script: str, check: bool = True) -> str:
        command = [*self.enter, "bash", "-c", script]
        done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
        if check and done.returncode:
            raise RuntimeError(f"{script!r}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def prepare(self) -> None:
        """Copies the collection and Ansible's module_utils there: a call of the module is then one process."""
        import ansible

        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        site = os.path.dirname(os.path.dirname(ansible.__file__))
        into = [*self.enter, "tar", "-C", "/root/direct", "-xf", "-"]
        self.shell("rm -rf /root/direct; mkdir -p /root/direct")
        for folder, parts, move in (
            (site, ["ansible/__init__.py", "ansible/_vendor", "ansible/release.py", "ansible/module_utils"], "s,^,,"),
            (root, ["plugins/module_utils", "plugins/modules"], "s,^,ansible_collections/podnet/kubeadm/,"),
        ):
            command = ["tar", "-C", folder, "--exclude=__pycache__", f"--transform={move}", "-cf", "-", *parts]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as packed:
                subprocess.run(into, stdin=packed.stdout, check=True, timeout=120)

    def module(self, check: bool = False, **options: Any) -> dict[str, Any]:
        arguments = json.dumps({"ANSIBLE_MODULE_ARGS": {**options, "_ansible_check_mode": check}})
        script = (
            "import ansible.module_utils.basic as basic, sys\n"
            f"basic._ANSIBLE_ARGS = {arguments!r}.encode()\n"
            "basic._ANSIBLE_PROFILE = 'legacy'\n"
            "from ansible_collections.podnet.kubeadm.plugins.modules import forward_policy\n"
            "forward_policy.main()\n"
        )
        started = time.monotonic()
        done = subprocess.run(
            [*self.enter, "PYTHONPATH=/root/direct", "python3", "-"],
            input=script, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        self.seconds = time.monotonic() - started
        if not done.stdout.strip().startswith("{"):
            raise RuntimeError(f"no answer of the module: {done.stdout[-800:]} {done.stderr[-1500:]}")
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    def rules(self) -> str:
        """All rules, without counters, handles and times."""
        text = self.shell(
            "for t in iptables-nft ip6tables-nft iptables-legacy ip6tables-legacy; do echo \"# $t\"; $t-save; done;"
            "nft list ruleset", check=False
        )  # fmt: skip
        lines = [re.sub(r"\[\d+:\d+\]|packets \d+ bytes \d+", "", line) for line in text.splitlines()]
        return "\n".join(line for line in lines if not line.startswith(("# Generated", "# Completed")))

    def settled(self) -> str:
        """The rules once nothing changes them any more: flannel brings back what a firewall has flushed, within 5 s."""
        before = self.rules()
        for _attempt in range(6):
            time.sleep(6)
            after = self.rules()
            if after == before:
                break
            before = after
        return before


class Wrong(Exception):
    """A case did not hold; the text says what."""


def need(condition: bool, text: str) -> None:
    if not condition:
        raise Wrong(text)


def run(node: Node, case: Case) -> None:
    node.shell(case.up)
    try:
        before = node.settled()
        answer = node.module(pod_cidrs=[CIDR], probe=True)
        need("fault of podnet.kubeadm" not in answer.get("msg", ""), f"walk and probe differ: {answer.get('msg')}")
        need(
            answer["verdict"] == ("drop" if case.drops else "accept"),
            f"judged {answer['verdict']}: {answer.get('reason')}",
        )
        need(answer["probe"]["4"] is not case.drops, f"the probe says {answer['probe']}")
        if case.drops:
            need(case.by in json.dumps(answer["packets"]) and case.by in answer["reason"], f"named {answer['reason']}")
        predicted = node.module(check=True, state="permitted", pod_cidrs=[CIDR])
        need(node.rules() == before, "asserted or check mode changed a rule")
        mended = node.module(state="permitted", pod_cidrs=[CIDR], probe=True)
        if case.drops and case.remedy is None:
            told = mended.get("msg", "")
            need(bool(mended.get("failed")) and ("rules to add" in told or "denied" in told), f"no refusal: {told}")
            need(node.rules() == before, "a refusal changed a rule")
            return
        need(not mended.get("failed"), f"not mended: {mended.get('msg')}")
        need(mended["verdict"] == "accept" and mended["probe"]["4"], f"after permitted: {mended}")
        need(mended["changed"] == case.drops == predicted["changed"], "changed, or its prediction, is wrong")
        if not case.drops:
            need(node.rules() == before, "permitted changed rules though nothing was dropped")
            return
        need(mended["remedies"] == [case.remedy] == predicted["remedies"], f"told {mended['remedies']}")
        again = node.module(state="permitted", pod_cidrs=[CIDR])
        need(not again["changed"], "a second run changed something")
        if case.restart:
            node.shell(f"systemctl restart {case.restart}; sleep 1")
            later = node.module(pod_cidrs=[CIDR], probe=True)
            need(
                not later.get("failed") and later["probe"]["4"],
                f"lost at a restart of {case.restart}: {later.get('msg')}",
            )
        gone = node.module(state="absent")
        need(gone["changed"], "absent says that nothing was there")
        after = node.rules()
        need(after == before, f"absent left other rules:\n{_difference(before, after)}")
        need(not node.module(state="absent")["changed"], "a second absent changed something")
    finally:
        node.module(state="absent")
        node.shell(case.down, check=False)


def _difference(before: str, after: str) -> str:
    import difflib

    return "\n".join(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("node", nargs="?", default="n1")
    parser.add_argument("--only", default="")
    parser.add_argument(
        "--flannel", choices=("iptables", "nftables"), help="the node is one of a cluster, in this mode"
    )
    options = parser.parse_args()
    node = Node(os.environ.get("PODNET_LAB", "podnet"), options.node)
    node.prepare()
    passed = failed = 0
    for case in CASES:
        if options.only not in case.name or (options.flannel and case.bare):
            continue
        if options.flannel == "iptables" and case.accepted_first:
            case = replace(case, drops=False)
        started = time.monotonic()
        try:
            run(node, case)
            passed += 1
            print(f"  ok      {case.name} ({time.monotonic() - started:.0f} s)", flush=True)
        except (Wrong, RuntimeError, KeyError) as error:
            failed += 1
            print(f"  FAILED  {case.name}: {error}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
