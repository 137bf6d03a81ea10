#!/usr/bin/python
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kernel_settings
short_description: Kernel modules, kernel values and swap, now and at the next boot
description:
  - Sees to kernel modules, kernel values (sysctl) and swap in one call, both as they are now and as a reboot would
    leave them.
  - Tests whether what a module brings is there, not whether it is listed. C(community.general.modprobe) fails on
    kernels without C(/proc/modules), where everything is built in, and needs a task for each module, as
    C(ansible.posix.sysctl) does for each value. That is why this module exists.
  - Writes C(/etc/modules-load.d/podnet-kubeadm.conf) with the modules that are not built in, and
    C(/etc/sysctl.d/99-zz-podnet-kubeadm.conf). Refuses where a file that is read later would undo a value at boot.
extends_documentation_fragment:
  - podnet.kubeadm._attributes
attributes:
  check_mode:
    support: full
    details:
      - A value whose key appears only when a missing module is loaded counts as one that will be set.
  diff_mode:
    support: full
  idempotent:
    support: full
author:
  - podnet.kubeadm contributors (@podnet)
options:
  modules:
    description: Kernel modules that must be there.
    type: list
    elements: str
    default: []
  sysctls:
    description:
      - Kernel values that must be exactly so. Keys with dots; a key that starts with a slashed part keeps its dots.
    type: dict
    default: {}
  sysctl_minimums:
    description:
      - Whole numbers that a kernel value must not be below. Higher values, and what the host's own files set, stay.
    type: dict
    default: {}
  swap:
    description:
      - V(off) switches swap off, turns the swap lines of C(/etc/fstab) into comments and masks other swap units.
      - V(keep) does not look.
    type: str
    choices: [keep, "off"]
    default: keep
  backup_dir:
    description: Where dated folders with the former files are made.
    type: path
    default: /var/backups/podnet.kubeadm
"""

EXAMPLES = r"""
- name: Prepare the kernel for kubelet and flannel
  podnet.kubeadm.kernel_settings:
    modules: [overlay, br_netfilter, vxlan]
    sysctls:
      net.ipv4.ip_forward: 1
      net.bridge.bridge-nf-call-iptables: 1
    sysctl_minimums:
      fs.inotify.max_user_instances: 512
    swap: "off"
"""

RETURN = r"""
loaded:
  description: Kernel modules that were loaded, or would be.
  type: list
  elements: str
  returned: always
  sample: [br_netfilter]
sysctls:
  description: Kernel values that were changed now, or would be, with what they were.
  type: dict
  returned: always
  sample:
    net.ipv4.ip_forward: {before: "0", after: "1"}
swap_off:
  description: Swap devices and files that were switched off, or would be.
  type: list
  elements: str
  returned: always
  sample: [/dev/sda2]
masked_units:
  description: systemd swap units that were masked, or would be.
  type: list
  elements: str
  returned: always
  sample: [dev-zram0.swap]
paths:
  description: Files that were changed, or would be.
  type: list
  elements: str
  returned: always
  sample: [/etc/sysctl.d/99-zz-podnet-kubeadm.conf]
