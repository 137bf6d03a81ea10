#!/usr/bin/python
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: packages
short_description: Debian packages of wanted versions, held, in one transaction
description:
  - Installs any number of packages in the wanted versions and holds them, in one transaction of C(apt-get).
  - When all is as wanted nothing is asked of apt, which makes a second run cheap. Lists are fetched only when
    something is to be installed.
  - In check mode apt is not asked either. So it can say what would be installed from a repository that is not
    configured yet, where M(ansible.builtin.apt) fails. Holds need no task of their own, as they do with
    M(ansible.builtin.dpkg_selections), and nothing but Python's standard library is needed on the host. That is why
    this module exists.
  - Ends what an interrupted installation left half done, and waits for another package manager at work.
  - Never removes a package that it was not told to replace.
extends_documentation_fragment:
  - podnet.kubeadm._attributes
attributes:
  check_mode:
    support: full
    details:
      - Does not know whether a repository has the version, nor which dependencies would come along.
  diff_mode:
    support: full
  idempotent:
    support: full
author:
  - podnet.kubeadm contributors (@podnet)
options:
  packages:
    description: The packages.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the package.
        type: str
        required: true
      version:
        description:
          - The version, or its leading parts. V(1.37.2) takes C(1.37.2-1.1), V(2) takes the newest C(2.x).
          - Empty takes what is installed, or the newest.
        type: str
        default: ""
      hold:
        description: Whether it is held. An existing hold is taken off where this is V(false).
        type: bool
        default: false
      replaces:
        description: Packages that may be removed for it, because it conflicts with them.
        type: list
        elements: str
        default: []
      locked_by:
        description:
          - A file whose presence forbids to change the package where it, or one that it replaces, is installed. With
            V(/etc/kubernetes/kubelet.conf) a node that has joined a cluster keeps its version.
          - Empty for none. Then the wanted version is installed, be it newer or older.
        type: str
        default: ""
      unit:
        description:
          - A systemd service of the package that shall be enabled.
          - It is no task of its own because each task costs a host the same time, whatever it does.
        type: str
        default: ""
      start:
        description: Whether O(packages[].unit) shall run, too.
        type: bool
        default: false
  lock_timeout:
    description: How many seconds another package manager at work is waited for.
    type: int
    default: 300
"""

EXAMPLES = r"""
- name: Install the packages of a node
  podnet.kubeadm.packages:
    packages:
      - name: kubelet
        version: 1.37.2
        hold: true
      - name: kubeadm
        version: 1.37.2
        hold: true
      - name: containerd.io
        version: "2"
        hold: true
        replaces: [containerd, runc]
        unit: containerd
        start: true
      - name: socat
"""

RETURN = r"""
installed:
  description:
    - The packages that were installed or changed, or would be, with the version before (empty for none) and after.
  type: dict
  returned: always
  sample:
    kubelet: {before: "", after: 1.37.2-1.1}
holds:
  description: The packages whose hold was set (true) or taken off (false), or would be.
  type: dict
  returned: always
  sample:
    kubelet: true
units:
  description: The services that were enabled or started, or would be.
  type: dict
  returned: always
  sample:
    containerd: [enabled, started]
versions:
  description: The versions of the wanted packages as they are at the end.
  type: dict
  returned: always
  sample:
    kubelet: 1.37.2-1.1
