# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records the ruleset of a lab node for tests/fuzz/forwarding_rulesets.py.

    PODNET_LAB=NAME ./dev run python tests/lab/record_rulesets.py NODE NAME "TITLE" "HOW IT CAME ABOUT"

What is recorded is what node_evidence_info gathers, as far as the walker reads it, without counters.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import sys

from forward_policy import Node

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "tests/unit/plugins/module_utils/_netfilter/fixtures/rulesets"
SHARED = ("filter", "nat", "mangle", "raw", "security")  # tables that iptables-nft-save shows
GATHER = """
import json
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.gather import gather
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.node import TABLE
from ansible_collections.podnet.kubeadm.plugins.module_utils._evidence.source import Source
keys = ("iptables", "ip6tables", "nft", "subnet_env")
print(json.dumps(gather(Source(), TABLE, keys)[0]))
"""


def main() -> None:
    name, slug, title, how = sys.argv[1:5]
    node = Node(os.environ.get("PODNET_LAB", "podnet"), name)
    node.prepare()
    evidence = json.loads(node.shell(f"PYTHONPATH=/root/direct python3 - <<'END'\n{GATHER}END\n"))
    for key in ("iptables", "ip6tables"):
        for backend in ("nft", "legacy"):
            text = re.sub(r"^# (Generated|Completed).*\n", "", evidence[key][backend], flags=re.M)
            evidence[key][backend] = re.sub(r"\[\d+:\d+\]", "[0:0]", text)
    tables = [line.split()[1:] for line in node.shell("nft list tables 2>/dev/null", check=False).splitlines()]
    own = [(family, table) for family, table in tables if not (family in ("ip", "ip6") and table in SHARED)]
    native = "".join(node.shell(f"nft -y list table {family} {table}") for family, table in own)
    native = re.sub(r"packets \d+ bytes \d+", "packets 0 bytes 0", native)
    env = dict(line.split("=", 1) for line in (evidence.get("subnet_env") or "").splitlines() if "=" in line)
    cidr = env.get("FLANNEL_NETWORK", "10.244.0.0/16")
    gateway = env.get("FLANNEL_SUBNET", "10.244.0.1/24")
    forward = [line for line in evidence["iptables"]["nft"].splitlines() if re.search(r"FORWARD|FLANNEL-FWD|FWD", line)]
    forward += re.findall(r"^\tchain [^\n]*\{\n[^}]*hook forward[^}]*\}", native, flags=re.M)
    recorded = {
        "title": title,
        "recorded": how,
        "pod_cidr": cidr,
        "local_cidr": re.sub(r"\.1/", ".0/", gateway),
        "node": evidence,
        "native": native,
        "extract": "\n".join(forward),
    }
    FIXTURES.mkdir(parents=True, exist_ok=True)
    (FIXTURES / f"{slug}.json").write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")
    print(
        f"recorded {slug}: {len(evidence['iptables']['nft'].splitlines())} lines of iptables, {len(own)} tables of nft"
    )


if __name__ == "__main__":
    main()
