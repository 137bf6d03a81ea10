# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The CNI configuration names no version, or one that a plugin does not speak.

## What it means
Every configuration has a `cniVersion`; runtime and each plugin have to speak it. Manifests from before 2020 have none,
which runtimes refuse now. Plugins before 1.0 speak up to 0.4.0, before 1.6 up to 1.0.0.

## How it looks
The node stays NotReady: `error parsing configuration list: no cniVersion: cni plugin not initialized`; or new pods say
`incompatible CNI versions; config is "1.1.0", plugin supports ["0.1.0" "0.2.0" ...]`; a list in a file called .conf:
`no 'type'; perhaps this is a .conflist?`.

## What looks like it but is not
- Another network's file with an old version: see `cni-foreign-config`.
- No file at all: flannel was not applied or does not run there.

## Mend
Apply a current manifest (podnet.kubeadm.site): its cni-conf.json has a version. Update kubernetes-cni where plugins
are older than the configuration.

## Prevent
Use the manifest of a flannel release, with the plugins of the Kubernetes release.

## Sources
- kubernetes/kubernetes issue 82982 (1.16); flannel issues 1178, 1082; containernetworking/cni SPEC.md
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..._evidence._cni import CniFile, cni_file
from ..._evidence._host import Host
from ..._evidence._said import said_on
from ..._evidence._versions import version
from ..._finding import Found, Missing
from ..._registry import Rule
from ..._view import View

RULE = Rule(
    title="The CNI configuration's version is not spoken",
    severity="error",
    needs=("nodes.cni_config",),
    remedy=(
        "Run podnet.kubeadm.site, which applies flannel's current configuration; update kubernetes-cni where "
        "plugins are older."
    ),
    repair="flannel:rolled_out",
    rank=20,
)

_KNOWN = ("0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0")
_INCOMPATIBLE = re.compile(r"incompatible CNI versions|unsupported CNI result version|no cniVersion", re.IGNORECASE)
_PACKAGES = ("kubernetes-cni", "containernetworking-plugins")


def check_node(node: Host, view: View) -> Iterator[Found]:
    file = next((one for one in node.cni_files if one.is_flannel), None)
    if file is None:
        return
    if file.fault:
        refused = node.runtime.text("cni_load_error") if node.has("runtime") else ""
        if file.name in refused:
            yield Found(
                f"flannel's CNI configuration cannot be read ({file.fault.partition(':')[0]})", {"said": refused}
            )
        return
    fault = _fault(file) or _spoken(file, node)
    if fault:
        yield Found(fault, {"file": file.name, "cniVersion": file.config.text("cniVersion")})
        return
    said = next((line.strip() for line in said_on(view, node) if _INCOMPATIBLE.search(line)), "")
    if said:
        compared = {"file": file.name, "cniVersion": file.config.text("cniVersion"), "said": said[-300:]}
        yield Found("a plugin does not speak the configuration's cniVersion", compared)


def check_cluster(view: View) -> Iterator[Found]:
    if len(view.nodes):
        return  # told from the hosts' own files
    file = cni_file("cni-conf.json", view.cluster.flannel_config.cni_conf_text)
    if file.is_flannel and (fault := _fault(file)):
        yield Found(fault, {"file": file.name, "cniVersion": file.config.text("cniVersion")})


def _fault(file: CniFile) -> str:
    said = file.config.text("cniVersion")
    if not said:
        return "flannel's CNI configuration has no cniVersion"
    if said not in _KNOWN:
        return f"flannel's CNI configuration has cniVersion {said}, which is no version of the specification"
    if file.is_list and file.name.endswith(".conf"):
        return "flannel's CNI configuration is a list in a file called .conf"
    return ""


def _spoken(file: CniFile, node: Host) -> str:
    """Whether the installed plugins are too old for the configuration."""
    try:
        packages = node.packages
    except Missing:
        return ""
    asked = version(file.config.text("cniVersion"))
    for name in _PACKAGES:
        have = version(packages.text(name, "version").partition(":")[2] or packages.text(name, "version"))
        if asked and have:
            limit = (0, 4) if have[:2] < (1, 0) else (1, 0) if have[:2] < (1, 6) else (1, 1)
            if asked[:2] > limit:
                return f"the plugins of {name} {have} speak CNI up to {limit[0]}.{limit[1]}.0, {asked} is asked for"
    return ""