"""

import os
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.podnet.kubeadm.plugins.module_utils import _hosts_packages, _hosts_units
from ansible_collections.podnet.kubeadm.plugins.module_utils._hosts_packages import (
    Apt,
    Installed,
    PackagesError,
    Wanted,
)

PACKAGE_OPTIONS = {
    "name": {"type": "str", "required": True},
    "version": {"type": "str", "default": ""},
    "hold": {"type": "bool", "default": False},
    "replaces": {"type": "list", "elements": "str", "default": []},
    "locked_by": {"type": "str", "default": ""},
    "unit": {"type": "str", "default": ""},
    "start": {"type": "bool", "default": False},
}


def joined(options: list[dict[str, Any]]) -> list[Wanted]:
    """The wanted packages, each once: two roles may want the same one, and the one that says more counts."""
    packages: dict[str, Wanted] = {}
    for option in options:
        wanted = Wanted(**{**option, "replaces": tuple(option["replaces"])})
        known = packages.get(wanted.name)
        if known and known.version and wanted.version and known.version != wanted.version:
            raise PackagesError(
                f"{wanted.name} is wanted in the versions {known.version} and {wanted.version}; want one."
            )
        if not known or wanted.version or wanted.hold or wanted.unit:
            packages[wanted.name] = wanted
    return list(packages.values())


def missing(packages: list[Wanted], installed: dict[str, Installed]) -> list[Wanted]:
    """What is not installed, not in the wanted version, or half installed."""
    return [
        package
        for package in packages
        if package.name not in installed
        or not installed[package.name].ready
        or not _hosts_packages.matches(package.version, installed[package.name].version)
    ]


def refuse_locked(packages: list[Wanted], installed: dict[str, Installed]) -> None:
    """Refuses to change what a locking file protects; what is merely missing is installed."""
    refused = []
    for package in packages:
        if not package.locked_by or not os.path.exists(package.locked_by):
            continue
        present = installed.get(package.name)
        if present and not _hosts_packages.matches(package.version, present.version):
            refused.append(f"{package.name} {present.version} instead of {package.version}")
        refused += [f"{name} in place of {package.name}" for name in package.replaces if name in installed]
    if refused:
        raise PackagesError(
            f"installed: {', '.join(refused)}. This host has joined a cluster, and changing its packages here would "
            "interrupt it. Give the version that is installed, or use the playbook that upgrades node by node."
        )


def arguments_for(packages: list[Wanted], apt: Apt) -> list[str]:
    """What apt-get is told, with exact versions.

    A repository that does not answer counts only when something is missing: the host may have a dead one of its own.
    """
    said = apt.refresh()
    candidates = apt.candidates([package.name for package in packages])
    arguments, absent = [], []
    for package in packages:
        available = candidates.get(package.name, [])
        versions = [version for version in available if _hosts_packages.matches(package.version, version)]
        if versions:
            arguments.append(f"{package.name}={versions[0]}" if package.version else package.name)
        elif available:
            absent.append(f"{package.name} {package.version} (there are {', '.join(available[:5])})")
        else:
            absent.append(f"{package.name} {package.version}".strip())
    if absent:
        what = f"no repository of this host has {', '.join(absent)}"
        if said:
            raise PackagesError(_hosts_packages.explain(f"E: {said}", what))
        raise PackagesError(f"{what}. Check the version and the repository's address.")
    return arguments


def transact(packages: list[Wanted], present: dict[str, Installed], apt: Apt) -> None:
    """Installs ``packages``; ``present`` is what is there of them and of what they replace."""
    if any(not one.ready for one in present.values()):
        apt.repair()
    arguments = arguments_for(packages, apt)
    replaced = {name for package in packages for name in package.replaces}
    if replaced & set(present):
        foreign = sorted(set(apt.removals(arguments)) - replaced)
        if foreign:
            raise PackagesError(
                f"installing {', '.join(arguments)} would remove {', '.join(foreign)}, which nobody asked for. "
                "Remove them yourself if they are not needed."
            )
    apt.install(arguments, may_remove=bool(replaced & set(present)))


def lacking_units(services: dict[str, bool], module: AnsibleModule) -> dict[str, list[str]]:
    try:
        return _hosts_units.lacking(services, module.run_command)
    except _hosts_units.UnitsError:
        if not module.check_mode:
            raise
        # An image that is being built has no systemd to ask yet.
        return {name: ["enabled", "started"] if start else ["enabled"] for name, start in sorted(services.items())}


def run(module: AnsibleModule) -> dict[str, Any]:
    packages = joined(module.params["packages"])
    apt = Apt(module.run_command, module.params["lock_timeout"])
    names = [package.name for package in packages]
    before = apt.installed([*names, *(name for package in packages for name in package.replaces)])
    lacking = missing(packages, before)
    refuse_locked(lacking, before)
    holds = {
        package.name: package.hold
        for package in packages
        if (package.hold if package in lacking else package.hold != before[package.name].held)
    }
    after = before
    if not module.check_mode:
        if lacking:
            transact(lacking, before, apt)
        if holds:
            apt.hold(holds)
        after = apt.installed(names) if lacking else before
    services = {package.unit: package.start for package in packages if package.unit}
    units = lacking_units(services, module)
    if not module.check_mode:
        _hosts_units.bring(units, module.run_command)
    predicted = {package.name: package.version or "newest" for package in lacking}
    versions = {name: one.version for name, one in after.items() if name in names}
    installed = {
        package.name: {
            "before": before[package.name].version if package.name in before else "",
            "after": predicted[package.name] if module.check_mode else versions.get(package.name, ""),
        }
        for package in lacking
    }
    return {
        "changed": bool(lacking or holds or units),
        "installed": installed,
        "holds": holds,
        "units": units,
        "versions": {**versions, **(predicted if module.check_mode else {})},
        "diff": diff(installed, holds, units),
    }


def diff(installed: dict[str, dict[str, str]], holds: dict[str, bool], units: dict[str, list[str]]) -> dict[str, str]:
    before = [f"{name} {change['before']}\n" for name, change in installed.items() if change["before"]]
    after = [f"{name} {change['after']}\n" for name, change in installed.items()]
    before += [f"{name} held\n" for name, held in holds.items() if not held]
    after += [f"{name} held\n" for name, held in holds.items() if held]
    after += [f"service {name} {' and '.join(states)}\n" for name, states in units.items()]
    return {"before_header": "packages", "after_header": "packages", "before": "".join(before), "after": "".join(after)}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "packages": {"type": "list", "elements": "dict", "required": True, "options": PACKAGE_OPTIONS},
            "lock_timeout": {"type": "int", "default": 300},
        },
        supports_check_mode=True,
    )
    try:
        module.exit_json(**run(module))
    except (PackagesError, _hosts_units.UnitsError) as error:
        module.fail_json(msg=str(error))


if __name__ == "__main__":
    main()
