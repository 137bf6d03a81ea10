# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a host holds of a cluster, and how far a kubeadm that was cut off had come.

PRIVATE to the collection. Standard library only. Functions take paths, so that tests need no host.

kubeadm never says how far an interrupted run came. Two things tell: the files that its phases leave, in their order
(certificates, kubeconfigs, static pods, kubelet), and a marker that the C(kubeadm) module writes before it starts a
run and removes when the run ended well. A run that did not end is finished by starting it again with exactly those
preflight checks ignored that its own leftovers would fail.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

MARKER = "etc/kubernetes/.podnet-at-work"
STATIC_PODS = {
    "kube-apiserver": ("Port-6443",),
    "kube-controller-manager": ("Port-10257",),
    "kube-scheduler": ("Port-10259",),
    "etcd": ("Port-2379", "Port-2380"),
}
AT_WORK = ("init", "join", "reset", "upgrade")


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


def mark(verb: str | None, root: str = "/") -> None:
    """Write the marker of a run that begins (C(init) or C(join)); remove it with None."""
    path = os.path.join(root, MARKER)
    if verb is None:
        if os.path.exists(path):
            os.unlink(path)
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(verb + "\n")


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
