#!/usr/bin/env bash
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# test_seal.sh: from every node of the lab PODNET_LAB: the mirror answers; this machine's other addresses, the namespace outside
# and names do not; and the namespace does once it is opened. What answers must say who it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
state=${PODNET_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/podnet.kubeadm}/labs/${PODNET_LAB:-podnet}
index=$(<"$state/index")
mirror=10.211.$index.1 outside=10.212.$index.2 host_of_outside=10.212.$index.1
passed=0 failed=0
on() { ssh -F "$state/ssh_config" "$@"; }
fetch() { on "$1" python3 -c "'import urllib.request; print(urllib.request.urlopen(\"$2\", timeout=2).read(2000).decode())'" 2>/dev/null; }
expect() { # expect yes|no NAME COMMAND...
    local wanted=$1 name=$2 got=no
    shift 2
    ! "$@" >/dev/null 2>&1 || got=yes
    if [ "$got" = "$wanted" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $name (wanted $wanted, got $got)"; fi
}
answers() { fetch "$1" "$2" | grep -qF "$3"; }

work=$(mktemp -d)
echo "this is outside" >"$work/who"
listeners=()
trap 'kill "${listeners[@]}" 2>/dev/null; rm -rf "$work"; ./dev lab outside close' EXIT
./dev lab outside close
ip netns exec "podnet-${PODNET_LAB:-podnet}-outside" python3 -m http.server --directory "$work" 8000 >/dev/null 2>&1 &
listeners+=($!)
python3 -m http.server --directory "$work" --bind "$mirror" 8099 >/dev/null 2>&1 &
listeners+=($!)
for _ in $(seq 50); do
    if curl -fsS -m 1 "http://$outside:8000/who" >/dev/null 2>&1 && curl -fsS -m 1 "http://$mirror:8099/who" >/dev/null 2>&1; then break; fi
    sleep 0.1
done
expect yes "this machine reaches the namespace outside" curl -fsS -m 2 "http://$outside:8000/who"
mapfile -t nodes < <(awk '$1 == "Host" && $2 != "*" { print $2 }' "$state/ssh_config")
for node in "${nodes[@]}"; do
    expect yes "$node has a default route" on "$node" "ip route show default | grep -q $mirror"
    expect yes "$node reads packages from the mirror" answers "$node" "http://$mirror:8081/debian/archive.asc" 'PGP PUBLIC KEY'
    expect yes "$node reaches the registry" answers "$node" "http://$mirror:5000/v2/_catalog" kube-apiserver
    expect no "$node reaches another port of this machine" answers "$node" "http://$mirror:8099/who" outside
    expect no "$node reaches the namespace outside" answers "$node" "http://$outside:8000/who" outside
    expect no "$node reaches this machine by its other address" on "$node" "timeout 2 bash -c '</dev/tcp/$host_of_outside/8081'"
    expect no "$node resolves names" on "$node" "timeout 5 getent hosts deb.debian.org"
    ./dev lab outside open
    expect yes "$node reaches the namespace outside once it is opened" answers "$node" "http://$outside:8000/who" "this is outside"
    ./dev lab outside close
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
