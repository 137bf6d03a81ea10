#!/usr/bin/python
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: kubeadm
short_description: Initialise or join a kubeadm cluster, and finish runs that were cut off
description:
  - Runs C(kubeadm init) or C(kubeadm join) with a configuration file that was accepted by C(kubeadm config validate),
    on hosts where that has not been done yet.
  - A run that was interrupted is finished by running kubeadm again with exactly those preflight checks ignored that its
    own leftovers would fail. A kubeadm that is still at work is waited for. Nothing is ever reset.
  - Bootstrap tokens are made and removed here too. No secret is on a command line or in the output, and the
    configuration file is readable by root only and removed afterwards.
author:
  - podnet.kubeadm contributors (@podnet)
extends_documentation_fragment:
  - podnet.kubeadm._attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: partial
    details:
      - Each V(token_issued) makes a token, which is no change of the cluster's state and is not reported as one.
options:
  state:
    description:
      - V(initialized) makes the host the first control plane of a cluster.
      - V(joined) makes the host a member of the cluster whose CA is O(ca_cert_hash).
      - V(token_issued) makes a bootstrap token and returns what a join needs.
      - V(token_revoked) removes the token O(token_id), if it is there.
    type: str
    required: true
    choices: [initialized, joined, token_issued, token_revoked]
  config:
    description:
      - The documents of kubeadm's configuration file, each with its C(apiVersion) and C(kind).
      - A JoinConfiguration gets its discovery from O(token), O(ca_cert_hash) and O(api_server).
      - Required for V(initialized) and V(joined).
    type: list
    elements: dict
  running:
    description:
      - The documents that a running cluster keeps of its configuration, as C(ClusterConfiguration) of the ConfigMap
        C(kubeadm-config).
      - kubeadm reads O(config) once. Where a later one differs in a field of these, O(state=initialized) warns.
    type: list
    elements: dict
    default: []
  api_server:
    description: C(HOST:PORT) of the API server to join, as RV(api_server) of V(token_issued) has it.
    type: str
  ca_cert_hash:
    description: Hash of the CA's public key, as RV(ca_cert_hash) of V(token_issued) has it.
    type: str
  token:
    description: The bootstrap token to join with.
    type: str
  token_id:
    description: The public first part of the token to remove.
    type: str
  ttl:
    description: Life of a new token, as Go writes durations.
    type: str
    default: 30m
  timeout:
    description: Seconds that a kubeadm command, or one found at work, may take.
    type: int
    default: 600
"""

EXAMPLES = r"""
- name: Initialise the control plane
  podnet.kubeadm.kubeadm:
    state: initialized
    config:
      - apiVersion: kubeadm.k8s.io/v1beta4
        kind: ClusterConfiguration
        kubernetesVersion: v1.37.2
        networking:
          podSubnet: 10.244.0.0/16

- name: Make a token for this run
  podnet.kubeadm.kubeadm:
    state: token_issued
  register: join
  no_log: true

- name: Join a worker
  podnet.kubeadm.kubeadm:
    state: joined
    api_server: "{{ join.api_server }}"
    ca_cert_hash: "{{ join.ca_cert_hash }}"
    token: "{{ join.token }}"
    config:
      - apiVersion: kubeadm.k8s.io/v1beta4
        kind: JoinConfiguration

- name: Remove the token
  podnet.kubeadm.kubeadm:
    state: token_revoked
    token_id: "{{ join.token_id }}"
"""

RETURN = r"""
before:
  description:
    - How far the host had come. V(fresh), V(resume) (an interrupted run was finished) or V(done).
  type: str
  returned: O(state) is V(initialized) or V(joined)
  sample: fresh
ignored_checks:
  description: The preflight checks that were ignored beside those that O(config) names.
  type: list
  elements: str
  returned: O(state) is V(initialized) or V(joined), and kubeadm was run
  sample: [DirAvailable--var-lib-etcd]
warnings_of_kubeadm:
  description: kubeadm's own warnings.
  type: list
  elements: str
  returned: kubeadm was run
  sample: []
api_server:
  description: C(HOST:PORT) of the API server.
  type: str
  returned: O(state) is V(token_issued)
  sample: 10.89.0.11:6443
ca_cert_hash:
  description: Hash of the CA's public key, for pinning.
  type: str
  returned: O(state) is V(token_issued)
  sample: sha256:7c1f0b3f5b2a7b6c3b7f0a1d0c5f8a5e8c1a0a6e0f1f4c6a2a3b5e7d9c0b1a2f
