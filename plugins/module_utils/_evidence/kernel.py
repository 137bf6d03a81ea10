# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kernel switches, modules, control groups, security modules; now and at the next boot."""

from __future__ import annotations

import fnmatch
import gzip
import os
import re
from typing import Any

from .scrub import last_lines
from .source import Missing, Source

# Switches that a rule compares; a link's own are added by pattern.
_SWITCHES = (
    "fs.file-max",
    "fs.inotify.max_user_instances",
    "fs.inotify.max_user_watches",
    "kernel.keys.root_maxkeys",
    "kernel.panic",
    "kernel.panic_on_oops",
    "kernel.pid_max",
    "kernel.threads-max",
    "net.bridge.bridge-nf-call-arptables",
    "net.bridge.bridge-nf-call-ip6tables",
    "net.bridge.bridge-nf-call-iptables",
    "net.ipv4.ip_forward",
    "net.ipv4.neigh.default.gc_thresh1",
    "net.ipv4.neigh.default.gc_thresh2",
    "net.ipv4.neigh.default.gc_thresh3",
    "net.ipv6.neigh.default.gc_thresh3",
    "net.netfilter.nf_conntrack_count",
    "net.netfilter.nf_conntrack_max",
    "vm.max_map_count",
    "vm.overcommit_memory",
)
_LINK_SWITCHES = {
    "ipv4": ("forwarding", "rp_filter", "accept_local", "arp_ignore"),
    "ipv6": ("disable_ipv6", "forwarding", "accept_ra"),
}
_LINK_SWITCH = re.compile(r"net\.(ipv[46])\.conf\.[^.]+\.(" + "|".join(sum(_LINK_SWITCHES.values(), ())) + ")")
# One per pod: they follow `default` and would make the list long.
_POD_LINK = re.compile(r"(veth|cali|lxc|tap|tunl)\w+")

_SYSCTL_FOLDERS = ("/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d", "/lib/sysctl.d")
_MODULE_FOLDERS = (
    "/etc/modules-load.d",
    "/run/modules-load.d",
    "/usr/local/lib/modules-load.d",
    "/usr/lib/modules-load.d",
)

# Modules that matter: name, the kernel's option, a path that is there when it is in use.
MODULES: dict[str, tuple[str, str]] = {
    "br_netfilter": ("BRIDGE_NETFILTER", "/proc/sys/net/bridge"),
    "bridge": ("BRIDGE", "/sys/module/bridge"),
    "dummy": ("DUMMY", ""),
    "ip6_tables": ("IP6_NF_IPTABLES", "/proc/net/ip6_tables_names"),
    "ip6table_filter": ("IP6_NF_FILTER", ""),
    "ip6table_mangle": ("IP6_NF_MANGLE", ""),
    "ip6table_nat": ("IP6_NF_NAT", ""),
    "ip_set": ("IP_SET", "/sys/module/ip_set"),
    "ip_tables": ("IP_NF_IPTABLES", "/proc/net/ip_tables_names"),
    "ip_vs": ("IP_VS", "/proc/net/ip_vs"),
    "ip_vs_rr": ("IP_VS_RR", ""),
    "ip_vs_sh": ("IP_VS_SH", ""),
    "ip_vs_wrr": ("IP_VS_WRR", ""),
    "ipip": ("NET_IPIP", ""),
    "iptable_filter": ("IP_NF_FILTER", ""),
    "iptable_mangle": ("IP_NF_MANGLE", ""),
    "iptable_nat": ("IP_NF_NAT", ""),
    "llc": ("LLC", ""),
    "nf_conntrack": ("NF_CONNTRACK", "/proc/sys/net/netfilter/nf_conntrack_max"),
    "nf_defrag_ipv4": ("NF_DEFRAG_IPV4", ""),
    "nf_nat": ("NF_NAT", ""),
    "nf_tables": ("NF_TABLES", ""),
    "nft_chain_nat": ("NFT_NAT", ""),
    "nft_compat": ("NFT_COMPAT", ""),
    "nft_ct": ("NFT_CT", ""),
    "nft_fib": ("NFT_FIB", ""),
    "nft_fib_inet": ("NFT_FIB_INET", ""),
    "nft_fib_ipv4": ("NFT_FIB_IPV4", ""),
    "nft_fib_ipv6": ("NFT_FIB_IPV6", ""),
    "nft_masq": ("NFT_MASQ", ""),
    "nft_nat": ("NFT_NAT", ""),
    "nft_numgen": ("NFT_NUMGEN", ""),
    "nft_redir": ("NFT_REDIR", ""),
    "overlay": ("OVERLAY_FS", "/sys/module/overlay"),
    "stp": ("STP", ""),
    "tun": ("TUN", ""),
    "udp_tunnel": ("NET_UDP_TUNNEL", ""),
    "veth": ("VETH", ""),
    "vxlan": ("VXLAN", "/sys/module/vxlan"),
    "wireguard": ("WIREGUARD", "/sys/module/wireguard"),
    "x_tables": ("NETFILTER_XTABLES", "/proc/net/ip_tables_names"),
    "xt_MASQUERADE": ("NETFILTER_XT_TARGET_MASQUERADE", ""),
    "xt_addrtype": ("NETFILTER_XT_MATCH_ADDRTYPE", ""),
    "xt_comment": ("NETFILTER_XT_MATCH_COMMENT", ""),
    "xt_conntrack": ("NETFILTER_XT_MATCH_CONNTRACK", ""),
    "xt_mark": ("NETFILTER_XT_MARK", ""),
    "xt_multiport": ("NETFILTER_XT_MATCH_MULTIPORT", ""),
    "xt_nat": ("NETFILTER_XT_NAT", ""),
    "xt_set": ("NETFILTER_XT_SET", ""),
    "xt_statistic": ("NETFILTER_XT_MATCH_STATISTIC", ""),
    "xt_tcpudp": ("NETFILTER_XTABLES", ""),
}


