# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154  # root and cache come from ./dev, venv and minor from need_python
#
# The gate: what needs no cluster, then one cluster of a control plane and two workers that all further steps share.
# A step is one line: its name, its limit in seconds, its command. Limits are there for what hangs, not for what is slow.

verb_test() {
    local all='' round='' rounds=3 without=yes
    while [ $# -gt 0 ]; do
        case $1 in
        --all) all=yes ;;
        --cluster) without='' ;; # only what needs the cluster
        --round) round=${2:?--round needs a number}; shift ;;
        *) refuse 2 "usage: ./dev test [--all] [--cluster] [--round 1..$rounds]" ;;
        esac
        shift
    done
    [[ ${round:=$(($(date +%j | sed 's/^0*//') % rounds + 1))} =~ ^[1-9]$ && $round -le $rounds ]] || refuse 2 "There is no round '$round'; rounds are 1 to $rounds."
    [ "$(id -u)" = 0 ] || refuse 3 "The gate's cluster needs root; lint, unit, sanity and field-cases do not, and can be run by themselves."
    need_python
    started=$SECONDS

    [ -z "$without" ] || without_cluster
    with_cluster "$round"
    [ -z "$all" ] || everything
    [ "$failed" != 0 ] || step 'remove the lab' 180 ./dev lab down
    [ "$failed" = 0 ] || echo "The lab 'gate' is left up for a look (PODNET_LAB=gate ./dev lab status); the next run removes it."
    echo "$(((SECONDS - started) / 60)) min $(((SECONDS - started) % 60)) s, round $round of $rounds"
    finish
}

without_cluster() {
    heading "without a cluster"
    step 'lint' 1200 ./dev lint
    step 'unit' 1800 ./dev unit
    step 'sanity' 1500 ./dev sanity
    step 'integration' 1800 ./dev integration
    existing 'field-cases' 600 tests/field-cases/run.py ./dev field-cases
    existing 'fuzz forwarding' 600 tests/fuzz/forwarding.py ./dev fuzz forwarding --count 200
    existing 'fuzz permitted' 300 tests/fuzz/forwarding_permitted.py ./dev fuzz forwarding_permitted --count 60
    existing 'rulesets of real software' 300 tests/fuzz/forwarding_rulesets.py ./dev fuzz forwarding_rulesets
    existing 'fuzz evidence' 300 tests/fuzz/evidence.py ./dev fuzz evidence --limit 60
}

# with_cluster ROUND
with_cluster() {
    heading "the lab"
    export PODNET_LAB=gate
    essential 'remove what an earlier run left' 180 ./dev lab down
    essential 'components and mirror' 2700 ./dev lab mirror
    essential 'three nodes' 300 ./dev lab up 3
    step 'nodes reach the mirror and nothing else' 300 tests/lab/test_seal.sh

    # The third round is before the cluster: bad input is given to empty hosts, and leaves them so.
    if [ -n "$all" ] || [ "$1" = 3 ]; then round_3; fi
    heading "one cluster"
    step 'check mode on empty hosts' 900 play site.yml --check --diff
    step 'site, killed in kubeadm init' 900 killed_play 'control_plane : Initialise' 6 site.yml
    step 'site again, killed in a join' 900 killed_play 'worker : Join the host' 2 site.yml
    essential 'site finishes what was killed' 1500 play site.yml
    step 'second run, by the installed collection, changes nothing' 900 unchanged installed_site
    step 'check mode on the running cluster' 900 unchanged play site.yml --check --diff
    step 'three faults, others every day' 1200 ./dev faults --quick
    [ "$1" = 3 ] || "round_$1"
}

# The rotation: each run of the gate takes one of these, by the day of the year.
round_1() {
    heading "round 1: a node goes and comes back"
    step 'a stopped worker does not stop the others' 900 unreachable_worker
    step 'a restarted worker is as it was' 900 restarted_worker
}
round_2() {
    heading "round 2: a worker joins a running cluster"
    step 'a fresh fourth node' 600 ./dev lab up 4
    step 'site --limit n4 joins it' 900 play site.yml --limit n4
    step 'second run changes nothing' 900 unchanged play site.yml
}
round_3() {
    heading "round 3: bad input"
    step 'bad input gets a sentence' 1500 in_environment env PODNET_CACHE="$cache" python tests/lab/refusals.py
}

everything() {
    local other
    for other in $(seq 1 "$rounds"); do [ "$other" = "$round" ] || "round_$other"; done
    heading "everything else"
    step 'check mode shows what a run changes' 3600 in_environment env PODNET_CACHE="$cache" python tests/lab/changes.py
    step 'molecule' 3600 ./dev molecule
    # These count on three nodes.
    step 'remove the lab' 180 ./dev lab down
    PODNET_LAB=faults step 'all faults' 7200 ./dev faults --all
    PODNET_LAB=faults step 'a repair is undone, checked, and killed half way' 2400 in_environment env PODNET_CACHE="$cache" python tests/lab/repairs.py
    PODNET_LAB=firewall existing 'firewalls, judged and mended' 3600 tests/lab/forward_policy.py firewalls
    existing 'fuzz forwarding, long' 3000 tests/fuzz/forwarding.py ./dev fuzz forwarding
    existing 'fuzz evidence, long' 7200 tests/fuzz/evidence.py ./dev fuzz evidence
    existing 'report.html in a browser' 900 tests/report/run.py in_environment python tests/report/run.py
    PODNET_LAB=healthy existing 'the doctor on healthy clusters' 5400 tests/lab/healthy.py in_environment env PODNET_CACHE="$cache" python tests/lab/healthy.py
    PODNET_LAB=kills existing 'site killed at ten places' 5400 tests/lab/kills.py in_environment python tests/lab/kills.py
}

heading() { printf '\n%s (%d min %02d s)\n' "$1" $(((SECONDS - started) / 60)) $(((SECONDS - started) % 60)); }

# essential STEP...: nothing after it makes sense when it failed.
essential() {
    local before=$failed
    step "$@"
    [ "$failed" = "$before" ] || { echo "The rest cannot run without that."; finish; }
}

# existing NAME SECONDS FILE COMMAND...: a step whose test lies in FILE.
existing() { [ ! -f "$3" ] || step "$1" "$2" "${@:4}"; }
