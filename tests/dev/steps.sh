# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154  # root and cache come from ./dev, venv and minor from need_python
#
# Steps: named, timed, limited, counted. A testing verb is a list of them and ends with `N passed, M failed`.
passed=0 failed=0

# step NAME SECONDS COMMAND...: COMMAND is a function of tests/dev or a program. It runs in a process of its own with a
# limit; when its last line is itself a count, that count is taken, else it counts as one.
step() {
    local name=$1 limit=$2 log started=$SECONDS code=0 last p=1 f=0
    shift 2
    mkdir -p "$cache/log"
    log=$cache/log/$(basename "$root")-${name//[^a-zA-Z0-9]/-}.log
    if [ -t 2 ]; then printf '  ...     %s\r' "$name" >&2; fi
    if [ "$(type -t "$1")" = function ]; then set -- "$root/dev" _ "$@"; fi
    timeout --kill-after=20 "$limit" "$@" >"$log" 2>&1 </dev/null &
    job=$!
    wait "$job" || code=$?
    job=''
    last=$(tail -n 1 "$log")
    if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then p=${BASH_REMATCH[1]} f=${BASH_REMATCH[2]}; fi
    if [ "$code" != 0 ] && [ "$f" = 0 ]; then
        f=1
        [[ $last =~ \ failed$ ]] || p=0
    fi
    passed=$((passed + p)) failed=$((failed + f))
    if [ "$f" = 0 ]; then
        printf '  ok      %-58s %5d s\n' "$name" $((SECONDS - started))
        return
    fi
    printf '  FAILED  %-58s %5d s\n' "$name" $((SECONDS - started))
    tail -n 60 "$log" | sed 's/^/          /'
    [ "$code" != 124 ] && [ "$code" != 137 ] || echo "          It did not end within $limit seconds and was stopped."
    echo "          all of its output: $log"
}
job=''
trap '[ -z "$job" ] || kill "$job" 2>/dev/null' EXIT
trap 'exit 130' INT TERM

# finish: the last line and the exit code of a testing verb.
finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ] || exit 1
}
