# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154  # root and cache come from ./dev, venv and minor from need_python
#
# The project's environment: interpreters, virtual environments, the tree in which the collection is visible.

# refuse CODE SENTENCE: 2 is wrong usage, 3 is "this machine cannot".
refuse() { echo "$2" >&2; exit "$1"; }

say() { printf '%s\n' "$*" >&2; }

# packages NAME...: installs the Debian packages that are missing.
packages() {
    local name missing=()
    for name in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
    done
    [ ${#missing[@]} = 0 ] && return
    [ "$(id -u)" = 0 ] || refuse 3 "These Debian packages are missing and only root can install them: ${missing[*]}"
    say "    installing Debian packages: ${missing[*]}"
    mkdir -p "$cache"
    { timeout 300 apt-get update -q && DEBIAN_FRONTEND=noninteractive timeout 600 apt-get install -qy --no-install-recommends "${missing[@]}"; } \
        >"$cache/apt.log" 2>&1 || { tail -n 15 "$cache/apt.log" >&2; refuse 3 "apt could not install: ${missing[*]}"; }
}

# interpreter MINOR: the path of a real Python 3.MINOR (no pyenv shim) that can make environments, or nothing.
interpreter() {
    local path
    for path in "$HOME"/.pyenv/versions/3."$1".*/bin/python3."$1" /usr/local/bin/python3."$1" /usr/bin/python3."$1"; do
        [ -x "$path" ] && "$path" -c 'import ensurepip, venv' 2>/dev/null && { echo "$path"; return; }
    done
    return 0
}

# newest_python MAX: "MINOR PATH" of the newest interpreter that ansible-core runs on, up to 3.MAX.
newest_python() {
    local minor path
    for ((minor = $1; minor >= 10; minor--)); do
        path=$(interpreter "$minor")
        [ -z "$path" ] || { echo "$minor $path"; return; }
    done
}

# virtual_environment NAME MINOR PYTHON REQUIREMENT...: makes it when it is not there, prints its folder.
virtual_environment() {
    local name=$1 minor=$2 python=$3 folder key
    shift 3
    key=$({ echo "$python" "$@"; cat "tests/requirements/$name.txt"; } | sha256sum | cut -c1-12)
    folder=$cache/venv/$name-3.$minor-$key
    mkdir -p "$cache/venv"
    (
        flock -w 900 9
        [ -e "$folder/.complete" ] && exit
        say "    making the Python environment '$name' (Python 3.$minor, $*)"
        rm -rf "$folder"
        "$python" -m venv "$folder"
        timeout 800 "$folder/bin/python" -m pip install -q --disable-pip-version-check "$@" -r "tests/requirements/$name.txt" >&2 ||
            refuse 3 "pip could not install what tests/requirements/$name.txt lists; its reason stands above."
        touch "$folder/.complete"
    ) 9>"$cache/venv/.lock" || exit
    echo "$folder"
}

# need_python: sets minor and venv, the environment with the newest Python and the ansible-core that matches.
need_python() {
    mkdir -p "$cache"
    local found core
    found=$(newest_python 13)
    if ! [ "${found%% *}" -ge 11 ] 2>/dev/null; then
        packages python3 python3-venv
        found=$(newest_python 13)
    fi
    [ "${found%% *}" -ge 11 ] 2>/dev/null || refuse 3 "No Python 3.11 or newer with the modules venv and ensurepip was found."
    minor=${found%% *}
    core=2.21
    [ "$minor" -ge 12 ] || core=2.19
    venv=$(virtual_environment newest "$minor" "${found#* }" "ansible-core==$core.*")
    [ -L .ansible/collections/ansible_collections/podnet/kubeadm ] || {
        mkdir -p .ansible/collections/ansible_collections/podnet
        ln -sfn ../../../.. .ansible/collections/ansible_collections/podnet/kubeadm
    }
}

# oldest_environment: prints the folder of the environment with the oldest ansible-core that is supported.
oldest_environment() {
    local found
    found=$(newest_python 12)
    [ -n "$found" ] || refuse 3 "ansible-core 2.16 needs a Python from 3.10 to 3.12, and none was found."
    virtual_environment oldest "${found%% *}" "${found#* }" "ansible-core==2.16.*"
}

# in_environment COMMAND...: with the environment's Python first in PATH and the collection visible.
in_environment() {
    VIRTUAL_ENV=$venv PATH=$venv/bin:$PATH LC_ALL=C.UTF-8 ANSIBLE_COLLECTIONS_PATH=$root/.ansible/collections \
        MYPYPATH=$root/.ansible/collections "$@"
}
