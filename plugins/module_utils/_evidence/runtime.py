# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The container runtime, its CNI configuration and plugins, its sandboxes, the address leases."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import stat
from collections.abc import Iterator
from typing import Any

from .scrub import REMOVED, scrub
from .source import Missing, Source

# Known places of CRI sockets, as kubeadm looks for them.
SOCKETS = (
    ("containerd", "/run/containerd/containerd.sock"),
    ("cri-o", "/run/crio/crio.sock"),
    ("cri-dockerd", "/run/cri-dockerd.sock"),
)
_PRIVATE = re.compile(r"registry|header|auth|\benv\b")
_PRIVATE_KEYS = ("env", "default_env", "headers", "auth")
_CNI_SUFFIXES = (".conf", ".conflist", ".json")


def runtime(source: Source) -> dict[str, Any]:
    """The runtime's settings in effect, asked of itself; from its files where it does not answer.

    `socket` is the one that kubelet is told to use, else the first that is there.
    """
    sockets = [f"unix://{path}" for _name, path in SOCKETS if _is_socket(source, path)]
    socket = _kubelet_socket(source) or (sockets[0] if sockets else "")
    name = _name_of(source, socket)
    found: dict[str, Any] = {"name": name, "socket": socket, "sockets": sockets}
    if not name:
        return found
    text = _config_text(source, name)
    found["config"] = filtered_toml(text)
    found["cri_disabled"] = bool(
        re.search(r"(?m)^\s*disabled_plugins\s*=\s*\[[^\]]*[\"'](?:io\.containerd\.grpc\.v1\.)?cri[\"']", text)
    )
    try:
        version = source.result({"cri-o": "crio"}.get(name, name), "--version").stdout if name != "cri-dockerd" else ""
        match = re.search(r"\bv?(\d+\.\d+\.\d+[\w.+~-]*)", version)
        if match:
            found["version"] = match.group(1)
    except Missing as reason:  # kubelet is told of one that is not there, or not in the usual folders
        source.lack("runtime.version", reason)
    found.update(_files_say(name, _effective_text(source, name, text)))
    try:
        found.update(_runtime_says(cri_info(source)))
    except Missing as reason:
        source.lack("runtime.cni_load_error", reason)
    return found


def _is_socket(source: Source, path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(source.path(path)).st_mode)
    except OSError:
        return False


def _kubelet_socket(source: Source) -> str:
    config = source.read_or("/var/lib/kubelet/config.yaml", "")
    flags = source.read_or("/var/lib/kubelet/kubeadm-flags.env", "")
    match = re.search(r"--container-runtime-endpoint[= ]([^\s\"']+)", flags) or re.search(
        r"(?m)^containerRuntimeEndpoint:\s*[\"']?([^\s\"']+)", config
    )
    socket = match.group(1) if match else ""
    return f"unix://{socket}" if socket.startswith("/") else socket


def _name_of(source: Source, socket: str) -> str:
    for name, path in SOCKETS:
        if os.path.basename(path) == os.path.basename(socket):
            return name
    for name, binary in (("containerd", "containerd"), ("cri-o", "crio")):
        if any(source.exists(f"{folder}/{binary}") for folder in ("/usr/bin", "/usr/local/bin")):
            return name
    return ""


def _config_text(source: Source, name: str) -> str:
    if name == "containerd":
        return source.read_or("/etc/containerd/config.toml", "")
    texts = source.texts(["/etc/crio/crio.conf.d"], (".conf", ""))
    return "\n".join([source.read_or("/etc/crio/crio.conf", ""), *texts.values()])


def _effective_text(source: Source, name: str, text: str) -> str:
    """The file with the runtime's defaults merged in; `config dump` only reads."""
    command = {"containerd": ("containerd", "config", "dump"), "cri-o": ("crio", "config")}.get(name)
    if command:
        try:
            return source.output(*command)
        except Missing:
            pass
    return text


