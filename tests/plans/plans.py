# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes address plans, many of them at a limit, some of them nonsense. The same seed makes the same plans."""

from __future__ import annotations

import ipaddress
import random
from collections.abc import Iterator
from typing import Any

NONSENSE = (
    "", "10.244.0.0", "10.244.0.0/33", "10.244.0/16", "10.244.0.0.0/16", "10.244.0.0/255.255.0.0", "10.244.0.0-16",
    "pods", "10.244.0.0/", "/16", "10.244.0.256/16", "fd00::/129", "fd00:::/64", "fe80::%eth0/64", "10.244.0.0/16/24",
    "010.244.0.0/16", "10.244.0.0/016", "::ffff:10.244.0.0/112", "10.244.0.0/+16", "10.244.0.0 /16",
)  # fmt: skip
V4 = (
    "10.244.0.0",
    "10.96.0.0",
    "10.0.0.0",
    "10.100.0.0",
    "172.16.0.0",
    "172.17.0.0",
    "192.168.0.0",
    "100.64.0.0",
    "11.0.0.0",
)
V6 = ("fd00:10:244::", "fd00:10:96::", "fd00::", "fc00:1::", "2001:db8::", "fd00:10:96:1::")


def _address(dice: random.Random, version: int, prefix: int) -> str:
    """A range of that family and length, of a base that others use too; one in six with host bits."""
    base = ipaddress.ip_address(dice.choice(V4 if version == 4 else V6))
    host = dice.randrange(1, 5) << dice.choice((0, 4, 8, 16)) if dice.random() < 0.17 else 0
    if dice.random() < 0.3:
        bits = 32 if version == 4 else 128
        host += dice.randrange(0, 8) << max(bits - prefix, 0)
    number = (int(base) + host) % 2 ** (32 if version == 4 else 128)
    return f"{ipaddress.IPv4Address(number) if version == 4 else ipaddress.IPv6Address(number)}/{prefix}"


def _ranges(dice: random.Random, versions: tuple[int, ...], prefixes: dict[int, int]) -> Any:
    texts = [_address(dice, version, prefixes[version]) for version in versions]
    if dice.random() < 0.05:
        texts[dice.randrange(len(texts))] = dice.choice(NONSENSE)
    return texts if dice.random() < 0.3 else ",".join(texts)


def _families(dice: random.Random) -> tuple[int, ...]:
    choices = ((4,), (6,), (4, 6), (6, 4), (4, 4), (6, 6), (4, 6, 4))
    return dice.choices(choices, (50, 12, 25, 5, 3, 2, 1))[0]


def _calm(dice: random.Random) -> dict[str, Any]:
    """A plan that is right, with ranges that are apart."""
    versions = dice.choice(((4,), (4,), (6,), (4, 6), (6, 4)))
    mask, mask_v6 = dice.randrange(20, 29), dice.choice((64, 72, 80, 112))
    pod = {
        4: f"{dice.choice(('10.244.0.0', '172.20.0.0', '192.168.0.0'))}/{dice.randrange(max(mask - 8, 16), mask + 1)}"
    }
    pod[6] = f"{dice.choice(('fd00:10:244::', 'fd12:3456::'))}/{mask_v6 - dice.randrange(0, 17)}"
    service = {4: f"10.96.0.0/{dice.randrange(12, 29)}", 6: f"fd00:10:96::/{dice.randrange(108, 125)}"}
    return {
        "pod_cidr": ",".join(pod[version] for version in versions),
        "service_cidr": ",".join(service[version] for version in versions),
        "node_mask": mask,
        "node_mask_v6": mask_v6,
        "max_pods": dice.choice((1, 8, 13, 2 ** (32 - mask) - 3)),
    }


def plans(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Keyword arguments of the filter, ``pod_cidr`` its input: a third wild, a third right, a third right but one."""
    dice = random.Random(seed)
    for index in range(count):
        plan = _wild(dice)
        if index % 3:
            calm = _calm(dice)
            spoilt = dice.choice(sorted(plan)) if index % 3 == 2 else None
            plan = {**calm, **({spoilt: plan[spoilt]} if spoilt else {})}
        yield plan


def _wild(dice: random.Random) -> dict[str, Any]:
    versions = _families(dice)
    service_versions = versions if dice.random() < 0.93 else _families(dice)
    mask, mask_v6 = (
        dice.choice((24, 24, 25, 26, 28, 29, 30, 31, 32, 20, 16)),
        dice.choice((64, 64, 72, 80, 112, 120, 126, 127, 56)),
    )
    pod = {
        4: dice.choice(
            (
                dice.randrange(6, 31),
                max(mask - dice.randrange(0, 3), 1),
                mask + 1,
                max(mask - 16, 1),
                max(mask - 17, 1),
                16,
            )
        ),
        6: dice.choice(
            (dice.randrange(32, 125), mask_v6 - dice.randrange(0, 3), mask_v6 + 1, mask_v6 - 16, mask_v6 - 17, 56)
        ),
    }
    service = {
        4: dice.choice((12, 16, 11, 13, 20, 27, 28, 29, 30)),
        6: dice.choice((112, 108, 107, 110, 120, 124, 125, 64)),
    }
    plan: dict[str, Any] = {
        "pod_cidr": _ranges(dice, versions, {key: min(value, 32 if key == 4 else 128) for key, value in pod.items()}),
        "service_cidr": _ranges(dice, service_versions, service),
        "node_mask": mask,
        "node_mask_v6": mask_v6,
    }
    if dice.random() < 0.1:
        del plan["service_cidr"]
    if dice.random() < 0.5:
        ranges = 2 ** max(min(mask - pod[4], 12), 0)
        plan["planned_nodes"] = max(ranges + dice.randrange(-2, 3), 1)
    pods = 2 ** max(min(32 - mask, 12), 0)
    plan["max_pods"] = dice.choice((1, 13, 60, 110, 253, max(pods - 4 + dice.randrange(0, 4), 1)))
    if dice.random() < 0.15:
        plan["cluster_dns"] = dice.choice(("10.96.0.10", "10.96.0.53", "fd00:10:96::a", "10.244.0.10", "169.254.20.10"))
    return plan
