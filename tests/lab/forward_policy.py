# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Firewalls on a lab node, each judged, mended and taken back, with a probe for the truth.

    PODNET_LAB=NAME ./dev lab up 1
    PODNET_LAB=NAME ./dev run python tests/lab/forward_policy.py [NODE] [--install] [--boot] [--family 4|6]
    PODNET_LAB=NAME ./dev run python tests/lab/forward_policy.py NODE --flannel iptables|nftables --peer OTHER

For each case: the module's answer against what a probe packet does, the rule it names, `permitted` where an owner is
known and its refusal where not, a second run that changes nothing, and `absent` after which the rules are as before.
--boot restarts the node while our own rules are there. Needs no cluster; on a node of one, --flannel says in which
mode, pods on it and on OTHER are asked too, and what would flush kube-proxy's rules is left out. Cases of a package
that the node has not (nftables, firewalld, ufw, docker.io) are left out, and named.
Last line "N passed, M failed".
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

from forward_policy_cases import CASES, CIDR, CIDR6, DENIED, IPT, Case, for_ipv6


class Node:
    """A lab node, by podman."""

    def __init__(self, lab: str, name: str) -> None:
        self.lab, self.name = lab, name
        self.on_cluster = False
        self.cluster: set[str] = set()  # rules and chains of the cluster, before any case
        self.enter: list[str] = []
        self.seconds = 0.0
        self.find()

    def find(self) -> None:
        done = subprocess.run(
            ["podman", "inspect", "--format", "{{.State.Pid}}", f"{self.lab}-{self.name}"],
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

    def restart(self) -> None:
        """A reboot, as far as a container has one: all rules are gone, and systemd starts its units anew."""
        subprocess.run(
            ["podman", "restart", "-t", "1", f"{self.lab}-{self.name}"], check=True, capture_output=True, timeout=300
        )
        self.find()
        self.shell("systemctl is-system-running --wait", check=False)

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

    def install(self) -> None:
        """The packages of the cases, from the lab's mirror, and none of their services started. Docker is not in it."""
        packages = "nftables iptables firewalld ufw"
        self.shell(
            "printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d; chmod +x /usr/sbin/policy-rc.d; "
            "export DEBIAN_FRONTEND=noninteractive; apt-get update -qq && "
            f"apt-get install -y -qq --no-install-recommends {packages} >/dev/null && "
            "systemctl -q disable firewalld nftables; rm /usr/sbin/policy-rc.d; "
            "systemctl reload dbus"  # the names that firewalld and polkit may own are new
        )

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

    def passes(self, family: str) -> bool:
        """Whether a packet of the denied pair is forwarded."""
        script = (
            "import subprocess\n"
            "from ansible_collections.podnet.kubeadm.plugins.module_utils._firewall import accepts, change, probe\n"
            "def run(argv):\n"
            "    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)\n"
            "    return done.returncode, done.stdout, done.stderr\n"
            f"probe.addresses = lambda cidr: {list(DENIED[family])!r}\n"
            f"wanted = accepts.accepts_of([{(CIDR6 if family == '6' else CIDR)!r}], [])\n"
            f"print(probe.send(wanted, change.Tools(run))[{family}])\n"
        )
        return self.shell(f"PYTHONPATH=/root/direct python3 - <<'END'\n{script}END\n").strip() == "True"

    def rules(self) -> str:
        """All rules, without counters, handles and times."""
        text = self.shell(
            "for t in iptables-nft ip6tables-nft iptables-legacy ip6tables-legacy; do echo \"# $t\"; $t-save; done;"
            "nft list ruleset", check=False
        )  # fmt: skip
        lines = [re.sub(r"\[\d+:\d+\]|packets \d+ bytes \d+", "", line) for line in text.splitlines()]
        return "\n".join(line for line in lines if not line.startswith(("# Generated", "# Completed")))

    def settled(self) -> str:
        """The rules once nothing changes them any more.

        What a firewall has flushed flannel brings back within 5 s, kube-proxy and kubelet within a minute.
        """
        before = self.rules()
        for _attempt in range(20):
            time.sleep(6 if self.on_cluster else 1)
            after = self.rules()
            if after == before and self.cluster <= set(after.splitlines()):
                break
            before = after
        return before


class Pods:
    """A pod on the node and one on another, which are there already."""

    def __init__(self, node: Node, peer: Node) -> None:
        self.ends = [(one, *self._pod(one)) for one in (node, peer)]
        self.peer = peer.shell("ip -4 -o address show dev eth0 | awk '{split($4, a, \"/\"); print a[1]}'").strip()

    def _pod(self, node: Node) -> tuple[str, str]:
        """(network namespace, address) of a pod with a network of its own."""
        for pod in node.shell("crictl pods -q --state ready").split():
            found = json.loads(node.shell(f"crictl inspectp {pod}"))
            options = found["status"]["linux"]["namespaces"]["options"]
            if options["network"] == "POD":
                spaces = found["info"]["runtimeSpec"]["linux"]["namespaces"]
                path = next(one["path"] for one in spaces if one["type"] == "network")
                return path, found["status"]["network"]["ip"]
        raise RuntimeError(f"{node.name} has no pod with a network of its own; run one")

    def talk(self) -> bool:
        """Whether each of them answers the other; both ways have to agree."""
        answers = []
        for (node, space, _own), (_peer, _space, address) in (self.ends, self.ends[::-1]):
            out = node.shell(f"nsenter --net={space} ping -n -c 3 -i 0.2 -W 2 {address}", check=False)
            answers.append(f"bytes from {address}" in out)
        if answers[0] != answers[1]:
            raise Wrong(f"one of the pods reaches the other, and not the other way round: {answers}")
        return answers[0]


class Wrong(Exception):
    """A case did not hold; the text says what."""


def need(condition: bool, text: str) -> None:
    if not condition:
        raise Wrong(text)


def run(node: Node, case: Case, cidr: str, pods: Pods | None, boot: bool) -> None:
    family = "6" if ":" in cidr else "4"
    wanted: dict[str, Any] = {"pod_cidrs": [cidr]}
    if pods:
        wanted["ports"] = [{"port": "8472", "protocol": "udp", "sources": [pods.peer]}]
    closed = case.closes and pods is not None
    cut = case.drops or closed
    remedies = [case.remedy] * (case.drops + closed)
    node.shell(case.up)
    try:
        before = node.settled()
        answer = node.module(**wanted, probe=True)
        need("verdict" in answer, f"no verdict: {answer.get('msg')}")
        need("fault of podnet.kubeadm" not in answer.get("msg", ""), f"walk and probe differ: {answer.get('msg')}")
        need(
            answer["verdict"] == ("drop" if cut else "accept"),
            f"judged {answer['verdict']}: {answer.get('reason')}",
        )
        need(answer["probe"][family] is not case.drops, f"the probe says {answer['probe']}")
        need(
            pods is None or pods.talk() is not cut,
            f"pods {'reach' if cut else 'do not reach'} each other",
        )
        if cut:
            need(case.by in json.dumps(answer["packets"]) and case.by in answer["reason"], f"named {answer['reason']}")
        predicted = node.module(check=True, state="permitted", **wanted)
        now = node.rules()
        need(now == before, f"asserted or check mode changed a rule:\n{_difference(before, now)}")
        mended = node.module(state="permitted", **wanted, probe=True)
        if cut and case.remedy is None:
            told = mended.get("msg", "")
            need(bool(mended.get("failed")) and ("rules to add" in told or "denied" in told), f"no refusal: {told}")
            need(node.rules() == before, "a refusal changed a rule")
            rules = re.search(r"The rules to add: (.+)", told)
            if rules:
                node.shell(rules.group(1))
                need(
                    node.module(**wanted, probe=True).get("verdict") == "accept",
                    f"still dropped after {rules.group(1)}",
                )
                need(pods is None or pods.talk(), f"pods do not reach each other after {rules.group(1)}")
            return
        need(not mended.get("failed"), f"not mended: {mended.get('msg')}")
        need(mended["verdict"] == "accept" and mended["probe"][family], f"after permitted: {mended}")
        need(mended["changed"] == cut == predicted["changed"], "changed, or its prediction, is wrong")
        if not cut:
            need(node.rules() == before, "permitted changed rules though nothing was dropped")
            return
        need(mended["remedies"] == remedies == predicted["remedies"], f"told {mended['remedies']}")
        again = node.module(state="permitted", **wanted)
        need(not again["changed"], "a second run changed something")
        need(pods is None or pods.talk(), "pods do not reach each other after permitted")
        need(not (case.denied and node.passes(family)), "a denied pair is accepted after permitted")
        if case.restart:
            node.shell(f"systemctl restart {case.restart}; sleep 1")
            kept(node, wanted, family, f"a restart of {case.restart}")
            need(pods is None or pods.talk(), f"pods do not reach each other after a restart of {case.restart}")
        if case.restart and boot:
            node.shell(f"systemctl -q enable {case.restart}")
            node.restart()
            if (
                case.restart == "docker"
            ):  # it turns forwarding on, and with that sets its policy, at the first boot only
                node.shell(f"{IPT} -P FORWARD DROP")
            kept(node, wanted, family, "a reboot")
            node.shell(f"systemctl -q disable {case.restart}")
        gone = node.module(state="absent")
        need(gone["changed"], "absent says that nothing was there")
        after = node.settled() if case.restart and node.on_cluster else node.rules()
        # A firewall that was restarted has made its chains in another order.
        same = sorted(after.splitlines()) == sorted(before.splitlines()) if case.restart else after == before
        need(same or boot, f"absent left other rules:\n{_difference(before, after)}")
        need(not node.module(state="absent")["changed"], "a second absent changed something")
    finally:
        node.module(state="absent")
        node.shell(case.down, check=False)
        if case.restart and node.on_cluster:
            node.settled()


def kept(node: Node, wanted: dict[str, Any], family: str, event: str) -> None:
    later = node.module(**wanted, probe=True)
    arrived = later.get("probe", {}).get(family)
    need(not later.get("failed") and arrived, f"lost at {event}: {later.get('msg')}")


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
    parser.add_argument("--peer", help="another node of that cluster")
    parser.add_argument("--family", choices=("4", "6"), default="4")
    parser.add_argument("--install", action="store_true", help="first install the packages, from the lab's mirror")
    parser.add_argument("--boot", action="store_true", help="restart the node where a service keeps the rules")
    options = parser.parse_args()
    lab = os.environ.get("PODNET_LAB", "podnet")
    node = Node(lab, options.node)
    node.prepare()
    if options.flannel:
        node.on_cluster = True
        node.cluster = {line for line in node.rules().splitlines() if line.startswith((":KUBE-", "-A INPUT -j KUBE-"))}
    if options.install:
        node.install()
    pods = Pods(node, Node(lab, options.peer)) if options.peer else None
    if options.family == "6":
        node.shell("sysctl -qw net.ipv6.conf.all.forwarding=1")
    passed = failed = 0
    for case in CASES:
        if options.only not in case.name or (options.flannel and case.bare):
            continue
        if case.needs and not node.shell(f"command -v {case.needs}", check=False):
            print(f"  left out {case.name}: the node has no {case.needs}")
            continue
        if options.family == "6":
            if case.needs == "dockerd":
                continue
            case = for_ipv6(case)
        if options.flannel == "iptables" and case.accepted_first:
            case = replace(case, drops=False)
        if options.flannel and case.on_cluster:
            case = replace(case, up=case.on_cluster, restart="")
        started = time.monotonic()
        try:
            run(node, case, CIDR6 if options.family == "6" else CIDR, pods, options.boot)
            passed += 1
            print(f"  ok      {case.name} ({time.monotonic() - started:.0f} s)", flush=True)
        except (Wrong, RuntimeError, KeyError) as error:
            failed += 1
            print(f"  FAILED  {case.name}: {error}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