def sysctl(source: Source) -> dict[str, str]:
    """Running values of the switches that matter; a link's dot is a slash, as sysctl writes it."""
    names = list(_SWITCHES)
    for family, switches in _LINK_SWITCHES.items():
        for link in source.names(f"/proc/sys/net/{family}/conf"):
            if link != "lo" and not _POD_LINK.fullmatch(link):
                names += [f"net.{family}.conf.{link.replace('.', '/')}.{switch}" for switch in switches]
    found = {}
    for name in names:
        try:
            found[name] = source.read(f"/proc/sys/{_path_of(name)}", 4096).strip()
        except Missing:
            continue  # no such switch in this kernel
    if not found:
        raise Missing("/proc/sys cannot be read")
    return dict(sorted(found.items()))


def _path_of(name: str) -> str:
    return name.translate(str.maketrans("./", "/."))


def sysctl_persistent(source: Source) -> dict[str, str]:
    """What the files of sysctl.d would set at boot, of the switches in `sysctl`.

    As systemd-sysctl does it: files sorted by name, an earlier folder hides the same name, later lines win, patterns
    set what no plain line sets. /etc/sysctl.conf counts where a link in sysctl.d leads to it, or without systemd.
    """
    texts = dict(sorted(source.texts(_SYSCTL_FOLDERS, (".conf",)).items()))
    if not source.exists("/run/systemd/system"):
        texts["~sysctl.conf"] = source.read_or("/etc/sysctl.conf", "")
    plain: dict[str, str] = {}
    patterns: dict[str, str] = {}
    for text in texts.values():
        for line in text.splitlines():
            match = re.match(r"\s*(-?)([\w./*?\[\]-]+)\s*(?:=\s*(.*?)\s*)?$", line)
            if not match or (match.group(3) is None and not match.group(1)):
                continue
            name, value = _normal(match.group(2)), match.group(3)
            if value is None:
                plain[name] = ""  # "-name" alone: no pattern reaches it
            elif re.search(r"[*?\[]", name):
                patterns.pop(name, None)
                patterns[name] = value
            else:
                plain[name] = value
    found = {name: value for name, value in plain.items() if value}
    for name in sysctl(source):
        for pattern, value in patterns.items():
            if name not in plain and fnmatch.fnmatchcase(name, pattern):
                found[name] = value
    return {name: value for name, value in sorted(found.items()) if name in _SWITCHES or _LINK_SWITCH.fullmatch(name)}


def _normal(name: str) -> str:
    """The dotted form: where the first separator is a slash, slashes and dots change places."""
    first = re.search(r"[./]", name)
    return name.translate(str.maketrans("./", "/.")) if first and first.group() == "/" else name


def modules(source: Source) -> list[str]:
    """Modules that matter and are loaded or built in.

    Told by /proc/modules and modules.builtin, else by the kernel's own configuration, else by what each one shows
    below /proc and /sys. A kernel that can load nothing and says nothing of its configuration is not looked at.
    """
    found = set(_loaded(source)) | set(_builtin(source))
    configured = _configured(source)
    for name, (option, path) in MODULES.items():
        if f"CONFIG_{option}=y" in configured or (path and source.exists(path)):
            found.add(name)
    if not source.exists("/proc/modules") and not configured:
        raise Missing("the kernel lists neither its modules (/proc/modules) nor its configuration")
    return sorted(found & set(MODULES))


def _loaded(source: Source) -> list[str]:
    return [line.split()[0] for line in source.read_or("/proc/modules", "").splitlines() if line.strip()]


def _builtin(source: Source) -> list[str]:
    text = source.read_or(f"/lib/modules/{_release(source)}/modules.builtin", "")
    return [os.path.basename(line).split(".ko")[0].replace("-", "_") for line in text.splitlines()]


def _configured(source: Source) -> set[str]:
    """Lines of the kernel's configuration, where the running kernel or its package has them."""

    def lines() -> set[str]:
        if source.exists("/proc/config.gz"):
            try:
                return set(
                    gzip.decompress(source.read_bytes("/proc/config.gz")).decode("utf-8", "replace").splitlines()
                )
            except (OSError, EOFError):
                return set()
        return set(source.read_or(f"/boot/config-{_release(source)}", "").splitlines())

    answer: set[str] = source.once(("kernel configuration",), lines)
    return answer


