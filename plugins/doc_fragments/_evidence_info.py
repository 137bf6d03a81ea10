# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This fragment is private to the collection.

from __future__ import annotations


class ModuleDocFragment:
    """What both modules that gather evidence say of themselves."""

    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    support: full
    details: Gathers the same.
  diff_mode:
    support: none
    details: Changes nothing.
  idempotent:
    support: full
notes:
  - It does not fail on what it finds. What cannot be looked at is absent from RV(evidence), and RV(missing) says why.
  - Secrets do not enter. Structured answers are copied field by field; in logs and texts what follows a telling name
    is cut.
  - Needs Python 3.9 or newer on the host and nothing else. It sees more when it runs as root.
"""
