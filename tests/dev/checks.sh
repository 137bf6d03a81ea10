# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154  # root and cache come from ./dev, venv and minor from need_python
#
# The checks that need no cluster.
collection=.ansible/collections/ansible_collections/podnet/kubeadm

verb_lint() {
    step 'ruff' 60 in_environment ruff check .
    step 'mypy' 300 lint_types
    step 'ansible-lint, production profile' 600 in_environment ansible-lint --offline --profile production
    step 'yamllint' 120 lint_yaml
    step 'shell scripts parse' 60 lint_shell
    step 'antsibull-docs' 200 in_environment antsibull-docs lint-collection-docs --plugin-docs --validate-collection-refs=self --skip-rstcheck .
    step 'changelog' 60 in_environment antsibull-changelog lint
    step 'collection build and galaxy-importer' 400 lint_import
    finish
}

lint_types() {
    local modules
    mapfile -t modules < <(git ls-files -co --exclude-standard 'plugins/*.py' | grep -q . && echo "$collection/plugins")
    [ ${#modules[@]} = 0 ] || in_environment mypy --cache-dir "$cache/mypy" "${modules[@]}"
}

lint_yaml() {
    git ls-files -coz --exclude-standard '*.yml' | xargs -0r "$venv/bin/yamllint" --strict
}

lint_shell() {
    local file
    while read -r file; do bash -n "$file"; done < <(git grep -lE --untracked '^#!/usr/bin/env bash' -- . ; git ls-files -co --exclude-standard '*.sh')
}

# lint_import: what `ansible-galaxy collection build` packs, judged by the importer that Galaxy itself uses.
lint_import() {
    work=$(mktemp -d) # not local: the trap needs it
    trap 'rm -rf "$work"' EXIT
    in_environment ansible-galaxy collection build --force --output-path "$work"
    # ansible-lint and ansible-test are steps of their own.
    printf '[galaxy-importer]\nRUN_ANSIBLE_TEST = False\nRUN_ANSIBLE_LINT = False\nCHECK_REQUIRED_TAGS = True\n' >"$work/importer.cfg"
    (cd "$work" && GALAXY_IMPORTER_CONFIG=$work/importer.cfg in_environment python -m galaxy_importer.main ./*.tar.gz) 2>&1 | tee "$work/log"
    ! grep -E '^(ERROR|CRITICAL)' "$work/log"
    in_environment ansible-galaxy collection install --offline --force -p "$work/installed" "$work"/*.tar.gz
}

# verb_unit [PYTEST ARGUMENTS]: on the newest and on the oldest ansible-core.
verb_unit() {
    [ -n "$(git ls-files -co --exclude-standard 'tests/unit/*.py')" ] || { finish; return; }
    step "unit tests, newest ansible-core" 900 unit_run newest "$@"
    step "unit tests, oldest ansible-core" 900 unit_run oldest "$@"
    finish
}

unit_run() {
    local name=$1 log code=0 p f
    shift
    [ "$name" = newest ] || venv=$(oldest_environment)
    log=$(mktemp)
    in_environment pytest -q "$@" 2>&1 | tee "$log" || code=$?
    # pytest's last line: "3 failed, 12 passed, 1 error in 0.5s"
    p=$(tail -n 1 "$log" | awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^passed/) n += $(i - 1) } END { print n + 0 }')
    f=$(tail -n 1 "$log" | awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^(failed|errors?)/) n += $(i - 1) } END { print n + 0 }')
    rm -f "$log"
    [ "$code" = 0 ] || [ "$f" -gt 0 ] || f=1
    echo "$p passed, $f failed"
    return "$code"
}

# collection_copy: ansible-test takes no symlink, so it gets a copy of what git would show; prints the folder.
collection_copy() {
    local tree
    tree=$cache/ansible-test/$(sha256sum <<<"$root" | cut -c1-12)/ansible_collections/podnet/kubeadm
    mkdir -p "$tree"
    find "$tree" -mindepth 1 -maxdepth 1 ! -name tests -exec rm -rf {} +
    find "$tree" -mindepth 2 -maxdepth 2 -path '*/tests/*' ! -name output -exec rm -rf {} +
    git ls-files -coz --exclude-standard | while IFS= read -rd '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
        tar --null -T - -cf - | tar -C "$tree" -xf -
    echo "$tree"
}

# ansible_test ARGUMENTS...: in the copy, with a home of its own and real interpreters in front.
ansible_test() {
    local tree pip paths other
    tree=$(collection_copy)
    pip=$(in_environment python -c 'from ansible_test._internal import python_requirements as r
import inspect, re; print(re.search(r"pip=.([0-9.]+)", inspect.getsource(r)).group(1))' 2>/dev/null || echo 25.2)
    mkdir -p "$cache/home/.ansible/test/cache"
    cp tests/dev/get_pip.py "$cache/home/.ansible/test/cache/get_pip_${pip//./_}.py"
    paths=$(for other in 14 13 12 11 10 9; do interpreter "$other"; done | xargs -r dirname | tr '\n' ':')
    (cd "$tree" && HOME=$cache/home PATH=$paths$PATH VENV_FIRST=$venv in_environment ansible-test "$@")
}

verb_sanity() {
    step 'ansible-test sanity' 1500 sanity_run "$@"
    finish
}

sanity_run() {
    packages_if_root shellcheck
    local log code=0 p f
    log=$(mktemp)
    ansible_test sanity --color no --python "3.$minor" "$@" 2>&1 | tee "$log" || code=$?
    p=$(grep -c '^Running sanity test' "$log" || true)
    f=$(grep -oE 'The [0-9]+ sanity test' "$log" | grep -oE '[0-9]+' || true)
    if [ "$code" = 0 ]; then f=0; else f=${f:-1}; fi
    grep -E '^(ERROR|FATAL)' "$log" || true
    rm -f "$log"
    echo "$((p - f)) passed, $f failed"
    return "$code"
}

packages_if_root() { [ "$(id -u)" != 0 ] || packages "$@"; }

verb_integration() {
    [ -n "$(git ls-files -co --exclude-standard 'tests/integration/targets/*/tasks/*')" ] || { finish; return; }
    step 'integration, newest ansible-core' 1200 integration_run newest "$@"
    step 'integration, oldest ansible-core' 1200 integration_run oldest "$@"
    finish
}

integration_run() {
    local name=$1 log code=0 p f
    shift
    [ "$name" = newest ] || venv=$(oldest_environment)
    log=$(mktemp)
    ansible_test integration --color no --continue-on-error --python "$("$venv/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')" "$@" 2>&1 | tee "$log" || code=$?
    p=$(grep -c '^Running .* integration test role' "$log" || true)
    f=$(grep -oE 'The [0-9]+ integration test' "$log" | grep -oE '[0-9]+' || true)
    if [ "$code" = 0 ]; then f=0; else f=${f:-1}; fi
    grep -E '^(ERROR|FATAL)' "$log" || true
    rm -f "$log"
    echo "$((p - f)) passed, $f failed"
    return "$code"
}

# verb_molecule [SCENARIO...]: on the lab's nodes, one scenario after the other.
verb_molecule() {
    local scenario
    [ $# -gt 0 ] || mapfile -t scenarios < <(git ls-files -co --exclude-standard 'molecule/*/molecule.yml' | cut -d/ -f2 | grep -v '^default$')
    [ $# = 0 ] || scenarios=("$@")
    for scenario in "${scenarios[@]}"; do
        step "molecule $scenario" 1500 molecule_run "$scenario"
    done
    finish
}

molecule_run() {
    MOLECULE_GLOB='molecule/*/molecule.yml' in_environment molecule test -s "$1"
}
