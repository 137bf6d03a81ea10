# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands in for get-pip, which ansible-test would download: pip comes from ensurepip, packages from pip's own index."""

from __future__ import annotations

import subprocess
import sys

subprocess.run([sys.executable, "-m", "ensurepip", "--default-pip"], check=True)
wanted = [argument for argument in sys.argv[1:] if not argument.startswith("--no-")]
if wanted:
    subprocess.run([sys.executable, "-m", "pip", "install", *wanted], check=True)
