# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a host holds of a cluster, and the kubeadm commands that change it.

PRIVATE to the collection. Standard library only. Functions take paths and a command runner, so that tests need no host.

kubeadm never says how far an interrupted run came. Two things tell: the files that its phases leave, in their order
(certificates, kubeconfigs, static pods, kubelet), and a marker that the C(kubeadm) module writes before it starts a
run and removes when the run ended well. A run that did not end is finished by starting it again with exactly those
preflight checks ignored that its own leftovers would fail.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from dataclasses import dataclass
from typing import Any, Callable

RunCommand = Callable[..., "tuple[int, str, str]"]

MARKER = "etc/kubernetes/.podnet-at-work"
STATIC_PODS = {
    "kube-apiserver": ("Port-6443",),
    "kube-controller-manager": ("Port-10257",),
    "kube-scheduler": ("Port-10259",),
    "etcd": ("Port-2379", "Port-2380"),
}
# A bootstrap token, as kubeadm defines it (bootstrapapi.BootstrapTokenPattern); the first part is its public id.
TOKEN = re.compile(r"\b([a-z0-9]{6})\.[a-z0-9]{16}\b")
CERTIFICATE_KEY = re.compile(r"\b[a-f0-9]{64}\b")
AT_WORK = ("init", "join", "reset", "upgrade")


class KubeadmError(Exception):
    """A kubeadm command failed; the message is a sentence with kubeadm's own words, without secrets."""


def mask(text: str) -> str:
    """*text* without bootstrap tokens and certificate keys; hashes of the CA (C(sha256:...)) stay."""
    text = TOKEN.sub(r"\1.****************", text)
    return re.sub(r"(?<!sha256:)" + CERTIFICATE_KEY.pattern, "****", text)


@dataclass(frozen=True)
class Traces:
    """What is on a host, below *root*.

    marker: the kind of run (C(init) or C(join)) that was started by the module and did not end, or an empty string.
    """

    marker: str = ""
    ca_cert: bool = False
    ca_key: bool = False
    kubelet_conf: bool = False
    bootstrap_conf: bool = False
    admin_conf: bool = False
    kubelet_config: bool = False
    static_pods: tuple[str, ...] = ()
    etcd_data: bool = False

    @property
    def any(self) -> bool:
        return any(
            (self.ca_cert, self.ca_key, self.kubelet_conf, self.bootstrap_conf, self.admin_conf, self.static_pods)
        )

    @property
    def control_plane(self) -> bool:
        """A whole control plane, as far as files tell."""
        return self.admin_conf and self.kubelet_conf and "kube-apiserver" in self.static_pods


def look(root: str = "/", etcd_dir: str = "var/lib/etcd") -> Traces:
    """Read the traces of a cluster below *root*. Empty files (a write that was cut off) do not count."""

    def there(path: str) -> bool:
        try:
            return os.path.getsize(os.path.join(root, path)) > 0
        except OSError:
            return False

    marker = ""
    try:
        with open(os.path.join(root, MARKER), encoding="utf-8") as handle:
            marker = handle.read().strip()
    except OSError:
        pass
    try:
        etcd_data = bool(os.listdir(os.path.join(root, etcd_dir.lstrip("/"))))
    except OSError:
        etcd_data = False
    return Traces(
        marker=marker,
        ca_cert=there("etc/kubernetes/pki/ca.crt"),
        ca_key=there("etc/kubernetes/pki/ca.key"),
        kubelet_conf=there("etc/kubernetes/kubelet.conf"),
        bootstrap_conf=there("etc/kubernetes/bootstrap-kubelet.conf"),
        admin_conf=there("etc/kubernetes/admin.conf"),
        kubelet_config=there("var/lib/kubelet/config.yaml"),
        static_pods=tuple(name for name in STATIC_PODS if there(f"etc/kubernetes/manifests/{name}.yaml")),
        etcd_data=etcd_data,
    )


