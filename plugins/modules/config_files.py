#!/usr/bin/python
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: config_files
short_description: All configuration files of a service in one call
description:
  - Writes, removes and corrects any number of files at once, and answers which paths changed,
    so that handlers can be chosen.
  - All files are checked before the first one is written. Each file is replaced as a whole or not at all.
  - A task costs about the same whatever it does. Twenty files in one call take a twentieth of the time of twenty
    M(ansible.builtin.copy) tasks, which is why this module exists.
  - Knows which service reads a file, and reports a service that was started before its files were written.
    So a handler that an interrupted run owed is caught up by the next run.
extends_documentation_fragment:
  - podnet.kubeadm._attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
    details:
      - The content of O(files[].secret_content) is never shown, nor is that of a file which others on the host
        may not read.
  idempotent:
    support: full
author:
  - podnet.kubeadm contributors (@podnet)
options:
  files:
    description: The files. A path may occur once.
    type: list
    elements: dict
    required: true
    suboptions:
      path:
        description:
          - Absolute path. Folders above it are made where missing. A symbolic link is followed,
            so that the file behind it is written.
        type: path
        required: true
      state:
        description:
          - V(present) is a file with the given content, V(directory) a folder, V(absent) no file.
            Folders are never removed.
        type: str
        choices: [present, directory, absent]
        default: present
      content:
        description: The whole content of the file.
        type: str
      secret_content:
        description:
          - The whole content of a file that must appear in no output, log or diff. The default mode is then V(0600).
        type: str
      mode:
        description: Permission bits, octal. The default is V(0644) for a file and V(0755) for a folder.
        type: str
      owner:
        description: Name of the owner. Not touched where not given; new files belong to the user who writes them.
        type: str
      group:
        description: Name of the group. Not touched where not given.
        type: str
      validate:
        description: Command that must accept the new content before anything is written; V(%s) stands for the file.
        type: str
      unit:
        description:
          - The systemd service that reads the file when it starts.
          - Where it runs and was started before the file was written, it is returned in RV(stale_units)
            and the task is changed.
        type: str
  backup:
    description: Whether a file is copied to a dated folder below O(backup_dir) before it is changed or removed.
    type: bool
    default: true
  backup_dir:
    description: Where the dated folders are made. Only their owner can enter them.
    type: path
    default: /var/backups/podnet.kubeadm
"""

EXAMPLES = r"""
- name: Write all files of containerd
  podnet.kubeadm.config_files:
    files:
      - path: /etc/containerd/config.toml
        content: "{{ lookup('ansible.builtin.template', 'config.toml.j2') }}"
        unit: containerd
      - path: /etc/containerd/certs.d/registry.example.com/hosts.toml
        secret_content: "{{ lookup('ansible.builtin.template', 'hosts.toml.j2') }}"
      - path: /etc/apt/sources.list.d/docker.list
        state: absent
  register: containerd_files
  notify: Restart containerd
"""

RETURN = r"""
paths:
  description: The paths that changed, or would change.
  type: list
  elements: str
  returned: always
  sample: [/etc/containerd/config.toml]
stale_units:
  description:
    - Services that run and were started without some of their files, with the paths. Restart or reload them.
    - A service that does not run yet is not listed, as it will start with its files.
  type: dict
  returned: always
  sample:
    containerd: [/etc/containerd/config.toml]
backup_dir:
  description: The folder to which the former files were copied.
  type: str
  returned: when a file was copied
  sample: /var/backups/podnet.kubeadm/2026-11-30T17-40-00Z
