#!/usr/bin/python
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: network_verdict
short_description: Judge a cluster's network from its plan and from evidence, and stop at what is wrong
description:
  - Judges what the inventory asks for and what hosts and the cluster say, with one rule per cause. It runs on the
    controller,
    once for all hosts of the play, and touches no host.
  - Prints what was found, the most severe first and causes before their consequences. Each finding says at which
    hosts, what was
    compared, and what to do next. The same finding at many hosts is one.
  - A rule that needs what was not looked at answers I(undetermined), which is listed and stops nothing.
  - Every code has a page in U(https://github.com/podnet/podnet.kubeadm/tree/main/docs/findings).
author: podnet.kubeadm contributors (@podnet)
extends_documentation_fragment:
  - podnet.kubeadm._attributes
attributes:
  check_mode:
    support: full
    details: Judges the same.
  diff_mode:
    support: none
    details: Changes nothing.
  idempotent:
    support: full
options:
  intent:
    description:
      - What the inventory asks for, as the C(intent) of the evidence format. The role P(podnet.kubeadm.cluster#role)
        has it as
        C(cluster_intent). Values that are null or empty count as not set.
      - Without it the intent of O(evidence) is judged, if there is one.
    type: dict
  evidence:
    description:
      - Evidence that was gathered, as a mapping in the evidence format, or the path of a saved bundle on the
        controller, a file or
        a folder. A relative path is looked up beside the playbook.
    type: raw
  node_evidence:
    description:
      - Name of the variable under which hosts of the play registered the result of
        P(podnet.kubeadm.node_evidence_info#module).
      - Hosts that registered nothing, such as unreachable ones, are returned in RV(unseen).
    type: str
  cluster_evidence:
    description:
      - RV(podnet.kubeadm.cluster_evidence_info#module:evidence) of a control plane node.
      - Or the name, or a list of names, of variables under which hosts of the play registered the result of
        P(podnet.kubeadm.cluster_evidence_info#module). A key is taken from the first that has it, the static pods from
        all of them.
    type: raw
  stage:
    description:
      - What there is to judge, V(intent) for variables only, V(host) for hosts without a cluster, V(cluster) for a
        running one.
      - Without it, what was given tells.
    type: str
    choices: [intent, host, cluster]
  fail_on:
    description:
      - Fail where a finding is of this severity or more severe. V(never) does not fail, and is for reports.
    type: str
    choices: [error, warning, info, never]
    default: error
  accept:
    description:
      - Codes of findings that count for nothing. They stay listed as accepted.
    type: list
    elements: str
    default: []
  check_variables:
    description:
      - Look at the variables of the play's hosts too, for misspelt ones, which have a prefix of this collection and
        none of its roles knows them, and for values that no role takes.
    type: bool
    default: false
  report:
    description:
      - A folder on the controller, for the report. It is made where it is not there. A relative path is looked up
        beside the playbook.
      - It gets C(report.json), C(junit.xml), C(report.md), C(report.html), and C(evidence.json), which was judged.
    type: str
  save:
    description:
      - Save the evidence that is judged, in one file where the path ends in C(.json), else in a folder with a file for
        each host. O(evidence) reads both.
    type: str
  quiet:
    description: Print nothing; what was found is returned all the same.
    type: bool
    default: false
seealso:
  - module: podnet.kubeadm.node_evidence_info
  - module: podnet.kubeadm.cluster_evidence_info
  - plugin: podnet.kubeadm.address_plan
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Judge the plan before a host is touched
  podnet.kubeadm.network_verdict:
    intent:
      pod_cidr: 10.244.0.0/16
      service_cidr: 10.96.0.0/12
      planned_nodes: 40
    check_variables: true

- name: Gather what the hosts say
  podnet.kubeadm.node_evidence_info:
  register: host_evidence

- name: Judge plan and hosts
  podnet.kubeadm.network_verdict:
    intent: "{{ cluster_intent }}"
    node_evidence: host_evidence
    accept:
      - cidr-public

- name: Judge a saved bundle, and go on whatever it says
  podnet.kubeadm.network_verdict:
    evidence: bundles/2026-11-30
    fail_on: never
  register: verdict
"""

RETURN = r"""
findings:
  description:
    - What was found, in the order in which a person sees it.
    - Where the task fails, only the findings that made it fail, with C(code), C(severity), C(where) and C(summary).
  returned: always
  type: list
  elements: dict
  contains:
    code:
      description: Code of the cause.
      type: str
      returned: always
      sample: overlap-pod-service
    title:
      description: The cause in a few words.
      type: str
      returned: always
      sample: Pod range and service range overlap
    chapter:
      description: Chapter of the documentation.
      type: str
      returned: always
      sample: Address plan
    severity:
      description: V(error), V(warning) or V(info).
      type: str
      returned: always
      sample: error
    where:
      description: Names of hosts or nodes, V(intent) or V(cluster).
      type: list
      elements: str
      returned: always
      sample: [intent]
    summary:
      description: What was found, in a sentence.
      type: str
      returned: always
      sample: the pod range 10.100.0.0/16 and the service range 10.96.0.0/12 overlap
    evidence:
      description: What was compared. By host where hosts differ.
      type: dict
      returned: always
      sample:
        pod: 10.100.0.0/16
        service: 10.96.0.0/12
    remedy:
      description: What to do next.
      type: str
      returned: always
      sample: Set cluster_pod_cidr and cluster_service_cidr to ranges that are apart before the cluster is built.
    repair:
      description: Role and entry point of the safe automatic repair, or null.
      type: str
      returned: always
      sample: flannel:main
    consequences:
      description: Findings of the same form that this one explains.
      type: list
      elements: dict
      returned: always
      sample: []
accepted:
  description: Findings of the same form whose codes O(accept) lists.
  returned: success
  type: list
  elements: dict
  sample: []
undetermined:
  description: Rules that could not tell, with C(code), C(where), C(key), C(kind) and C(why).
  returned: success
  type: list
  elements: dict
  sample:
    - code: swap-on
      where: [n1]
      key: nodes.*.swap
      kind: absent
      why: nodes.*.swap was not looked at
hosts:
  description: Hosts of which there was evidence.
  returned: success
  type: list
  elements: str
  sample: [n1, n2]
unseen:
  description: Hosts of the play of which there was none, though O(node_evidence) asked for it.
  returned: success
  type: list
  elements: str
  sample: []
stage:
  description: What was judged, as in O(stage).
  returned: always
  type: str
  sample: intent
counts:
  description: How many findings there are by severity, those that others explain not counted.
  returned: always
  type: dict
  sample:
    error: 1
    warning: 0
    info: 0
written:
  description: What O(report) and O(save) wrote on the controller.
  returned: always
  type: list
  elements: str
  sample: [/srv/report/report.json]
"""