def _release(source: Source) -> str:
    return source.read("/proc/sys/kernel/osrelease").strip()


def modules_persistent(source: Source) -> list[str]:
    """What modules-load.d and /etc/modules ask for at boot."""
    texts = list(source.texts(_MODULE_FOLDERS, (".conf",)).values()) + [source.read_or("/etc/modules", "")]
    lines = [line.strip() for text in texts for line in text.splitlines()]
    return sorted({line.split()[0].replace("-", "_") for line in lines if line and line[0] not in "#;"})


def modules_available(source: Source) -> list[str]:
    """What `modprobe -n` would load or finds there; `install NAME /bin/false` and modules_disabled forbid it."""
    if not source.exists("/proc/modules") or source.read_or("/proc/sys/kernel/modules_disabled", "").strip() == "1":
        return sorted(set(_builtin(source)) & set(MODULES))
    said = source.result("modprobe", "-n", "-a", *MODULES)
    # kmod says "Module x not found in directory", busybox "module x not found in modules.dep"
    unknown = set(re.findall(r"[Mm]odule '?([\w-]+)'? not found", said.stderr + said.stdout))
    texts = source.texts(
        ("/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d"),
        (".conf",),
    )
    forbidden = set(
        re.findall(r"^\s*install\s+(\S+)\s+(?:/usr)?/bin/(?:false|true)\b", "\n".join(texts.values()), re.M)
    )
    return sorted(set(MODULES) - {name.replace("-", "_") for name in unknown | forbidden})


def proc_net_bridge(source: Source) -> bool:
    """Whether the switch of br_netfilter is there."""
    return source.exists("/proc/sys/net/bridge/bridge-nf-call-iptables")


def inotify(source: Source) -> dict[str, int]:
    """The limits of inotify per user."""
    return {
        name: int(source.read(f"/proc/sys/fs/inotify/{name}").strip())
        for name in ("max_user_instances", "max_user_watches")
    }


def cgroup(source: Source) -> dict[str, Any]:
    """The version of the control groups at /sys/fs/cgroup, and whether version 2 is mounted beside version 1."""
    if source.exists("/sys/fs/cgroup/cgroup.controllers"):
        return {"version": 2, "hybrid": False}
    if not source.names("/sys/fs/cgroup"):
        raise Missing("/sys/fs/cgroup is empty")
    return {"version": 1, "hybrid": source.exists("/sys/fs/cgroup/unified/cgroup.controllers")}


def selinux(source: Source) -> str:
    """`enforcing`, `permissive` or `disabled`."""
    said = source.read_or("/sys/fs/selinux/enforce", "").strip()
    return {"1": "enforcing", "0": "permissive"}.get(said, "disabled")


def selinux_denials(source: Source) -> list[str]:
    """AVC lines of the audit log's end, and of the kernel's log; a host without SELinux has none."""
    if selinux(source) == "disabled":
        return []
    lines = []
    path = "/var/log/audit/audit.log"
    if source.exists(path):
        lines = source.once(("tail", path), lambda: _tail(source, path)).splitlines()
    lines += kernel_log(source).splitlines()
    denials = [line for line in lines if re.search(r"\bavc:\s+denied\b", line)]
    return last_lines("\n".join(denials), 100).splitlines()


def _tail(source: Source, path: str, size: int = 512 * 1024) -> str:
    try:
        with open(source.path(path), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - size))
            return file.read(size).decode("utf-8", "replace")
    except OSError as error:
        raise Missing(f"{path}: {error.strerror}") from None


def apparmor_denials(source: Source) -> list[str]:
    """Lines of the kernel's log in which AppArmor denied something."""
    if not source.exists("/sys/kernel/security/apparmor") and not source.exists("/sys/module/apparmor"):
        return []
    denials = [line for line in kernel_log(source).splitlines() if 'apparmor="DENIED"' in line]
    return last_lines("\n".join(denials), 100).splitlines()


def kernel_log(source: Source) -> str:
    """The last lines of this boot, from notice on (audit messages are that), of the kernel and of its audit."""
    return source.output(
        "journalctl", "-q", "--no-pager", "-b", "-o", "short", "-p", "notice", "-n", "2000",
        "_TRANSPORT=kernel", "+", "_TRANSPORT=audit",
    )  # fmt: skip


KEYS: dict[str, Any] = {
    "sysctl": sysctl,
    "sysctl_persistent": sysctl_persistent,
    "modules": modules,
    "modules_persistent": modules_persistent,
    "modules_available": modules_available,
    "proc_net_bridge": proc_net_bridge,
    "inotify": inotify,
    "cgroup": cgroup,
    "selinux": selinux,
    "selinux_denials": selinux_denials,
    "apparmor_denials": apparmor_denials,
}
