# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Flannel's net-conf.json cannot be what was meant.

## What it means
flanneld reads net-conf.json with Go's JSON decoder: a text that is no JSON ends it, a key it does not know is ignored
silently, and a missing Backend means the backend `udp`, which wants a privileged container.

## How it looks
`error parsing subnet config`, or with a missing Backend `failed to open TUN device`; with a misspelt key nothing
but the default in its place.

## What looks like it but is not
- Keys in another case (`network`) are read. `SubnetLen` and its kin are known and ignored: see
  `flannel-subnetlen-ignored`.
- A network that is right as a text and wrong as a number: see `flannel-network-mismatch`.

## Mend
Write it again: Network, EnableIPv6 and IPv6Network where wanted, and Backend with its Type.

## Prevent
The collection renders it and refuses keys that flanneld does not know.

## Sources
- flannel `pkg/subnet/config.go`, parseBackendType; `Documentation/backends.md`
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from ..._evidence._flannel import KEYS, NetConf
from ..._evidence._net import network
from ..._evidence._said import places, told
from ..._finding import Found, Malformed, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="Flannel's net-conf.json cannot be what was meant",
    severity="error",
    needs=("cluster.flannel_config",),
    remedy="Write net-conf.json with the keys that flanneld knows and a Backend with its Type, and roll the DaemonSet.",
    repair="flannel:rolled_out",
    explains=("flannel-link-missing", "flannel-rules-missing", "route-missing"),
    rank=12,
)

_SAID = re.compile(r"error parsing subnet config: .*|failed to read net conf: .*", re.IGNORECASE)
"""flanneld's own words, for a configuration that was not looked at or is not there."""

CLOUD = ("ali-vpc", "aws-vpc", "gce", "tencent-vpc")
BACKENDS = ("vxlan", "host-gw", "wireguard", "udp", "ipip", "ipsec", "extension", "alloc", *CLOUD)
DUAL_STACK = ("vxlan", "host-gw", "wireguard", "extension")


def check_intent(view: View) -> Iterator[Found]:
    if not view.intent.has_net_conf:
        return
    try:
        conf = view.intent.net_conf
    except Malformed as malformed:
        yield Found("net-conf.json cannot be read", {malformed.key: malformed.why})
        return
    yield from _judge(conf)


def check_cluster(view: View) -> Iterator[Found]:
    if not view.cluster.has("flannel_config") or not view.cluster.flannel_config.net_conf_text.strip():
        if said := told(view, _SAID):
            compared = {name: one[0].strip()[-300:] for name, one in said.items()}
            yield Found("flannel cannot read its net-conf.json", compared, where=places(said))
        elif not view.cluster.has("flannel_config"):
            raise Missing("cluster.flannel_config")
        return
    try:
        conf = view.cluster.net_conf
    except Malformed as malformed:
        yield Found("net-conf.json cannot be read", {malformed.key: malformed.why})
        return
    yield from _judge(conf)


def _judge(conf: NetConf) -> Iterator[Found]:
    for key in conf.unknown:
        close = difflib.get_close_matches(key.lower(), KEYS, 1, 0.8)
        meant = KEYS[close[0]] if close and not conf.has(KEYS[close[0]]) else None
        found = {"key": key, "meant": meant}
        yield Found(f"flanneld does not know the key {key}", found, severity="error" if meant else "warning")
    if not conf.backend.text("Type"):
        yield Found("net-conf.json has no Backend with a Type, which means udp", {"Backend": conf.get("Backend")})
    elif conf.backend_type not in BACKENDS:
        yield Found(f"flannel has no backend {conf.backend_type}", {"Backend": conf.backend_type})
    elif conf.enable_ipv4 and conf.enable_ipv6 and conf.backend_type not in DUAL_STACK:
        yield Found(f"the backend {conf.backend_type} serves no dual stack", {"Backend": conf.backend_type})
    for key, enabled in (("Network", conf.enable_ipv4), ("IPv6Network", conf.enable_ipv6)):
        parsed = network(conf.text(key))
        if enabled and parsed is None and (key == "Network" or conf.text(key)):  # IPv6's absence has its own code
            yield Found(f"{key} in net-conf.json is no network", {key: conf.get(key)})
        elif enabled and parsed is not None and parsed.version != (4 if key == "Network" else 6):
            yield Found(f"{key} in net-conf.json is of the other family", {key: conf.text(key)})
