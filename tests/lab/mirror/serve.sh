# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154
#
# The mirror's two servers. Each lab runs its own, on its bridge's address, over content that labs share.

# alive PIDFILE NAME: whether the process of PIDFILE runs and is NAME.
alive() { [ -s "$1" ] && tr '\0' ' ' <"/proc/$(<"$1")/cmdline" 2>/dev/null | grep -qF -- "$2"; }

stop_process() {
    if alive "$1" "$2"; then kill "$(<"$1")"; fi
    rm -f "$1"
}

# start_registry FOLDER ADDRESS:PORT PREFIX: the registry over FOLDER; PREFIX.pid, PREFIX.log and PREFIX.yml are its own.
start_registry() {
    cat >"$3.yml" <<YAML
version: 0.1
log: {level: warn}
storage: {filesystem: {rootdirectory: "$1"}, delete: {enabled: false}}
http: {addr: "$2"}
YAML
    setsid docker-registry serve "$3.yml" >"$3.log" 2>&1 </dev/null 9>&- &
    echo $! >"$3.pid"
    until_true 20 curl -fsS -m 2 "http://$2/v2/" || { tail -n 5 "$3.log" >&2; refuse 3 "The registry on $2 did not answer within 20 seconds."; }
}

# start_packages FOLDER ADDRESS PORT PREFIX
start_packages() {
    setsid python3 -m http.server --bind "$2" --directory "$1" "$3" >"$4.log" 2>&1 </dev/null 9>&- &
    echo $! >"$4.pid"
    until_true 20 curl -fsS -m 2 -o /dev/null "http://$2:$3/" || { tail -n 5 "$4.log" >&2; refuse 3 "The package server on $2:$3 did not answer within 20 seconds."; }
}

# serve_mirror: both servers of this lab, over the content as it is now.
serve_mirror() {
    local content
    content=$(mirror_folder)
    if [ "$(cat "$state/mirror" 2>/dev/null)" != "$content" ]; then stop_mirror; fi
    alive "$state/registry.pid" "$state/registry.yml" || start_registry "$content/registry" "$address:$registry_port" "$state/registry"
    alive "$state/packages.pid" http.server || start_packages "$content/www" "$address" "$packages_port" "$state/packages"
    echo "$content" >"$state/mirror"
}

stop_mirror() {
    stop_process "$state/registry.pid" "$state/registry.yml"
    stop_process "$state/packages.pid" http.server
}
