# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from typing import Any

from ansible import constants as C
from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ..plugin_utils._finding import SEVERITIES
from ..plugin_utils._judge import Verdict, judge
from ..plugin_utils._registry import load_rules
from ..plugin_utils._report._write import save_bundle, write_report
from ..plugin_utils._tell import counts, printable, tell
from ..plugin_utils._variables import invalid, specified, unknown
from ..plugin_utils._view import View

display = Display()

RULES = load_rules()
"""Loaded with the plugin, in the process of which Ansible's workers are forks: it compiles a collection's files anew in
every worker that imports them, and nearly all workers ask the filters for the address plan, which is made of rules."""

COLOURS = {"error": C.COLOR_ERROR, "warning": C.COLOR_WARN, "info": C.COLOR_DEBUG, "title": C.COLOR_HIGHLIGHT}
SHORT = ("code", "severity", "where", "summary")
"""What a failing task returns of a finding: Ansible prints all that it returns, below what was told already."""
HOSTS_READ_FOR_NAMES = 50
"""Hosts whose variables are looked through for misspelt ones: one of each set of groups, at most so many."""


class ActionModule(ActionBase):
    """Judges on the controller, once for all hosts of the play."""

    BYPASS_HOST_LOOP = True
    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result: dict[str, Any] = super().run(tmp, task_vars)
        variables = task_vars or {}
        _checked, options = self.validate_argument_spec(
            argument_spec={
                "intent": {"type": "dict"},
                "evidence": {"type": "raw"},
                "node_evidence": {"type": "str"},
                "cluster_evidence": {"type": "raw"},
                "stage": {"type": "str", "choices": ["intent", "host", "cluster"]},
                "fail_on": {"type": "str", "default": "error", "choices": [*SEVERITIES, "never"]},
                "accept": {"type": "list", "elements": "str", "default": []},
                "check_variables": {"type": "bool", "default": False},
                "quiet": {"type": "bool", "default": False},
                "report": {"type": "str"},
                "save": {"type": "str"},
            }
        )
        unknown_codes = sorted(set(options["accept"]) - set(RULES))
        if unknown_codes:
            raise AnsibleActionFail(
                f"accept lists {', '.join(map(repr, unknown_codes))}, which is no code of a finding. "
                "docs/findings has a page per code."
            )
        view = self._view(options, variables)
        verdict = judge(view, accept=options["accept"])
        unseen = self._unseen(options, variables, verdict)
        if not options["quiet"]:
            self._tell(verdict, view.stage, unseen)
        result.update(
            verdict.as_dict(), stage=view.stage, unseen=unseen, counts=counts(verdict.findings), changed=False
        )
        result["written"] = self._write(view, verdict, options)
        page = next((path for path in result["written"] if path.endswith(".html")), None)
        if page and not options["quiet"]:
            display.display(f"The report is {page}")
        if options["fail_on"] != "never":
            self._fail(result, verdict, options["fail_on"])
        return result

    def _view(self, options: dict[str, Any], variables: dict[str, Any]) -> View:
        """The evidence of all options as one view."""
        evidence = options["evidence"]
        intent = _plain(options["intent"]) if options["intent"] is not None else None
        if options["check_variables"]:
            intent = {**(intent or {}), **self._variables(variables)}
        if isinstance(evidence, str):
            source: Any = self._place(evidence)
        else:
            source = dict(evidence) if evidence else {}
            source.setdefault("taken_at", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        if isinstance(source, dict):
            if options["node_evidence"]:
                source["nodes"] = {**(source.get("nodes") or {}), **self._nodes(options["node_evidence"], variables)}
            if options["cluster_evidence"]:
                source["cluster"] = self._cluster(options["cluster_evidence"], variables)
            if options["stage"]:
                source["stage"] = options["stage"]
        elif options["node_evidence"] or options["cluster_evidence"] or options["stage"]:
            raise AnsibleActionFail(
                "evidence is a saved bundle; node_evidence, cluster_evidence and stage cannot be added to it."
            )
        try:
            return View(source, intent)
        except OSError as error:
            raise AnsibleActionFail(f"The evidence cannot be read: {error.filename}: {error.strerror}.") from None
        except ValueError as error:
            raise AnsibleActionFail(f"The evidence cannot be read: {error}") from None

    def _nodes(self, name: str, variables: dict[str, Any]) -> dict[str, Any]:
        """What hosts of the play registered under ``name``, by host; those that registered nothing are left out."""
        found = {}
        for host in variables.get("ansible_play_hosts_all", []):
            registered = variables["hostvars"][host].get(name)
            part = registered.get("evidence") if hasattr(registered, "get") else None
            if part is not None:
                found[str(host)] = part
        return found

    @staticmethod
    def _cluster(given: Any, variables: dict[str, Any]) -> dict[str, Any]:
        """The mapping that was given; or what control planes registered under the given names, the first that has a
        key, with the static pods of all of them."""
        if isinstance(given, dict):
            return given
        found: dict[str, Any] = {}
        for name in [given] if isinstance(given, str) else given:
            for host in variables.get("ansible_play_hosts_all", []):
                registered = variables["hostvars"][host].get(name)
                part = (registered.get("evidence") if hasattr(registered, "get") else None) or {}
                manifests = {**part.get("manifests", {}), **found.get("manifests", {})}
                found = {**part, **found, **({"manifests": manifests} if manifests else {})}
        return found

    def _write(self, view: View, verdict: Verdict, options: dict[str, Any]) -> list[str]:
        """Saves the evidence and writes the report where that was asked for; answers the paths."""
        written = []
        try:
            if options["save"]:
                save_bundle(self._place(options["save"]), view)
                written.append(self._place(options["save"]))
            if options["report"]:
                written += write_report(self._place(options["report"]), view, verdict)
        except (OSError, ValueError) as error:
            raise AnsibleActionFail(f"What was judged cannot be written: {error}") from error
        return written

    def _place(self, path: str) -> str:
        return str(self._loader.path_dwim(os.path.expanduser(path)))

    def _unseen(self, options: dict[str, Any], variables: dict[str, Any], verdict: Verdict) -> list[str]:
        """Hosts of the play of which there is no evidence though it was asked for."""
        if not options["node_evidence"]:
            return []
        return [str(host) for host in variables.get("ansible_play_hosts_all", []) if str(host) not in verdict.hosts]

    def _variables(self, variables: dict[str, Any]) -> dict[str, dict[str, str]]:
        """What is wrong with the variables of the hosts of the play, read from one host of each set of groups."""
        groups_of: dict[str, list[str]] = {}
        for group, hosts in variables.get("groups", {}).items():
            for host in hosts:
                groups_of.setdefault(str(host), []).append(group)
        examples: dict[tuple[str, ...], str] = {}
        for host in variables.get("ansible_play_hosts_all", []):
            examples.setdefault(tuple(sorted(groups_of.get(str(host), ()))), host)
        hostvars: Any = variables.get("hostvars") or {}
        names = set(variables)
        own = {name: variables[name] for name in variables.keys() & specified().keys()}
        wrong = invalid(_told(own.keys(), lambda name: self._templar.template(own[name])))
        for host in list(examples.values())[:HOSTS_READ_FOR_NAMES]:
            given = hostvars.raw_get(host) if hasattr(hostvars, "raw_get") else hostvars.get(host, {})
            names.update(given)
            wrong.update(invalid(_told(given.keys() & specified().keys(), hostvars[host].__getitem__)))
        return {"unknown_variables": unknown(names), "invalid_variables": wrong}

    def _tell(self, verdict: Verdict, stage: str, unseen: list[str]) -> None:
        for text, kind in tell(verdict, display.columns or 79, stage, "cluster_accept_findings"):
            display.display(text, color=COLOURS.get(kind))
        if unseen:
            display.display(
                printable(f"No evidence of {len(unseen)} of the hosts: {', '.join(unseen[:20])}"), C.COLOR_WARN
            )

    def _fail(self, result: dict[str, Any], verdict: Verdict, fail_on: str) -> None:
        """Makes the task fail where a finding is at least as severe as ``fail_on``."""
        severe = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
        found = [one for one in verdict.findings if any(inner.severity in severe for inner in one.walk())]
        if found:
            lines = [f"{one.code} at {', '.join(one.where[:8])}: {one.summary}. {one.remedy}" for one in found]
            short = [{key: one.as_dict()[key] for key in SHORT} for one in found]
            result.update(failed=True, msg=printable(" | ".join(lines)), findings=short)
            for key in ("accepted", "undetermined", "hosts", "unseen"):
                del result[key]


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """The intent without what is not set."""
    return {
        key: _plain(one) if isinstance(one, dict) else one
        for key, one in value.items()
        if one is not None and one != ""
    }


def _told(names: Iterable[str], read: Callable[[str], Any]) -> dict[str, Any]:
    """Values by name; without those that cannot be told yet, as what their templates are made of is not known."""
    told = {}
    for name in names:
        with contextlib.suppress(AnsibleError):
            value = read(name)
            if "{{" not in str(value):
                told[name] = value
    return told
