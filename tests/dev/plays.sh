# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154  # root and cache come from ./dev, venv and minor from need_python
#
# Playbooks on the lab's nodes, as steps.

lab_state() { echo "$cache/labs/${PODNET_LAB:-podnet}"; }

# play PLAYBOOK ARGUMENTS...
play() {
    local name=$1
    shift
    in_environment ansible-playbook -i "$(lab_state)/inventory" "playbooks/$name" "$@"
}

# installed_site ARGUMENTS...: site as those run it who only use the collection, from its tarball, far from the checkout.
installed_site() {
    work=$(mktemp -d) # not local: the trap needs it
    trap 'rm -rf "$work"' EXIT
    in_environment ansible-galaxy collection build --force --output-path "$work" >"$work/log"
    in_environment ansible-galaxy collection install --offline --force -p "$work/collections" "$work"/*.tar.gz >>"$work/log"
    (cd / && PATH=$venv/bin:$PATH LC_ALL=C.UTF-8 ANSIBLE_COLLECTIONS_PATH=$work/collections \
        ansible-playbook -i "$(lab_state)/inventory" podnet.kubeadm.site "$@")
}

# unchanged COMMAND...: succeeds when the play does and no host reports a change.
unchanged() {
    local log
    log=$(mktemp)
    "$@" 2>&1 | tee "$log"
    if grep -E '^[^ ]+ +: ok=.* changed=[1-9]' "$log"; then
        echo "These hosts were changed, and nothing was to be; the tasks that did it:"
        awk '/^TASK|^RUNNING HANDLER/ { task = $0 } /^changed:/ { print task; print "  " $0 }' "$log"
        return 1
    fi
}

# killed_play TASK SECONDS PLAYBOOK: kills the play, and all of its processes, SECONDS after a task named like TASK began.
killed_play() {
    in_environment python tests/lab/killed.py --task "$1" --after "$2" -- ansible-playbook -i "$(lab_state)/inventory" "playbooks/$3"
}

# unreachable_worker: site with n3 stopped reports it, and judges the others by themselves.
unreachable_worker() {
    local log
    log=$(mktemp)
    ./dev lab stop n3
    play site.yml >"$log" 2>&1 || true # what counts is each host's line
    cat "$log"
    ./dev lab start n3
    grep -E '^n3 +: .*unreachable=1' "$log" || { echo "n3 was stopped, and is not reported unreachable."; return 1; }
    ! grep -E '^n[12] +: .*(failed|changed)=[1-9]' "$log" || { echo "A host that was reachable failed or was changed."; return 1; }
}

# firewalls: on a node of its own, without a cluster, both families.
firewalls() {
    local code=0
    ./dev lab down
    ./dev lab up 2 --debian 12,13
    in_environment python tests/lab/forward_policy.py n1 --install --boot || code=1
    in_environment python tests/lab/forward_policy.py n1 --family 6 || code=1
    # firewalld 2.x looks at policies otherwise than 1.3 does.
    in_environment python tests/lab/forward_policy.py n2 --install --boot --only firewalld || code=1
    ./dev lab down
    return "$code"
}

restarted_worker() {
    ./dev lab restart n3
    unchanged play site.yml
}