"""

import os
import re
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.podnet.kubeadm.plugins.module_utils import _hosts_files, _hosts_units

FILE_OPTIONS = {
    "path": {"type": "path", "required": True},
    "state": {"type": "str", "choices": ["present", "directory", "absent"], "default": "present"},
    "content": {"type": "str"},
    "secret_content": {"type": "str", "no_log": True},
    "mode": {"type": "str"},
    "owner": {"type": "str"},
    "group": {"type": "str"},
    "validate": {"type": "str"},
    "unit": {"type": "str"},
}


def wanted_file(option: dict[str, Any]) -> _hosts_files.WantedFile:
    """One element of O(files), judged and with its defaults."""
    path, state = option["path"], option["state"]
    if not os.path.isabs(path):
        raise _hosts_files.FilesError(f"{path}: a path must be absolute; write it from / on.")
    secret = option["secret_content"] is not None
    text = option["secret_content"] if secret else option["content"]
    if (text is not None) != (state == "present"):
        raise _hosts_files.FilesError(
            f"{path}: a file with state present needs content or secret_content, any other state takes neither."
        )
    if option["validate"] and "%s" not in option["validate"]:
        raise _hosts_files.FilesError(f"{path}: validate must hold %s, which stands for the file's name.")
    mode = option["mode"] or ("0755" if state == "directory" else "0600" if secret else "0644")
    if not re.fullmatch(r"0?[0-7]{3,4}", mode):
        raise _hosts_files.FilesError(f"{path}: mode {mode} is not octal; write it in quotes, for example '0644'.")
    return _hosts_files.WantedFile(
        path=os.path.normpath(path),
        state=state,
        content=None if text is None else text.encode("utf-8"),
        mode=int(mode, 8),
        owner=option["owner"],
        group=option["group"],
        validate=option["validate"],
        secret=secret,
    )


class ConfigFilesModule(AnsibleModule):
    """Keeps contents out of the system log.

    Ansible masks secrets there by searching for them in the printed options, where a line break is written as an
    escape, so that a secret of several lines is not found.
    """

    def log(self, msg: str, log_args: dict[str, Any] | None = None) -> None:
        super().log(f"Files: {', '.join(str(option['path']) for option in self.params.get('files') or [])}")


def run(module: AnsibleModule) -> dict[str, Any]:
    options = module.params["files"]
    wanted = [wanted_file(option) for option in options]
    paths = [file.path for file in wanted]
    twice = sorted({path for path in paths if paths.count(path) > 1})
    if twice:
        raise _hosts_files.FilesError(f"{', '.join(twice)}: a path may be listed once; join the entries.")

    changes = [change for change in map(_hosts_files.plan, wanted) if change]
    for change in changes:
        _hosts_files.validate(change, module.run_command)
    files_of_units = [(file.path, option["unit"]) for file, option in zip(wanted, options) if option["unit"]]
    changing = [change.wanted.path for change in changes]
    stale = _hosts_units.stale(files_of_units, changing, module.run_command)
    result: dict[str, Any] = {
        "changed": bool(changes or stale),
        "paths": changing,
        "stale_units": stale,
        "diff": [change.diff() for change in changes] + _hosts_units.diff(stale),
    }
    if module.check_mode:
        return result

    backup_dir = _hosts_files.dated_folder(module.params["backup_dir"]) if module.params["backup"] else None
    written: list[str] = []
    for change in changes:
        try:
            _hosts_files.apply(change, backup_dir)
        except OSError as error:
            done = f" Written before it: {', '.join(written)}." if written else ""
            sentence = f"{change.wanted.path} could not be written: {error.strerror}.{done}"
            raise _hosts_files.FilesError(sentence) from error
        written.append(change.wanted.path)
    if backup_dir and os.path.isdir(backup_dir):
        result["backup_dir"] = backup_dir
    return result


def main() -> None:
    module = ConfigFilesModule(
        argument_spec={
            "files": {
                "type": "list",
                "elements": "dict",
                "required": True,
                "options": FILE_OPTIONS,
                "mutually_exclusive": [("content", "secret_content")],
            },
            "backup": {"type": "bool", "default": True},
            "backup_dir": {"type": "path", "default": "/var/backups/podnet.kubeadm"},
        },
        supports_check_mode=True,
    )
    try:
        module.exit_json(**run(module))
    except _hosts_files.FilesError as error:
        module.fail_json(msg=str(error))


if __name__ == "__main__":
    main()
