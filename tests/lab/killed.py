# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a command that prints Ansible's output and kills it, with all of its processes, after a given task began.

Succeeds when the command was killed in that task; fails when it ended before.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", required=True, help="regular expression over the task's heading")
    parser.add_argument("--after", type=float, default=0, help="seconds between the heading and the kill")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    process = subprocess.Popen(
        options.command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env=dict(os.environ, PYTHONUNBUFFERED="1"),
    )
    assert process.stdout is not None

    def stop(_number: int, _frame: object) -> None:
        # Whoever stops this does not reach the command, which is in a session of its own.
        os.killpg(process.pid, signal.SIGKILL)
        sys.exit("stopped before the task came")

    signal.signal(signal.SIGTERM, stop)
    for line in process.stdout:
        sys.stdout.write(line)
        if re.match(r"(TASK|RUNNING HANDLER) \[", line) and re.search(options.task, line):
            time.sleep(options.after)
            ended = process.poll() is not None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if ended:
                sys.exit("The command ended by itself before it was to be killed.")
            print(f"killed {options.after:g} s into: {line.strip()}", flush=True)
            return
    sys.exit(f"No task named like {options.task!r} came; the command ended with {process.wait()}.")


if __name__ == "__main__":
    main()