def torn_files(root: str = "/") -> list[str]:
    """Empty files below C(/etc/kubernetes): a kubeadm that was killed while it wrote them.

    kubeadm reads what it finds and stops at an empty certificate or kubeconfig; what is empty is never worth keeping.
    """
    torn = []
    for folder, _folders, files in os.walk(os.path.join(root, "etc/kubernetes")):
        for name in files:
            path = os.path.join(folder, name)
            if name.endswith((".conf", ".crt", ".key", ".pub", ".yaml")) and os.path.getsize(path) == 0:
                torn.append(path)
    return sorted(torn)


def init_state(traces: Traces) -> str:
    """C(done), C(resume), C(fresh) or C(member) (the host is a worker of some cluster) of a control plane's init."""
    if traces.marker == "init":
        return "resume" if traces.any else "fresh"
    if traces.control_plane:
        return "done"
    if traces.kubelet_conf and not traces.ca_key:
        return "member"
    return "resume" if traces.any else "fresh"


def join_state(traces: Traces, control_plane: bool = False) -> str:
    """C(done), C(resume) or C(fresh) of a join.

    A worker has joined when the kubelet wrote its own kubeconfig: it is what the last phase of C(kubeadm join) waits
    for. A control plane has more phases after that, so a marker of it counts. A bootstrap kubeconfig is the very last
    thing that kubeadm removes.
    """
    if traces.kubelet_conf and not control_plane:
        return "resume" if traces.bootstrap_conf else "done"
    if traces.control_plane and traces.marker != "join":
        return "done"
    return "resume" if traces.any else "fresh"


def ignored_checks(traces: Traces, verb: str, etcd_dir: str = "/var/lib/etcd") -> list[str]:
    """The preflight checks that the leftovers of an interrupted run would fail, and no others (kubeadm's names)."""
    ignored = []
    for name in traces.static_pods:
        ignored.append(f"FileAvailable--etc-kubernetes-manifests-{name}.yaml")
        ignored.extend(STATIC_PODS[name])
    if traces.kubelet_config:  # the interrupted run had come to starting the kubelet
        ignored.append("Port-10250")
    if traces.etcd_data:
        ignored.append("DirAvailable-" + etcd_dir.replace("/", "-"))
    if verb == "join":
        if traces.kubelet_conf:
            ignored.append("FileAvailable--etc-kubernetes-kubelet.conf")
        if traces.bootstrap_conf:
            ignored.append("FileAvailable--etc-kubernetes-bootstrap-kubelet.conf")
        if traces.ca_cert:
            ignored.append("FileAvailable--etc-kubernetes-pki-ca.crt")
    return sorted(ignored)


def at_work(proc: str = "/proc") -> list[tuple[int, str]]:
    """Process id and verb of every kubeadm that is changing this host right now."""
    found = []
    for entry in os.listdir(proc):
        if not entry.isdigit():
            continue
        try:
            with open(os.path.join(proc, entry, "cmdline"), "rb") as handle:
                argv = handle.read().decode("utf-8", "replace").split("\0")
        except OSError:
            continue
        if os.path.basename(argv[0]) == "kubeadm":
            verbs = [word for word in argv[1:] if word in AT_WORK]
            if verbs:
                found.append((int(entry), verbs[0]))
    return sorted(found)


def _der(data: bytes, at: int) -> tuple[int, int, int]:
    """Start of the content, its end and the tag of the DER element at *at* (X.690 8.1)."""
    tag, length, start = data[at], data[at + 1], at + 2
    if length & 0x80:
        size = length & 0x7F
        length = int.from_bytes(data[start : start + size], "big")
        start += size
    return start, start + length, tag


def ca_cert_hash(pem: str) -> str:
    """The hash that C(caCertHashes) wants of a PEM certificate: C(sha256:) and the SHA-256 of its public key info.

    The public key info is the seventh field of the certificate's body, or the sixth where the version is left out
    (RFC 5280 4.1). Raises ValueError when *pem* holds no certificate.
    """
    match = re.search("-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", pem, re.S)
    if not match:
        raise ValueError("there is no PEM certificate in it")
    data = base64.b64decode("".join(match.group(1).split()))
    body, _end, _tag = _der(data, 0)
    at, _end, _tag = _der(data, body)
    skip = 6 if data[at] == 0xA0 else 5
    for _field in range(skip):
        _start, at, _tag = _der(data, at)
    _start, end, _tag = _der(data, at)
    return "sha256:" + hashlib.sha256(data[at:end]).hexdigest()


