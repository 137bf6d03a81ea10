# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What enters our chains again after a boot, or after a firewall was restarted."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from .accepts import Accepts
from .change import accept_nft, accept_words, iptables
from .remedy import CHAINS, Jump

UNIT = "podnet-firewall.service"
UNIT_PATH = f"/etc/systemd/system/{UNIT}"
SCRIPT_PATH = "/etc/podnet.kubeadm/firewall.sh"
STATE_PATH = "/etc/podnet.kubeadm/firewall.json"

# Whoever loads rules; when one of them starts or is restarted, we come after it.
_FIREWALLS = (
    "nftables.service", "firewalld.service", "ufw.service", "docker.service", "netfilter-persistent.service",
    "iptables.service", "ip6tables.service",
)  # fmt: skip

UNIT_TEXT = f"""\
# Written by podnet.kubeadm.forward_policy; removed by its state absent.
[Unit]
Description=Accept the traffic of the cluster where a firewall of this host drops it
Documentation=https://github.com/podnet/podnet.kubeadm
After={" ".join(_FIREWALLS)}
PartOf={" ".join(_FIREWALLS)}
ReloadPropagatedFrom={" ".join(_FIREWALLS)}
Before=kubelet.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={SCRIPT_PATH}
ExecReload={SCRIPT_PATH}

[Install]
WantedBy=multi-user.target {" ".join(_FIREWALLS)}
"""

_HEAD = """\
#!/bin/sh
# Written by podnet.kubeadm.forward_policy; removed by its state absent. Safe to run at any time.
set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin

# nth N: of the lines that come in, the one of that number, or the last.
nth() { head -n "$1" | tail -n 1; }

# iptables_jump TOOL TABLE CHAIN OURS RULE N: enters OURS right before the Nth of the rules RULE, or at CHAIN's end.
iptables_jump() {
    "$1" -w 5 -t "$2" -C "$3" -j "$4" 2>/dev/null && return
    "$1" -w 5 -t "$2" -S "$3" >/dev/null 2>&1 || return 0 # its owner is not there
    number=
    [ -z "$5" ] || number=$("$1" -w 5 -t "$2" -S "$3" | grep '^-A' | grep -nxF -e "$5" | cut -d : -f 1 | nth "$6")
    if [ -n "$number" ]; then
        "$1" -w 5 -t "$2" -I "$3" "$number" -j "$4"
    else
        "$1" -w 5 -t "$2" -A "$3" -j "$4"
    fi
}

# handles_of RULE: of a listing, the handles of the rules that are RULE and nothing more.
handles_of() {
    sed -n 's/^[[:space:]]*\\(.*\\) # handle \\([0-9][0-9]*\\)$/\\2 \\1/p' | while read -r number text; do
        [ "$text" != "$1" ] || echo "$number"
    done
}

# nft_jump FAMILY TABLE CHAIN OURS RULE N: the same in a table of nft.
nft_jump() {
    listing=$(nft -s -a list chain "$1" "$2" "$3" 2>/dev/null) || return 0
    [ -z "$(printf '%s\\n' "$listing" | handles_of "jump $4")" ] || return 0
    handle=
    [ -z "$5" ] || handle=$(printf '%s\\n' "$listing" | handles_of "$5" | nth "$6")
    if [ -n "$handle" ]; then
        nft insert rule "$1" "$2" "$3" handle "$handle" jump "$4"
    else
        nft add rule "$1" "$2" "$3" jump "$4"
    fi
}
"""


def script(jumps: Sequence[Jump], accepts: Accepts) -> str:
    """The script that enters our chains; running it again changes nothing."""
    lines = [_HEAD]
    for jump in jumps:
        lines += _native(jump, accepts) if jump.native else _iptables(jump, accepts)
    return "\n".join(lines) + "\n"


def _words(first: str, table: str, chain: str, ours: str, jump: Jump) -> str:
    return shlex.join([first, table, chain, ours, jump.before, str(jump.nth)])


def _iptables(jump: Jump, accepts: Accepts) -> list[str]:
    chain, tool = CHAINS[jump.hook], iptables(jump)
    base = f"{tool} -w 5 -t {shlex.quote(jump.table)}"
    lines = [f"{base} -N {chain} 2>/dev/null || {base} -F {chain}"]
    for words in accept_words(accepts, jump.hook, 4 if jump.family == "ip" else 6):
        lines.append(f"{base} -A {chain} {shlex.join(words)}")
    return [*lines, f"iptables_jump {_words(tool, jump.table, jump.chain, chain, jump)}", ""]


def _native(jump: Jump, accepts: Accepts) -> list[str]:
    chain = CHAINS[jump.hook]
    place = shlex.join([jump.family, jump.table])
    body = [f"    nft add chain {place} {chain}", f"    nft flush chain {place} {chain}"]
    body += [f"    nft add rule {place} {chain} {text}" for text in accept_nft(accepts, jump.hook, jump.family)]
    body.append(f"    nft_jump {_words(jump.family, jump.table, jump.chain, chain, jump)}")
    return [f"if nft list table {place} >/dev/null 2>&1; then", *body, "fi", ""]