token:
  description: The token; give the task C(no_log).
  type: str
  returned: O(state) is V(token_issued), outside check mode
  sample: ""
token_id:
  description: The token's public part.
  type: str
  returned: O(state) is V(token_issued), outside check mode
  sample: abcdef
"""

import os
import tempfile
import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.podnet.kubeadm.plugins.module_utils import _kubeadm, _kubeadm_config, _kubeadm_traces

ADMIN_CONF = "/etc/kubernetes/admin.conf"
CA_CERT = "/etc/kubernetes/pki/ca.crt"
KUBELET_CONF = "/etc/kubernetes/kubelet.conf"


def read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as handle:
            return handle.read()
    except OSError:
        return ""


def wait_for_kubeadm(limit: int) -> None:
    """Wait until no other kubeadm changes this host: one goes on after the connection that started it is cut."""
    end = time.monotonic() + limit
    while True:
        running = _kubeadm_traces.at_work()
        if not running:
            return
        if time.monotonic() > end:
            raise _kubeadm.KubeadmError(
                f"kubeadm {running[0][1]} (process {running[0][0]}) is at work on this host and did not end within "
                f"{limit} s; look what it waits for, or stop it, and run this again"
            )
        time.sleep(0.5)


def run_kubeadm(module: AnsibleModule, verb: str, config: list[dict[str, Any]], ignored: list[str]) -> str:
    """Validate the file and run kubeadm with it; the file is 0600 in a folder of 0700 and removed afterwards."""
    kubeadm = _kubeadm.Kubeadm(module.run_command, module.get_bin_path("kubeadm", True), module.params["timeout"])
    for path in _kubeadm_traces.torn_files():
        os.unlink(path)
    handle, path = tempfile.mkstemp(prefix="kubeadm-", suffix=".yaml", dir=module.tmpdir)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(_kubeadm_config.render(config))
        kubeadm.validate(path)
        _kubeadm_traces.mark(verb)
        return kubeadm.init(path, ignored) if verb == "init" else kubeadm.join(path, ignored)
    finally:
        os.unlink(path)


def warnings_of(out: str) -> list[str]:
    return [_kubeadm.mask(line.strip()) for line in out.splitlines() if "[WARNING" in line]


def diff_of(verb: str, state: str, config: list[dict[str, Any]]) -> dict[str, str]:
    before = {"fresh": "no member of a cluster\n", "resume": f"an interrupted kubeadm {verb}\n"}[state]
    return {
        "before_header": f"kubeadm {verb}",
        "after_header": f"kubeadm {verb}",
        "before": before,
        "after": _kubeadm.mask(_kubeadm_config.render(config)),
    }


def become_member(module: AnsibleModule, verb: str) -> dict[str, Any]:
    params = module.params
    config = params["config"]
    if not module.check_mode:
        wait_for_kubeadm(params["timeout"])
    data_dir = _kubeadm_config.etcd_dir(config)
    traces = _kubeadm_traces.look(etcd_dir=data_dir)
    state = (
        _kubeadm_traces.init_state(traces)
        if verb == "init"
        else _kubeadm_traces.join_state(traces, _kubeadm_config.is_control_plane(config))
    )
    refuse_other_cluster(traces, verb, state, params["ca_cert_hash"])
    if state == "done":
        warn_of_differences(module)
        if not module.check_mode:
            finish(traces)
        return {"changed": False, "before": state}
    result: dict[str, Any] = {"changed": True, "before": state, "diff": diff_of(verb, state, config)}
    ignored = _kubeadm_traces.ignored_checks(traces, verb, data_dir) if state == "resume" else []
    if module.check_mode:
        return result
    if verb == "join" and traces.kubelet_conf and not _kubeadm_config.is_control_plane(config):
        finish(traces)  # the kubelet is a member already; kubeadm would refuse to join a node that is ready
        return dict(result, ignored_checks=[], warnings_of_kubeadm=[])
    if verb == "join":
        needed = ("api_server", "ca_cert_hash", "token")
        missing = [name for name in needed if not params[name]]
        if missing:
            raise _kubeadm.KubeadmError(f"this host has to join, which needs {', '.join(missing)}")
        config = _kubeadm_config.with_discovery(config, *(params[name] for name in needed))
    try:
        out = run_kubeadm(module, verb, config, ignored)
    except _kubeadm.KubeadmError:
        # The kubelet that an interrupted join left may have finished its bootstrap in between.
        if verb == "init" or _kubeadm_config.is_control_plane(config) or not _kubeadm_traces.look().kubelet_conf:
            raise
        out = ""
    finish(_kubeadm_traces.look())
    return dict(result, ignored_checks=ignored, warnings_of_kubeadm=warnings_of(out))


def warn_of_differences(module: AnsibleModule) -> None:
    """kubeadm does not read its configuration again, which somebody who changed a variable should know."""
    running = {document.get("kind"): document for document in module.params["running"]}
    found = [
        field
        for document in module.params["config"]
        if document.get("kind") in running
        for field in _kubeadm_config.unlike(document, running[document["kind"]])
    ]
    if found:
        module.warn(
            f"The running cluster has other values of {', '.join(found)} than the variables say. kubeadm reads them "
            "only when it initialises, so nothing was changed. Put the variables back, or change the cluster as "
            "https://kubernetes.io/docs/tasks/administer-cluster/kubeadm/kubeadm-reconfigure/ tells"
        )


def finish(traces: _kubeadm_traces.Traces) -> None:
    """What a kubeadm that was killed at its very end left to do."""
    if traces.marker:
        _kubeadm_traces.mark(None)
    if traces.bootstrap_conf and traces.kubelet_conf:
        os.unlink("/etc/kubernetes/bootstrap-kubelet.conf")


def refuse_other_cluster(traces: _kubeadm_traces.Traces, verb: str, state: str, expected: str | None) -> None:
    server = _kubeadm_config.server_of(read(KUBELET_CONF)) or "an unknown address"
    if verb == "init" and state == "member":
        raise _kubeadm.KubeadmError(
            f"this host is a worker of the cluster at {server}, so it cannot become the first control plane "
            "of another. Take it out of the control plane group, or run kubeadm reset on it if that cluster is gone"
        )
    if verb == "join" and traces.ca_cert and expected:
        try:
            found = _kubeadm_config.ca_cert_hash(read(CA_CERT))
        except ValueError:
            return
        if found != expected:
            raise _kubeadm.KubeadmError(
                f"this host is a member of another cluster, that of {server}: its {CA_CERT} is {found}, the CA of the "
                f"cluster to join is {expected}. Take the host out of the inventory, or drain it there and run kubeadm "
                "reset on it"
            )


def issue_token(module: AnsibleModule) -> dict[str, Any]:
    certificate = read(CA_CERT)
    admin = read(ADMIN_CONF)
    if not certificate or not admin:
        if module.check_mode:  # the control plane would have been initialised before this task
            return {"changed": False, "api_server": "", "ca_cert_hash": ""}
        raise _kubeadm.KubeadmError(
            f"{ADMIN_CONF} or {CA_CERT} is missing on this host: it is no control plane of a kubeadm cluster, so no "
            "token can be made here"
        )
    result: dict[str, Any] = {
        "changed": False,
        "api_server": _kubeadm_config.server_of(admin),
        "ca_cert_hash": _kubeadm_config.ca_cert_hash(certificate),
    }
    if not module.check_mode:
        kubeadm = _kubeadm.Kubeadm(module.run_command, module.get_bin_path("kubeadm", True), 60)
        token = kubeadm.create_token(ADMIN_CONF, module.params["ttl"], "podnet.kubeadm, for one run")
        result.update(token=token, token_id=token.split(".")[0])
    return result


def revoke_token(module: AnsibleModule) -> dict[str, Any]:
    if not module.check_mode:
        kubeadm = _kubeadm.Kubeadm(module.run_command, module.get_bin_path("kubeadm", True), 60)
        kubeadm.delete_token(ADMIN_CONF, module.params["token_id"])
    return {"changed": False}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {
                "type": "str",
                "required": True,
                "choices": ["initialized", "joined", "token_issued", "token_revoked"],
            },
            "config": {"type": "list", "elements": "dict"},
            "running": {"type": "list", "elements": "dict", "default": []},
            "api_server": {"type": "str"},
            "ca_cert_hash": {"type": "str"},
            "token": {"type": "str", "no_log": True},
            "token_id": {"type": "str", "no_log": False},
            "ttl": {"type": "str", "default": "30m"},
            "timeout": {"type": "int", "default": 600},
        },
        required_if=[
            ("state", "initialized", ["config"]),
            ("state", "joined", ["config"]),
            ("state", "token_revoked", ["token_id"]),
        ],
        supports_check_mode=True,
    )
    state = module.params["state"]
    try:
        if state == "token_issued":
            result = issue_token(module)
        elif state == "token_revoked":
            result = revoke_token(module)
        else:
            result = become_member(module, "init" if state == "initialized" else "join")
    except _kubeadm.KubeadmError as exc:
        module.fail_json(msg=str(exc))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
