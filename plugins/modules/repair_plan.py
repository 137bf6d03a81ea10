#!/usr/bin/python
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: repair_plan
short_description: Turn a verdict into the steps of a repair, and show them
description:
  - Answers which entry points of roles mend the causes that a verdict found, on which hosts and in which order, and
    prints them with what each interrupts and how it is undone. It runs on the controller, once for all hosts of the
    play, and changes nothing.
  - Only causes are mended. What is folded away below a cause goes with it.
author: podnet.kubeadm contributors (@podnet)
extends_documentation_fragment:
  - podnet.kubeadm._attributes
attributes:
  check_mode:
    support: full
    details: Shows the same.
  diff_mode:
    support: none
    details: Changes nothing.
  idempotent:
    support: full
options:
  findings:
    description: RV(podnet.kubeadm.network_verdict#module:findings) of a verdict.
    type: list
    elements: dict
    required: true
  control_planes:
    description: Names of the control plane nodes. The first one does what is done once for a cluster.
    type: list
    elements: str
    required: true
  unfinished:
    description: Hosts whose node an earlier repair drained and, because it was stopped, did not give back.
    type: list
    elements: str
    default: []
  approved:
    description: Whether the steps will be carried out, so that nothing needs to be said of how to approve them.
    type: bool
    default: false
seealso:
  - module: podnet.kubeadm.network_verdict
"""

EXAMPLES = r"""
- name: Judge the cluster
  podnet.kubeadm.network_verdict:
    node_evidence: seen
    cluster_evidence: "{{ seen_cluster.evidence }}"
    fail_on: never
  register: verdict

- name: Show what would mend it
  podnet.kubeadm.repair_plan:
    findings: "{{ verdict.findings }}"
    control_planes: "{{ groups['kube_control_plane'] }}"
"""

RETURN = r"""
steps:
  description: The steps in their order, with C(host), C(role), C(entry_point), C(phase), C(codes), C(drains) and more.
  type: list
  elements: dict
  returned: always
  sample:
    - host: n2
      role: podnet.kubeadm.flannel
      entry_point: restart
      phase: nodes
      codes: [flannel-link-missing]
left:
  description: Codes of causes that a person has to decide on.
  type: list
  elements: str
  returned: always
  sample: [live-cidr-change]
"""
