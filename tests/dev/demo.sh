# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154  # root and cache come from ./dev, venv and minor from need_python
#
# The demonstration: nodes, a cluster, and what it proves; and the removal of all there is.

verb_demo() {
    export PODNET_LAB=podnet
    case ${1:-} in
    --down)
        say "removing the lab 'podnet': its containers, network, bridge and table; caches stay in $cache"
        ./dev lab down
        return ;;
    '') ;;
    *) refuse 2 "usage: ./dev demo [--down]" ;;
    esac
    local began=$SECONDS state=$cache/labs/podnet
    [ "$(id -u)" = 0 ] || refuse 3 "./dev demo needs root: it makes containers, a bridge and a table of netfilter rules."
    cat >&2 <<TEXT
This makes three small Debian hosts on this machine and builds a Kubernetes cluster with flannel on them. It will
  - install Debian packages where they are missing (podman, mmdebstrap, docker-registry, skopeo and what they need)
  - make a bridge with the subnet 10.211.0.0/24 (or the next that is free) and the nft table 'inet podnet_lab_podnet'
  - keep what it builds in $cache
The first time takes about 20 minutes, most of it for building Kubernetes and its neighbours; later, less than two.
./dev demo --down removes containers, bridge and table.
TEXT
    need_python
    say; say "1 of 3: the hosts and what they install from (next: the cluster)"
    ./dev lab up 3
    say; say "2 of 3: the cluster, by playbooks/site.yml (next: what came of it)   [$((SECONDS - began)) s]"
    in_environment python tests/dev/progress.py "$cache/log/demo.log" -- ansible-playbook -i "$state/inventory" playbooks/site.yml ||
        refuse 1 "The playbook failed; all of its output: $cache/log/demo.log"
    say; say "3 of 3: what came of it   [$((SECONDS - began)) s]"
    in_environment ansible-playbook -i "$state/inventory" tests/dev/show.yml -e "show_folder=$state" >"$cache/log/show.log" 2>&1 ||
        { tail -n 20 "$cache/log/show.log" >&2; refuse 1 "The cluster could not be read."; }
    cat "$state/show.txt"
    echo "The proof: pods on different nodes asked each other, a service and DNS, and every answer was checked for what it said."
    sed -n '/verify : Tell what was answered/,/^TASK/s/^ *"\(.*\)",\{0,1\}$/  \1/p' "$cache/log/demo.log"
    echo
    say "It stays up; its kubeconfig: $state/kubeconfig   [$((SECONDS - began)) s]"
    say "Look around: ./dev lab ssh n1 kubectl get pods -A      Remove it: ./dev demo --down"
}

# verb_clean: every lab of this cache, the images, and all that the cache holds.
verb_clean() {
    local folder images
    for folder in "$cache"/labs/*/; do
        [ ! -s "$folder/index" ] || PODNET_LAB=$(basename "$folder") ./dev lab down
    done
    if command -v podman >/dev/null; then
        images=$(podman images -q --filter label=podnet.kubeadm.lab=image)
        # shellcheck disable=SC2086
        [ -z "$images" ] || podman rmi -f $images >/dev/null
    fi
    [ ! -d "$cache/go" ] || chmod -R u+w "$cache/go" # Go keeps its modules read-only
    for folder in ansible-test components go go-bin home keys labs log mirror mypy root venv apt.log; do rm -rf "${cache:?}/$folder"; done
    rmdir "$cache" 2>/dev/null || true
}
