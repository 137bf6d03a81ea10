# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154
#
# Nodes: systemd containers that kubeadm cannot tell from small hosts.

# prepare_machine: what this machine needs before its first node.
prepare_machine() {
    [ "$(id -u)" = 0 ] || refuse 3 "The lab needs root: it makes a bridge, an nft table and privileged containers."
    packages podman runc netavark mmdebstrap docker-registry skopeo apt-utils dpkg-dev nftables iproute2 gnupg openssh-client curl \
        catatonit busybox-static gcc libc6-dev libseccomp-dev pkg-config python3-venv procps
    # Nodes cannot load modules; a kernel without /proc/modules has everything built in.
    if [ -e /proc/modules ]; then
        modprobe -a overlay br_netfilter vxlan nf_conntrack nf_nat nf_tables xt_comment ip_tables 2>/dev/null || true
    fi
    local key
    for key in max_user_instances:8192 max_user_watches:524288; do
        [ "$(sysctl -n "fs.inotify.${key%:*}")" -ge "${key#*:}" ] || sysctl -qw "fs.inotify.${key%:*}=${key#*:}" ||
            say "    fs.inotify.${key%:*} is low and could not be raised: many nodes at once may fail."
    done
    write_containers_conf
}

# write_containers_conf: what podman must do otherwise on a machine that is itself confined.
write_containers_conf() {
    local conf=$state/containers.conf
    mkdir -p "$state"
    {
        echo '[engine]'
        echo 'events_logger = "file"'
        [ -d /run/systemd/system ] || echo 'cgroup_manager = "cgroupfs"'
        # crun refuses a machine with cgroup v1 controllers beside an empty cgroup2.
        cgroup_v2 || echo 'runtime = "runc"'
        echo '[containers]'
        # Without CAP_SYS_RESOURCE nobody may raise a limit, and podman would.
        (ulimit -Hn 1048576) 2>/dev/null || echo "default_ulimits = [\"nofile=$(ulimit -Hn):$(ulimit -Hn)\", \"nproc=30000:30000\"]"
    } >"$conf"
    export CONTAINERS_CONF=$conf
}

cgroup_v2() { [ "$(stat -fc %T /sys/fs/cgroup)" = cgroup2fs ]; }

# node_names: this lab's nodes, in order.
node_names() { podman ps -a --filter "label=$label=$lab" --format '{{.Names}}' | sed "s/^$lab-//" | sort -V; }

# start_node NAME NUMBER RELEASE IMAGE
start_node() {
    local name=$1 number=$2 release=$3 image=$4 data=$state/nodes/$1 options=() folder
    mkdir -p "$data"/{containerd,kubelet,etcd}
    for folder in containerd kubelet etcd; do options+=(-v "$data/$folder:/var/lib/$folder"); done
    if ipv6; then options+=(--ip6 "$prefix6:$((10 + number))"); fi
    if [ "$release" -ge 13 ] && ! cgroup_v2; then
        options+=(-e 'SYSTEMD_PROC_CMDLINE=systemd.unified_cgroup_hierarchy=0 SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1')
    fi
    # A cgroup of the lab's own, whose weight can be set.
    if ! [ -d /run/systemd/system ]; then options+=(--cgroup-parent "/$cgroup"); fi
    podman run -d --name "$lab-$name" --hostname "$name" --label "$label=$lab" \
        --network "$network" --ip "$prefix.$((10 + number))" --no-hosts --dns none \
        --privileged --cgroupns=private --systemd=false --stop-signal=SIGRTMIN+3 \
        --tmpfs /run:rw,mode=755 --tmpfs /run/lock --tmpfs /tmp:rw,exec \
        -e container=podman -e "container_uuid=$(cat /proc/sys/kernel/random/uuid)" \
        -e "LAB_ADDRESS=$prefix.$((10 + number))" -e "LAB_MIRROR=$address" \
        "${options[@]}" "$image" >/dev/null
}

# weigh_nodes: without systemd, all containers together would weigh as much as a single process of this machine.
cgroup=podnet_lab
weigh_nodes() {
    local shares=/sys/fs/cgroup/cpu/$cgroup/cpu.shares weight=/sys/fs/cgroup/$cgroup/cpu.weight nodes
    nodes=$(podman ps -q --filter "label=$label" | wc -l)
    [ ! -w "$shares" ] || echo $((1024 * nodes)) >"$shares"
    [ ! -w "$weight" ] || echo $((100 * nodes)) >"$weight"
}

# on NODE COMMAND...: over ssh, as everything else reaches nodes.
on() { ssh -F "$state/ssh_config" "$@"; }

# wait_for_node NAME: until it is up, at most 60 seconds; otherwise the tail of its journal.
wait_for_node() {
    until_true 60 on "$1" true &&
        [[ $(timeout 60 ssh -F "$state/ssh_config" "$1" systemctl is-system-running --wait 2>/dev/null) =~ ^(running|degraded)$ ]] && return
    say "    $1 did not come up within 60 seconds; the end of its journal:"
    timeout 10 podman exec "$lab-$1" journalctl -n 25 --no-pager >&2 || podman logs --tail 25 "$lab-$1" >&2
    return 1
}

# make_nodes COUNT RELEASES CONTROL_PLANES: those that are missing; nodes that are there are started, not remade.
make_nodes() {
    local count=$1 number release started=$SECONDS name job jobs=()
    local -a releases images
    IFS=, read -ra releases <<<"$2"
    for release in "${releases[@]}"; do
        [ -n "${suites[$release]:-}" ] || refuse 2 "The lab has no Debian $release; it has ${!suites[*]}."
        images+=("$(node_image "$release")")
    done
    local there
    there=" $(node_names | tr '\n' ' ')"
    for number in $(seq 1 "$count"); do
        name=n$number
        release=$(((number - 1) % ${#releases[@]}))
        if [[ $there == *" $name "* ]]; then
            [ "$(podman inspect -f '{{.State.Running}}' "$lab-$name")" = true ] || podman start "$lab-$name" >/dev/null &
        else
            start_node "$name" "$number" "${releases[$release]}" "${images[$release]}" &
        fi
        jobs+=($!)
    done
    for job in "${jobs[@]}"; do wait "$job"; done
    weigh_nodes
    write_inventory "$3"
    jobs=()
    for number in $(seq 1 "$count"); do wait_for_node "n$number" & jobs+=($!); done
    for job in "${jobs[@]}"; do wait "$job" || refuse 1 "Not every node came up."; done
    say "    $count nodes are up after $((SECONDS - started)) s"
}

remove_nodes() {
    drop_connections
    local ids
    ids=$(podman ps -aq --filter "label=$label=$lab")
    # shellcheck disable=SC2086
    [ -z "$ids" ] || podman rm -f -t 0 $ids >/dev/null
    rm -rf "$state/nodes"
}

# drop_connections: ssh connections that ansible keeps open; a new node at the same address must not meet them.
drop_connections() {
    local socket
    for socket in "$state"/cp/*; do
        [ ! -S "$socket" ] || timeout 5 ssh -o ControlPath="$socket" -O exit lab 2>/dev/null || true
    done
    rm -rf "$state/cp"
}
