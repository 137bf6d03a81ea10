# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._plain import plain


class Marked(str):
    """A string as Ansible marks it."""


def test_no_mark_is_left_at_any_depth():
    value = plain({Marked("a"): [Marked("b"), (Marked("c"), 1, None, True)]})
    assert value == {"a": ["b", ["c", 1, None, True]]}
    ((key, (first, second)),) = value.items()
    assert {type(one) for one in (key, first, second[0])} == {str}