def server_of(kubeconfig: str) -> str:
    """C(HOST:PORT) that the text of a kubeconfig names, or an empty string."""
    match = re.search(r"^\s*server:\s*[\"']?https://([^\s\"'/]+)", kubeconfig, re.M)
    return match.group(1) if match else ""


def render(documents: list[dict[str, Any]]) -> str:
    """kubeadm's file of several documents. JSON is YAML, and needs nothing beside the standard library."""
    return "\n---\n".join(json.dumps(document, indent=2, sort_keys=True) for document in documents) + "\n"


def unlike(wanted: Any, running: Any, path: str = "") -> list[str]:
    """Dotted paths of the fields that *wanted* sets and *running* has otherwise.

    What only *running* has is kubeadm's own default. Lists are compared without their order: none of kubeadm's has one.
    """
    if isinstance(wanted, dict):
        other = running if isinstance(running, dict) else {}
        return [
            found
            for key, value in sorted(wanted.items())
            for found in unlike(value, other.get(key), f"{path}.{key}" if path else key)
        ]
    return [] if _plain(wanted) == _plain(running) else [path]


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return sorted(json.dumps(one, sort_keys=True) for one in value)
    return value or []


class Kubeadm:
    """The kubeadm commands, run by *run_command* (as AnsibleModule's), each with a limit in seconds."""

    def __init__(self, run_command: RunCommand, binary: str = "kubeadm", limit: int = 600) -> None:
        self._run_command = run_command
        self._binary = binary
        self._limit = limit

    def _run(self, args: list[str], kubeconfig: str | None = None) -> str:
        command = ["timeout", "-k", "10", str(self._limit), self._binary, *args]
        env = {"KUBECONFIG": kubeconfig} if kubeconfig else {}
        code, out, err = self._run_command(command, environ_update=dict(env, LC_ALL="C"))
        if code == 0:
            return out
        what = "kubeadm " + " ".join(word for word in args if not word.startswith("-"))
        if code == 124:
            raise KubeadmError(f"{what} did not end within {self._limit} s. Its last words: {_last(out, err)}")
        raise KubeadmError(f"{what} failed: {_reason(out, err)}")

    def validate(self, path: str) -> None:
        self._run(["config", "validate", "--config", path])

    def init(self, path: str, ignored: list[str]) -> str:
        return self._run(["init", "--config", path, *_ignore(ignored)])

    def join(self, path: str, ignored: list[str]) -> str:
        return self._run(["join", "--config", path, *_ignore(ignored)])

    def create_token(self, kubeconfig: str, ttl: str, description: str) -> str:
        """A new token; kubeadm makes it up and prints it, so that it is on no command line."""
        out = self._run(["token", "create", "--ttl", ttl, "--description", description], kubeconfig)
        match = TOKEN.search(out)
        if not match:
            raise KubeadmError("kubeadm token create ended well but printed no token")
        return match.group(0)

    def delete_token(self, kubeconfig: str, token_id: str) -> bool:
        """Whether there was a token with that id."""
        try:
            self._run(["token", "delete", token_id], kubeconfig)
        except KubeadmError as exc:
            if "not found" in str(exc):
                return False
            raise
        return True


def _ignore(checks: list[str]) -> list[str]:
    return ["--ignore-preflight-errors=" + ",".join(checks)] if checks else []


def _last(out: str, err: str) -> str:
    return mask(" | ".join((out + "\n" + err).strip().splitlines()[-6:]))


def _reason(out: str, err: str) -> str:
    """What kubeadm says went wrong: its fatal lines, or else the last lines of all."""
    lines = err.strip().splitlines()
    fatal = [
        line.strip() for line in lines if line.lstrip().startswith(("[ERROR", "error:", "error execution", "error "))
    ]
    return mask("; ".join(fatal[:12])) if fatal else _last(out, err)