def filtered_toml(text: str) -> str:
    """A runtime's file without what can hold credentials: registry sections keep their place and hosts' folder only."""
    lines = []
    section = rest = ""
    for line in text.splitlines():
        if rest:  # of a value that was cut
            rest = "" if re.search(rest, line) else rest
            continue
        header = re.match(r"\s*\[+\s*([^\]]+?)\s*\]+", line)
        named = re.match(r"\s*[\"']?([\w.-]+)[\"']?\s*=\s*(.*)", line)
        if header:
            section = header.group(1)
        elif named and (
            named.group(1) in _PRIVATE_KEYS
            or (_PRIVATE.search(section) and named.group(1) not in ("config_path", "endpoint"))
        ):
            line = re.sub(r"=.*", f"= {REMOVED}", line)
            rest = _end_of(named.group(2))
        lines.append(scrub(line))
    return "\n".join(lines) + ("\n" if lines else "")


def _end_of(value: str) -> str:
    """Pattern of the line in which a value of TOML ends that does not end in its own; empty where it does."""
    for quotes in ('"""', "'''"):
        if value.startswith(quotes):
            return "" if quotes in value[3:] else quotes
    end = r"^[^#]*\]\s*(#.*)?$"
    return end if value.startswith("[") and not re.search(end, value) else ""


def _files_say(name: str, text: str) -> dict[str, Any]:
    """bin_dir, conf_dir, sandbox_image, handlers and their cgroup driver, out of TOML of either version."""
    found: dict[str, Any] = {}
    cri = _cri_sections(text)
    keys = {
        "bin_dir": r"(?:bin_dir|plugin_dirs|bin_dirs)",
        "conf_dir": r"(?:conf_dir|network_dir)",
        "sandbox_image": r"(?:sandbox_image|sandbox|pause_image)",
    }
    for key, pattern in keys.items():
        for match in re.finditer(rf"(?m)^\s*{pattern}\s*=\s*\[?\s*(?:\n\s*)?[\"']([^\"']+)[\"']", cri):
            found[key] = match.group(1)
    if name == "cri-o":
        driver = re.search(r"(?m)^\s*cgroup_manager\s*=\s*[\"'](\w+)", text)
        if driver:
            found["systemd_cgroup"] = driver.group(1) == "systemd"
        return found
    handlers: dict[str, dict[str, bool]] = {}
    handler = ""
    for line in text.splitlines():
        header = re.match(r"\s*\[.*\.containerd\.runtimes\.[\"']?([\w-]+)[\"']?(\.options)?\]", line)
        if header:
            handler = header.group(1)
            handlers.setdefault(handler, {"systemd_cgroup": False})
        elif re.match(r"\s*\[", line):
            handler = ""
        elif handler and re.match(r"\s*SystemdCgroup\s*=\s*true", line):
            handlers[handler]["systemd_cgroup"] = True
    default = re.search(r"(?m)^\s*default_runtime_name\s*=\s*[\"']([\w-]+)", text)
    if handlers:
        found["handlers"] = handlers
        found["default_handler"] = default.group(1) if default else "runc"
        found["systemd_cgroup"] = handlers.get(found["default_handler"], {}).get("systemd_cgroup", False)
    return found


def _cri_sections(text: str) -> str:
    """The sections of a runtime's TOML that are about CRI; other plugins of containerd have a bin_dir too."""
    kept, about = [], False
    for line in text.splitlines():
        header = re.match(r"\s*\[+([^\[\]]+)\]+\s*(#.*)?$", line)
        if header:
            about = re.search(r"\bcri(o\b|\b)", header.group(1)) is not None
        if about:
            kept.append(line)
    return "\n".join(kept)


def cri_info(source: Source) -> dict[str, Any]:
    """`crictl info`.

    :raises Missing: no crictl, or no answer from the runtime.
    """
    answer = source.json("crictl", *_endpoint(source), "info")
    if not isinstance(answer, dict):
        raise Missing("'crictl info' did not answer an object")
    return answer


def _endpoint(source: Source) -> list[str]:
    socket = _kubelet_socket(source)
    if not socket:
        here = [path for _name, path in SOCKETS if _is_socket(source, path)]
        if not here:
            raise Missing("there is no CRI socket")
        socket = f"unix://{here[0]}"
    return ["--timeout", "4s", "-r", socket]


