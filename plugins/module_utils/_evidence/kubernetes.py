# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What kubelet, kubeadm and flannel left on the host."""

from __future__ import annotations

import os
import re
from typing import Any

from . import x509
from .scrub import last_lines, scrub
from .source import Missing, Source

# Folder, and how many levels below it are listed. Pods' volumes and etcd's files are not ours to walk.
_FOLDERS = (("/etc/kubernetes", 3), ("/var/lib/kubelet", 1), ("/var/lib/kubelet/pki", 1), ("/var/lib/etcd", 1))
_NOT_LISTED = {
    "/var/lib/kubelet/pods",
    "/var/lib/kubelet/plugins",
    "/var/lib/kubelet/plugins_registry",
    "/etc/kubernetes/tmp",
}
_MOST = 500
# Where people keep what kubeadm said, and cloud images what cloud-init ran.
KUBEADM_LOGS = ("/var/log/kubeadm.log", "/var/log/cloud-init-output.log")


def kubernetes_files(source: Source) -> list[str]:
    """Paths that are there below the folders of kubeadm, kubelet and etcd, to a small depth, at most 500."""
    found: list[str] = []

    def walk(path: str, depth: int) -> None:
        if not os.path.lexists(source.path(path)) or path in found or len(found) >= _MOST:
            return
        found.append(path)
        # A link is listed and not followed
        if (
            depth
            and path not in _NOT_LISTED
            and os.path.isdir(source.path(path))
            and not os.path.islink(source.path(path))
        ):
            for name in source.names(path):
                walk(f"{path}/{name}", depth - 1)

    for folder, depth in _FOLDERS:
        if folder in found:
            found.remove(folder)
        walk(folder, depth)
    return found


def certificates(source: Source) -> dict[str, dict[str, object]]:
    """End and names of each certificate in the pki folders, and of those that kubeconfigs embed."""
    paths = []
    for folder in ("/etc/kubernetes/pki", "/etc/kubernetes/pki/etcd", "/var/lib/kubelet/pki"):
        paths += [
            f"{folder}/{name}"
            for name in source.names(folder)
            if name.endswith(".crt") or name == "kubelet-client-current.pem"
        ]
    found = {}
    for path in paths:
        try:
            found[path] = x509.facts(source.read(path))
        except (Missing, ValueError) as reason:
            source.lack(f"certificates.{path}", reason)
    for path in _kubeconfigs(source):
        data = _field(source.read_or(path, ""), "client-certificate-data")
        if data:
            try:
                found[path] = x509.facts(x509.pem_of(data))
            except ValueError as reason:
                source.lack(f"certificates.{path}", reason)
    return found


def _kubeconfigs(source: Source) -> list[str]:
    return [f"/etc/kubernetes/{name}" for name in source.names("/etc/kubernetes") if name.endswith(".conf")]


def _field(kubeconfig: str, name: str) -> str:
    """The first value of that name in a kubeconfig, YAML as kubeadm writes it or JSON; "" where there is none."""
    found = re.search(rf"""(?m)(?:^|[{{,\s])["']?{re.escape(name)}["']?\s*:\s*["']?([^\s"',}}]+)""", kubeconfig)
    return found.group(1) if found else ""


def kubeconfig_servers(source: Source) -> dict[str, str]:
    """The server that each kubeconfig below /etc/kubernetes names."""
    found = {}
    for path in _kubeconfigs(source):
        server = _field(source.read_or(path, ""), "server")
        if server:
            found[path] = scrub(server)
    return found


def kubelet_config(source: Source) -> str:
    """The text of /var/lib/kubelet/config.yaml; a header for static pods' URL can hold a credential."""
    text = source.read_or("/var/lib/kubelet/config.yaml", "")
    text = re.sub(r"(?m)^staticPodURLHeader:.*\n(?:[ \t-].*\n?)*", "staticPodURLHeader: (removed)\n", text)
    return scrub(text)


def kubelet_flags(source: Source) -> str:
    """kubeadm-flags.env and the administrator's own flags, one after the other."""
    paths = ("/var/lib/kubelet/kubeadm-flags.env", "/etc/default/kubelet", "/etc/sysconfig/kubelet")
    return scrub(
        "".join(
            text if text.endswith("\n") or not text else text + "\n"
            for text in (source.read_or(path, "") for path in paths)
        )
    )


def kubelet_version(source: Source) -> str:
    """`v1.37.2`; empty where there is no kubelet."""
    return _version(source, "kubelet", "--version")


def kubeadm_version(source: Source) -> str:
    """`v1.37.2`; empty where there is no kubeadm."""
    return _version(source, "kubeadm", "version", "-o", "short")


def _version(source: Source, command: str, *arguments: str) -> str:
    if not any(source.exists(f"{folder}/{command}") for folder in ("/usr/bin", "/usr/local/bin", "/opt/bin")):
        return ""
    match = re.search(r"v\d+\.\d+\.\d+[\w.+-]*", source.output(command, *arguments))
    if not match:
        raise Missing(f"{command} did not name its version")
    return match.group()


def subnet_env(source: Source) -> str:
    """What flannel wrote last; empty where it wrote nothing."""
    return source.read_or("/run/flannel/subnet.env", "")


def kubeadm_output(source: Source) -> str:
    """The last lines of the last kubeadm command that is on record, if it warned or failed."""
    for path in KUBEADM_LOGS:
        text = source.read_or(path, "")
        start = max(text.rfind("[preflight] Running pre-flight checks"), text.rfind("[init] Using Kubernetes version"))
        if start >= 0:
            said = last_lines("\n".join(text[start:].splitlines()[:200]), 60)
            return said if re.search(r"\[(?:WARNING|ERROR) |^error\b|timed out", said, re.M) else ""
    raise Missing("no output of kubeadm is on record")


KEYS: dict[str, Any] = {
    "kubernetes_files": kubernetes_files,
    "certificates": certificates,
    "kubeconfig_servers": kubeconfig_servers,
    "kubelet_config": kubelet_config,
    "kubelet_flags": kubelet_flags,
    "kubelet_version": kubelet_version,
    "kubeadm_version": kubeadm_version,
    "subnet_env": subnet_env,
    "kubeadm_output": kubeadm_output,
}
