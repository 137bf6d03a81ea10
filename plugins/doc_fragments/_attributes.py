# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This fragment is private to the collection.

from __future__ import annotations


class ModuleDocFragment:
    """What every module of the collection says of itself.

    A module names the fragment and sets the C(support) of C(check_mode) and C(diff_mode) itself.
    """

    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode) and return what would change without changing it.
  diff_mode:
    description: Returns in C(diff_mode) what changed, or would change.
  idempotent:
    description: A second run with the same options changes nothing.
"""
