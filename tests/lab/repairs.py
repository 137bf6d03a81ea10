#!/usr/bin/env python
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a repair promises beside mending, on a cluster of the lab: `./dev run python tests/lab/repairs.py [NAME...]`.

- undo: what it replaced goes back byte for byte, files with their mode and owner, and objects.
- check: `--check --diff` shows steps and differences, and changes nothing.
- killed: one that was killed in the middle of a drained node is finished by the next.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("PODNET_LAB", "faults")
os.environ.setdefault("PODNET_CACHE", str(Path.home() / ".cache" / "podnet.kubeadm"))
sys.path.insert(0, str(Path(__file__).resolve().parent / "faults"))

from cluster import CACHE, LAB, ROOT, Cluster, Failed, Seen

APPROVED = ("-e", "repair_approve=true")
FILE = "/etc/sysctl.d/99-zz-podnet-kubeadm.conf"
CHANGE = f"""sed -i /ip_forward/d {FILE}
printf '# by hand\\r\\n# no end of line' >>{FILE}
chown 65534:65534 {FILE}
chmod 640 {FILE}"""
MISMATCH = 'net_conf \'c["Network"] = "10.99.0.0/16"\''
FILES = f"od -c {FILE}; stat -c '%a %u %g' {FILE}"
OBJECTS = "kubectl -n kube-flannel get configmap kube-flannel-cfg -o jsonpath={.data}"
CALICO = """cat >/etc/cni/net.d/10-calico.conflist <<'CONF'
{"name": "k8s-pod-network", "cniVersion": "0.3.1", "plugins": [{"type": "calico", "ipam": {"type": "calico-ipam"}}]}
CONF"""
MARK = r"{.metadata.annotations.podnet\.kubeadm/cordoned-by-repair}"
NODE = f"kubectl get node n2 -o jsonpath='{{.spec.unschedulable}} {MARK}'"


def broken(cluster: Cluster) -> tuple[str, str]:
    """A file of a host and an object of the cluster that a repair will replace; answers them."""
    cluster.on("n2", CHANGE)
    cluster.on("n1", MISMATCH)
    return cluster.on("n2", FILES), cluster.on("n1", OBJECTS)


def repair(cluster: Cluster, *words: str) -> Seen:
    seen = cluster.play("playbooks/repair.yml", *words)
    if seen.code:
        raise Failed(f"repair {' '.join(words)} failed:\n{seen.text[-4000:]}")
    return seen


def same(what: str, found: tuple[str, str], wanted: tuple[str, str]) -> None:
    if found != wanted:
        raise Failed(f"{what}: {found} and not {wanted}")


def undo(cluster: Cluster) -> None:
    own = cluster.on("n2", f"cat {FILE}")
    before = broken(cluster)
    seen = repair(cluster, *APPROVED)
    if (cluster.on("n2", FILES), cluster.on("n1", OBJECTS)) == before:
        raise Failed("the repair changed nothing")
    dates = set(re.findall(r"-e repair_undo=(\d[-\dTZ]+)", seen.text))
    if len(dates) != 1:
        raise Failed(f"the repair names {dates or 'no date'} for going back:\n{seen.text[-2000:]}")
    repair(cluster, "-e", f"repair_undo={dates.pop()}")
    same("going back gave", (cluster.on("n2", FILES), cluster.on("n1", OBJECTS)), before)
    repair(cluster, *APPROVED)
    if cluster.on("n2", f"cat {FILE}") != own:
        raise Failed(f"{FILE} is not as it was before the test")


def check(cluster: Cluster) -> None:
    own = cluster.on("n2", f"cat {FILE}")
    before = broken(cluster)
    try:
        seen = repair(cluster, *APPROVED, "--check", "--diff")
        same("--check left", (cluster.on("n2", FILES), cluster.on("n1", OBJECTS)), before)
        for wanted in ("Steps of the repair, 2 in this order:", f"+++ after: {FILE}", "10.244.0.0/16"):
            if wanted not in seen.text:
                raise Failed(f"--check --diff does not show {wanted!r}:\n{seen.text[-4000:]}")
    finally:
        repair(cluster, *APPROVED)
    if cluster.on("n2", f"cat {FILE}") != own:
        raise Failed(f"{FILE} is not as it was before the test")


def killed(cluster: Cluster) -> None:
    cluster.on("n2", CALICO)
    done = cluster.command(
        sys.executable, "tests/lab/killed.py", "--task", "Stop pods that the foreign", "--after", "0.5", "--",
        "ansible-playbook", "-i", str(cluster.state / "inventory"), "playbooks/repair.yml", *APPROVED,
    )  # fmt: skip
    if done.returncode:
        raise Failed(f"the repair was not killed:\n{done.stdout[-3000:]}{done.stderr}")
    if cluster.on("n1", NODE).split() != ["true", "true"]:
        raise Failed("the node was not drained when the repair was killed")
    seen = repair(cluster, *APPROVED)
    if cluster.on("n1", NODE).strip():
        raise Failed("the node was not given back")
    if not seen.green and not cluster.check().green:
        raise Failed(f"the second repair left {seen.findings}, {seen.failed}")


TESTS: dict[str, Callable[[Cluster], None]] = {"undo": undo, "check": check, "killed": killed}


def main() -> int:
    names = sys.argv[1:] or list(TESTS)
    unknown = sorted(set(names) - set(TESTS))
    if unknown:
        print(f"There is no test {', '.join(unknown)}; there are: {', '.join(TESTS)}.", file=sys.stderr)
        return 2
    log = CACHE / "log" / f"faults-{LAB}" / "repairs.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    os.chdir(ROOT)
    cluster = Cluster("iptables", log)
    cluster.ready()
    cluster.witness()
    failed = 0
    for name in names:
        try:
            TESTS[name](cluster)
            print(f"ok: {name}", flush=True)
        except Failed as error:
            failed += 1
            print(f"FAILED: {name}: {error}", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