"""

import pathlib
from typing import Any, Callable

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.podnet.kubeadm.plugins.module_utils import (
    _hosts_files,
    _hosts_kernel_modules,
    _hosts_swap,
    _hosts_sysctl,
)

MODULES_FILE = "/etc/modules-load.d/podnet-kubeadm.conf"
SYSCTL_FILE = "/etc/sysctl.d/99-zz-podnet-kubeadm.conf"  # after 99-sysctl.conf, which is /etc/sysctl.conf
HEAD = "# Written by podnet.kubeadm.kernel_settings; changes are overwritten.\n"


RunCommand = Callable[..., "tuple[int, str, str]"]


class SettingsError(Exception):
    """A setting that cannot be brought about; the text holds one sentence for each."""


class Settings:
    """Compares the wanted settings with one host, then brings them about. ``root`` is ``/``, but for tests."""

    def __init__(self, params: dict[str, Any], run_command: RunCommand, root: str = "/") -> None:
        self.params = params
        self.run_command = run_command
        self.root = pathlib.Path(root)
        self.kernel = _hosts_kernel_modules.Modules(run_command, root)
        self.values = _hosts_sysctl.Values(root)
        self.sentences: list[str] = []

        self.to_load = self._modules_to_load()
        self.to_set, self.boot_values = self._values_to_set()
        self.files = self._files()
        self.swap_off, self.masked = self._swap()
        if self.sentences:
            raise SettingsError(" ".join(self.sentences))

    def changed(self) -> bool:
        return bool(self.to_load or self.to_set or self.files or self.swap_off or self.masked)

    def result(self) -> dict[str, Any]:
        return {
            "changed": self.changed(),
            "loaded": self.to_load,
            "sysctls": {key: {"before": old, "after": new} for key, (old, new) in self.to_set.items()},
            "swap_off": self.swap_off,
            "masked_units": self.masked,
            "paths": [change.wanted.path for change in self.files],
            "diff": self._diff(),
        }

    def apply(self, backup_dir: str | None) -> None:
        """Files first: a run that is cut short afterwards is finished by a reboot as well as by the next run."""
        for change in self.files:
            _hosts_files.apply(change, backup_dir)
        for name in self.to_load:
            said = self.kernel.load(name)
            if said or not self.kernel.present(name):
                raise SettingsError(
                    f"kernel module {name} could not be loaded: {said or 'its feature is still absent'}."
                )
        for key, (_old, value) in self.to_set.items():
            self._set(key, value)
        for device in self.swap_off:
            self._command(["swapoff", device], f"swap on {device} could not be switched off; is there memory enough?")
        if self.masked:
            self._command(["systemctl", "mask", "--now", "--", *self.masked], "the swap units could not be masked")

    def _modules_to_load(self) -> list[str]:
        missing = [name for name in self.params["modules"] if not self.kernel.present(name)]
        for name in missing:
            if not self.kernel.loadable(name):
                self.sentences.append(_hosts_kernel_modules.missing_sentence(name, self.kernel))
        return missing

    def _values_to_set(self) -> tuple[dict[str, tuple[str | None, str]], dict[str, str]]:
        """Values to set now, with what they are, and the values that our file must set at boot."""
        current = {key: self.values.read(key) for key in [*self.params["sysctls"], *self.params["sysctl_minimums"]]}
        ours, at_boot = self._ours(), self.values.at_boot()
        boot = {key: _hosts_sysctl.normal(value) for key, value in self.params["sysctls"].items()}
        minimums = {}
        for key, least in self.params["sysctl_minimums"].items():
            if not all(text is None or text.isdecimal() for text in (str(least), current[key])):
                self.sentences.append(
                    f"sysctl {key}: a minimum compares whole numbers, not {least} with {current[key]}."
                )
                continue
            value = _hosts_sysctl.boot_value_of_minimum(int(least), current[key], ours.get(key))
            if value is not None:
                boot[key] = minimums[key] = value
        now = {}
        for key, value in boot.items():
            old = current[key]
            enough = old is not None and (int(old) >= int(value) if key in minimums else old == value)
            if not enough:
                now[key] = (old, value)
            if old is None and not self.to_load:
                self.sentences.append(
                    f"sysctl {key}: this kernel has no such value. The module that brings it is missing from the list, "
                    "or the name is misspelt."
                )
            self._judge_boot(key, value, at_boot.get(_hosts_sysctl.path_of(key)))
        return now, boot

    def _judge_boot(self, key: str, value: str, last: tuple[str, str] | None) -> None:
        """A file that is read after ours would undo the value."""
        if last and last[0] != value and last[1].rpartition("/")[2] > SYSCTL_FILE.rpartition("/")[2]:
            self.sentences.append(
                f"sysctl {key}: {last[1]} sets it to {last[0]} at boot, after {SYSCTL_FILE}, which sets {value}. "
                "Remove the line there, or rename the file so that it is read earlier."
            )

    def _ours(self) -> dict[str, str]:
        path = self._path(SYSCTL_FILE)
        return _hosts_sysctl.parse(path.read_text(encoding="utf-8")) if path.exists() else {}

    def _files(self) -> list[_hosts_files.Change]:
        at_boot = [name for name in self.params["modules"] if not self.kernel.built_in(name)]
        texts = {
            MODULES_FILE: "".join(f"{name}\n" for name in sorted(set(at_boot))),
            SYSCTL_FILE: _hosts_sysctl.render(self.boot_values),
        }
        wanted = [
            _hosts_files.WantedFile(str(self._path(path)), content=(HEAD + text).encode())
            for path, text in texts.items()
            if text or self._path(path).exists()
        ]
        fstab = self._path("/etc/fstab")
        if self.params["swap"] == "off" and fstab.exists():
            before = fstab.read_text(encoding="utf-8")
            wanted.append(
                _hosts_files.WantedFile(
                    str(fstab), content=_hosts_swap.without_swap(before).encode(), mode=fstab.stat().st_mode & 0o7777
                )
            )
        return [change for change in map(_hosts_files.plan, wanted) if change]

    def _swap(self) -> tuple[list[str], list[str]]:
        if self.params["swap"] != "off":
            return [], []
        swaps = self._path("/proc/swaps")
        devices = _hosts_swap.active(swaps.read_text(encoding="utf-8")) if swaps.exists() else []
        return devices, _hosts_swap.foreign_units(self.run_command)

    def _set(self, key: str, value: str) -> None:
        try:
            self.values.write(key, value)
        except OSError as error:
            raise SettingsError(
                f"sysctl {key} could not be set to {value}: {error.strerror}. Where the host is a container, set it on "
                "the machine that the container runs on; where a policy forbids it, allow it or change the variable."
            ) from error

    def _command(self, command: list[str], sentence: str) -> None:
        code, out, err = self.run_command(command)
        if code:
            raise SettingsError(f"{sentence} ({' '.join(command)}: {err.strip() or out.strip()}).")

    def _path(self, path: str) -> pathlib.Path:
        return self.root / path.lstrip("/")

    def _diff(self) -> list[dict[str, Any]]:
        before = [f"{key} = {'(not there)' if old is None else old}\n" for key, (old, _new) in self.to_set.items()]
        after = [f"{key} = {new}\n" for key, (_old, new) in self.to_set.items()]
        after += [f"module {name} loaded\n" for name in self.to_load]
        before += [f"swap on {device}\n" for device in self.swap_off] + [f"unit {name}\n" for name in self.masked]
        after += [f"unit {name} masked\n" for name in self.masked]
        running = {
            "before_header": "running",
            "after_header": "running",
            "before": "".join(before),
            "after": "".join(after),
        }
        return [change.diff() for change in self.files] + ([running] if before or after else [])


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "modules": {"type": "list", "elements": "str", "default": []},
            "sysctls": {"type": "dict", "default": {}},
            "sysctl_minimums": {"type": "dict", "default": {}},
            "swap": {"type": "str", "choices": ["keep", "off"], "default": "keep"},
            "backup_dir": {"type": "path", "default": "/var/backups/podnet.kubeadm"},
        },
        supports_check_mode=True,
    )
    try:
        settings = Settings(module.params, module.run_command)
        if not module.check_mode:
            settings.apply(_hosts_files.dated_folder(module.params["backup_dir"]))
    except (SettingsError, _hosts_files.FilesError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(**settings.result())


if __name__ == "__main__":
    main()
