# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A CNI plugin under flannel's name that gives pods an address of each family; the lab's own, for dual stack only.

What the lab builds of flannel's plugin knows IPv4 only. This one reads subnet.env, which flanneld writes, and delegates
to bridge and host-local, as upstream's does. Configuration on stdin, the rest in the environment (CNI specification).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

SUBNET_ENV = "/run/flannel/subnet.env"
STATE = "/var/lib/cni/flannel"  # what a container was added with; removing it needs the same
VERSIONS = ["0.3.1", "0.4.0", "1.0.0"]


def subnet_env() -> dict[str, str]:
    with open(SUBNET_ENV, encoding="ascii") as file:
        return dict(line.strip().split("=", 1) for line in file if "=" in line)


def delegate(config: dict[str, Any], env: dict[str, str]) -> dict[str, Any]:
    """The configuration of bridge: flannel's subnets of this node, routes to the cluster's ranges."""
    families = [(env[f"FLANNEL_{six}SUBNET"], env[f"FLANNEL_{six}NETWORK"]) for six in ("", "IPV6_")
                if env.get(f"FLANNEL_{six}SUBNET")]  # fmt: skip
    wanted = {
        "type": "bridge",
        "name": config["name"],
        "cniVersion": config["cniVersion"],
        "mtu": int(env["FLANNEL_MTU"]),
        "isGateway": True,
        "ipMasq": env.get("FLANNEL_IPMASQ") != "true",  # where flannel does not, the bridge has to
        **config.get("delegate", {}),
    }
    ranges = [[{"subnet": _network(subnet)}] for subnet, _whole in families]
    routes = [{"dst": network} for _subnet, whole in families for network in whole.split(",")]
    return {**wanted, "ipam": {"type": "host-local", "ranges": ranges, "routes": routes}}


def _network(subnet: str) -> str:
    import ipaddress

    return str(ipaddress.ip_interface(subnet).network)


def call(config: dict[str, Any]) -> int:
    folder = next((one for one in os.environ["CNI_PATH"].split(":") if os.path.exists(os.path.join(one, "bridge"))), "")
    if not folder:
        raise FileNotFoundError(f'failed to find plugin "bridge" in path [{os.environ["CNI_PATH"]}]')
    return subprocess.run([os.path.join(folder, "bridge")], input=json.dumps(config).encode(), check=False).returncode


def main() -> int:
    verb = os.environ.get("CNI_COMMAND", "")
    if verb == "VERSION":
        print(json.dumps({"cniVersion": "1.0.0", "supportedVersions": VERSIONS}))
        return 0
    config = json.load(sys.stdin)
    kept = os.path.join(STATE, os.environ["CNI_CONTAINERID"])
    if verb == "ADD":
        wanted = delegate(config, subnet_env())
        os.makedirs(STATE, mode=0o700, exist_ok=True)
        with open(kept, "w", encoding="utf-8") as file:
            json.dump(wanted, file)
        return call(wanted)
    if not os.path.exists(kept):
        return 0
    with open(kept, encoding="utf-8") as file:
        code = call(json.load(file))
    if verb == "DEL" and code == 0:
        os.remove(kept)
    return code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, KeyError) as error:
        print(json.dumps({"cniVersion": "1.0.0", "code": 999, "msg": str(error)}))
        sys.exit(1)
