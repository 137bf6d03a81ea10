#!/usr/bin/env bash
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# lab.sh VERB: real nodes and a real mirror on one machine. docs/dev/lab.md says how to use it.
# shellcheck disable=SC2154,SC2034  # its parts set and read names of each other
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in ../dev/env config mirror/debs mirror/serve mirror/base mirror/upstream mirror/fill node/root network node/nodes inventory cni/image cni/kube_router; do
    # shellcheck source=/dev/null
    source "$here/$part.sh"
done

usage() {
    refuse 2 "usage: ./dev lab up [N] [--debian 12,13] [--control-planes 1] | down | status | inventory | ssh NODE [COMMAND...] |
                 start NODE | stop NODE | restart NODE | logs [NODE] | mirror | dual-stack | kube-router | outside open|close|run COMMAND..."
}

up() {
    local count=3 releases=12,13 planes=1
    while [ $# -gt 0 ]; do
        case $1 in
        --debian) releases=${2:?}; shift 2 ;;
        --control-planes) planes=${2:?}; shift 2 ;;
        [1-9] | 10) count=$1; shift ;;
        *) usage ;;
        esac
    done
    mirror >/dev/null
    # flock holds the lock itself, so that the servers and nodes started here do not keep it.
    flock -o -w 600 -E 75 "$state/lock" "$here/lab.sh" nodes "$count" "$releases" "$planes" || {
        code=$?
        [ "$code" != 75 ] || refuse 3 "Another run has been working on the lab '$lab' for ten minutes."
        exit "$code"
    }
    say "    inventory: $state/inventory"
}

# nodes COUNT RELEASES CONTROL_PLANES: what `up` does once the mirror's content is there.
nodes() {
    known
    make_network
    serve_mirror
    make_nodes "$@"
}

# mirror: its content, made where it is not there. All that takes long is in here.
mirror() {
    local release
    prepare_machine
    claim_subnet
    for release in "${!suites[@]}"; do once "$(root_folder "$release")" make_root "$release"; done
    once "$(mirror_folder)" make_mirror
    mirror_folder
}

# known: the lab must have been set up.
known() {
    [ -s "$state/index" ] || refuse 2 "There is no lab '$lab'; ./dev lab up makes it."
    write_containers_conf
    claim_subnet
}

node() { node_names | grep -qx "${1:-}" || refuse 2 "The lab '$lab' has no node '${1:-}'; it has: $(node_names | tr '\n' ' ')"; }

down() {
    [ -s "$state/index" ] || return 0
    known
    remove_nodes
    stop_mirror
    remove_network
    rm -rf "$state"
}

status() {
    known
    echo "lab $lab: subnet $prefix.0/24, mirror http://$address:$packages_port and $address:$registry_port"
    echo "inventory $state/inventory"
    podman ps -a --filter "label=$label=$lab" --format '{{.Names}}  {{.Image}}  {{.Status}}' | sort -V
}

work=$(mktemp -d)
trap 'stop_process "$work/registry.pid" docker-registry; rm -rf "$work"' EXIT
verb=${1:-}
[ $# = 0 ] || shift
case $verb in
up) up "$@" ;;
nodes) nodes "$@" ;;
mirror) mirror ;;
dual-stack) known; dual_stack ;;
kube-router) known; kube_router ;;
down) down ;;
status) status ;;
inventory) known; echo "$state/inventory" ;;
ssh) known; node "${1:-}"; on "$@" ;;
start) known; node "${1:-}"; podman start "$lab-$1" >/dev/null; wait_for_node "$1" ;;
stop) known; node "${1:-}"; podman stop -t 1 "$lab-$1" >/dev/null ;;
restart) known; node "${1:-}"; podman restart -t 1 "$lab-$1" >/dev/null; wait_for_node "$1" ;;
logs) known; tail -n 20 "$state"/*.log; [ -z "${1:-}" ] || { node "$1"; on "$1" journalctl -n 200 --no-pager; } ;;
outside)
    known; bridge=$(bridge_name)
    case ${1:-} in
    open | close) "$1_outside" ;;
    run) ip netns exec "$outside" "${@:2}" ;;
    *) usage ;;
    esac ;;
*) usage ;;
esac
