# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs ansible-playbook and shows each task once, with the seconds since the start; all output goes to a file.

progress.py LOG -- COMMAND...
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import time


def main() -> None:
    log, _dashes, *command = sys.argv[1:]
    started = time.monotonic()
    pathlib.Path(log).parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w", encoding="utf-8") as out:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert process.stdout is not None
        troubled = False
        for line in process.stdout:
            out.write(line)
            heading = re.match(r"(PLAY|TASK|RUNNING HANDLER) \[(.*)\]", line)
            if heading:
                troubled = False
                indent = "  " if heading[1] == "PLAY" else "      "
                print(f"{indent}{time.monotonic() - started:4.0f} s  {heading[2]}", flush=True)
            elif re.match(r"(fatal|failed|\[ERROR\])", line):
                troubled = True
            if troubled:
                print(line, end="", flush=True)
    print(f"  {time.monotonic() - started:6.0f} s  done", flush=True)
    sys.exit(process.wait())


if __name__ == "__main__":
    main()
