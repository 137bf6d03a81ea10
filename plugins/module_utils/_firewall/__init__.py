# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes a host's firewall accept what a cluster needs, by the smallest change, and takes it back.

accepts   what shall be accepted          judgement   what the rules do with it now, in sentences
remedy    who has to be told, and where   change      the commands, forwards and backwards; firewalld's apart
boot      what restores them at boot      probe       a real packet, before there is a cluster
"""

from __future__ import annotations
