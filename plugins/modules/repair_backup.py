#!/usr/bin/python
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: repair_backup
short_description: Keep what a repair replaces, and put it back byte for byte
description:
  - Keeps files and Kubernetes objects before a repair changes them, notes what they were afterwards, and puts them
    back on demand.
  - Going back leaves alone what somebody changed after the repair, and says so.
author:
  - podnet.kubeadm contributors (@podnet)
extends_documentation_fragment:
  - podnet.kubeadm._attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
    details:
      - Answers the paths and objects; their contents may be secret.
  idempotent:
    support: full
options:
  state:
    description:
      - V(kept) copies what is not kept yet.
      - V(settled) notes what there is now, after the repair.
      - V(restored) puts everything back that the repair changed.
    type: str
    choices: [kept, settled, restored]
    required: true
  folder:
    description: The folder of this repair. Only its owner can enter it.
    type: path
    required: true
  files:
    description: Shell patterns of files. One without a wildcard is noted also where there is no such file.
    type: list
    elements: str
    default: []
  objects:
    description: Kubernetes objects as C(KIND NAMESPACE/NAME), C(KIND /NAME) for those without a namespace.
    type: list
    elements: str
    default: []
  step:
    description:
      - What is being done, in a few words. With its time and what changed it is noted in C(repair.log) of O(folder).
    type: str
    default: a step
  kubeconfig:
    description: The kubeconfig to use for O(objects).
    type: path
    default: /etc/kubernetes/admin.conf
"""

EXAMPLES = r"""
- name: Keep what the repair will change
  podnet.kubeadm.repair_backup:
    state: kept
    folder: /var/backups/podnet.kubeadm/repair/2026-11-30T17-40-00Z
    files: [/etc/cni/net.d/*]
    objects: [ConfigMap kube-flannel/kube-flannel-cfg]
    step: flannel:rolled_out for flannel-network-mismatch

- name: Put everything back
  podnet.kubeadm.repair_backup:
    state: restored
    folder: /var/backups/podnet.kubeadm/repair/2026-11-30T17-40-00Z
"""

RETURN = r"""
entries:
  description: Paths and objects that were kept, that the repair changed, or that were put back.
  type: list
  elements: str
  returned: success
  sample: [/etc/cni/net.d/00-other.conflist]
left:
  description: What somebody changed after the repair, and what was therefore not put back.
  type: list
  elements: str
  returned: O(state=restored)
  sample: []
dates:
  description: Names of the folders beside O(folder), where O(folder) is not there, so that nothing can be put back.
  type: list
  elements: str
  returned: O(state=restored) and there is no such folder
  sample: [2026-11-30T17-40-00Z]
"""

import os
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.podnet.kubeadm.plugins.module_utils import _hosts_archive, _kubectl


def read(kubectl: _kubectl.Kubectl, titles: list[str]) -> dict[str, Any]:
    """The objects by title as the server has them, without what it writes of itself; None for one that is not there."""
    found: dict[str, Any] = {}
    for title in titles:
        kind, _space, name = title.partition(" ")
        namespace, _slash, name = name.partition("/")
        items = kubectl.get([kind, name] + (["-n", namespace] if namespace else []))
        found[title] = plain(items[0]) if items else None
    return found


def plain(item: dict[str, Any]) -> dict[str, Any]:
    """An object that the server takes as new."""
    kept = {key: value for key, value in item.items() if key != "status"}
    kept["metadata"] = {key: value for key, value in item["metadata"].items() if key not in _kubectl.SERVER_FIELDS}
    return kept


def restore_objects(
    kubectl: _kubectl.Kubectl, archive: _hosts_archive.Archive, dry_run: bool
) -> tuple[list[str], list[str]]:
    """Puts the objects back. Answers (titles put back, titles left because they were changed after the repair)."""
    done: list[str] = []
    left: list[str] = []
    kept = archive.index["objects"]
    changed = [title for title in archive.changed() if title in kept]
    for title, now in read(kubectl, changed).items():
        before, after = kept[title]["before"], kept[title]["after"]
        if now == before:
            continue
        if archive.index["settled"] and now != after:
            left.append(title)
            continue
        if not dry_run and before is None:
            kubectl.delete([now], wait=True, limit=60)
        elif not dry_run:
            kubectl.run(["replace" if now else "create", "-f", "-"], _kubectl.as_list([before]))
        done.append(title)
    return done, left


def run(module: AnsibleModule) -> dict[str, Any]:
    params = module.params
    archive = _hosts_archive.Archive(params["folder"])
    kubectl = _kubectl.Kubectl(module.run_command, params["kubeconfig"])
    if params["state"] == "restored":
        if not archive.exists:
            return {"changed": False, "entries": [], "left": [], "dates": sorted(siblings(params["folder"]))}
        objects, left_objects = restore_objects(kubectl, archive, module.check_mode)
        files, left_files = archive.restore_files(module.check_mode)
        entries, left = files + objects, left_files + left_objects
        if not module.check_mode:
            archive.note(f"put back {listed(entries)}; left alone, for it was changed since: {listed(left)}")
        return {"changed": bool(entries), "entries": entries, "left": left}
    if module.check_mode:
        return {"changed": False, "entries": []}
    objects_now = read(kubectl, params["objects"])
    if params["state"] == "kept":
        entries = archive.keep(params["files"], objects_now)
        archive.note(f"begins {params['step']}; kept {listed(entries)}")
    else:
        entries = archive.settle(params["files"], objects_now)
        archive.note(f"ended {params['step']}; changed until now: {listed(entries)}")
    return {"changed": False, "entries": entries}


def listed(entries: list[str]) -> str:
    return ", ".join(entries) or "nothing"


def siblings(folder: str) -> list[str]:
    """The dates of the repairs that this host has."""
    above = os.path.dirname(folder)
    return os.listdir(above) if os.path.isdir(above) else []


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["kept", "settled", "restored"], "required": True},
            "folder": {"type": "path", "required": True},
            "files": {"type": "list", "elements": "str", "default": []},
            "objects": {"type": "list", "elements": "str", "default": []},
            "step": {"type": "str", "default": "a step"},
            "kubeconfig": {"type": "path", "default": _kubectl.ADMIN_CONF},
        },
        supports_check_mode=True,
    )
    try:
        module.exit_json(**run(module))
    except (_hosts_archive.ArchiveError, _kubectl.KubectlError, OSError) as error:
        module.fail_json(msg=str(error))


if __name__ == "__main__":
    main()