def _runtime_says(info: dict[str, Any]) -> dict[str, Any]:
    """Named fields of `crictl info`; its `config` holds registry credentials."""
    found: dict[str, Any] = {}
    conditions = (info.get("status") or {}).get("conditions") or []
    network = [item for item in conditions if isinstance(item, dict) and item.get("type") == "NetworkReady"]
    if network:
        ready = network[0].get("status")
        found["cni_load_error"] = "" if ready else str(network[0].get("message") or network[0].get("reason") or "")
    loaded = info.get("lastCNILoadStatus")
    if isinstance(loaded, str) and loaded not in ("OK", ""):
        found["cni_load_error"] = loaded
    config = info.get("config")
    if isinstance(config, dict):
        cni = config.get("cni") or {}
        folders = [cni.get("binDir"), *(cni.get("binDirs") or [])]
        for key, value in (
            ("bin_dir", next((item for item in folders if item), None)),
            ("conf_dir", cni.get("confDir")),
        ):
            if value:
                found[key] = value
        if config.get("sandboxImage"):
            found["sandbox_image"] = config["sandboxImage"]
    return found


def _folder(source: Source, key: str, default: str) -> str:
    said = source.once(("runtime",), lambda: runtime(source))
    return str(said.get(key) or default)


def cni_config(source: Source) -> dict[str, str]:
    """The texts of the runtime's conf_dir by file name, without keys.

    A file that the runtime does not read as configuration is listed with its text withheld: kubeconfigs lie there.
    """
    folder = _folder(source, "conf_dir", "/etc/cni/net.d")
    found = {}
    for name in source.names(folder):
        if os.path.isdir(source.path(f"{folder}/{name}")):
            continue
        known = name.endswith(_CNI_SUFFIXES)
        found[name] = scrub(source.read_or(f"{folder}/{name}", "")) if known else "(not copied: no CNI configuration)"
    return found


def cni_bin(source: Source) -> list[str]:
    """Names in the runtime's bin_dir that can be run."""
    folder = _folder(source, "bin_dir", "/opt/cni/bin")
    return [name for name in source.names(folder) if os.access(source.path(f"{folder}/{name}"), os.X_OK)]


def cni_ipam(source: Source) -> dict[str, dict[str, str]]:
    """host-local's leases: network, address, container."""
    base = "/var/lib/cni/networks"
    found: dict[str, dict[str, str]] = {}
    for network in source.names(base):
        if not os.path.isdir(source.path(f"{base}/{network}")):
            continue
        leases = found.setdefault(network, {})
        for name in source.names(f"{base}/{network}"):
            try:
                ipaddress.ip_address(name)
            except ValueError:
                continue  # last_reserved_ip, lock
            leases[name] = source.read_or(f"{base}/{network}/{name}", "").split("\n")[0].strip()
    return found


def sandboxes(source: Source) -> list[dict[str, str]]:
    """The runtime's sandboxes that are ready, with their address; those in the host's network have none."""
    endpoint = _endpoint(source)
    answer = source.json("crictl", *endpoint, "pods", "-s", "ready", "-o", "json")
    items = (answer.get("items") or []) if isinstance(answer, dict) else []
    addresses: dict[str, str] = {}
    if items:
        try:
            said = source.output("crictl", *endpoint, "inspectp", "-q", "-o", "json", *(item["id"] for item in items))
            addresses = dict(_addresses(said))
        except (Missing, ValueError) as reason:
            source.lack("sandboxes.ip", reason)
    return [
        {
            "id": item["id"],
            "namespace": str(item.get("metadata", {}).get("namespace", "")),
            "pod": str(item.get("metadata", {}).get("name", "")),
            "ip": addresses.get(item["id"], ""),
        }
        for item in items
    ]


def _addresses(text: str) -> Iterator[tuple[str, str]]:
    """Sandbox and address of each answer of `crictl inspectp`: an object for one sandbox, a list for several.

    Older versions print an object for each, one after the other.
    """
    decoder = json.JSONDecoder()
    while text.strip():
        answer, end = decoder.raw_decode(text.strip())
        text = text.strip()[end:]
        for one in (item for item in (answer if isinstance(answer, list) else [answer]) if isinstance(item, dict)):
            status = one.get("status") or {}
            yield str(status.get("id", "")), str((status.get("network") or {}).get("ip") or "")


KEYS: dict[str, Any] = {
    "runtime": lambda source: source.once(("runtime",), lambda: runtime(source)),
    "cni_config": cni_config,
    "cni_bin": cni_bin,
    "cni_ipam": cni_ipam,
    "sandboxes": sandboxes,
}
