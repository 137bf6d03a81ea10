# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154
#
# What a person needs to reach the nodes: an inventory for ansible, a configuration for ssh. All of the lab's needs are
# set here, by public variables.

# write_inventory CONTROL_PLANES: the first so many nodes are control planes, the others workers; a single node is both.
write_inventory() {
    local folder=$state/inventory name number names fingerprint
    mkdir -p "$folder/group_vars" "$state/cp"
    names=$(node_names)
    fingerprint=$(<"$(lab_keys)/fingerprint")
    {
        echo "all:"
        echo "  hosts:"
        for name in $names; do
            number=$((10 + ${name#n}))
            echo "    $name: {ansible_host: $prefix.$number$(! ipv6 || echo ", ipv6_address: '$prefix6:$number'")}"
        done
        echo "  children:"
        echo "    kube_control_plane:"
        echo "      hosts:"
        for name in $names; do [ "${name#n}" -gt "$1" ] || echo "        $name:"; done
        echo "    kube_node:"
        echo "      hosts:"
        for name in $names; do
            if [ "${name#n}" -gt "$1" ] || [ "$names" = n1 ]; then echo "        $name:"; fi
        done
    } >"$folder/hosts.yml.new"
    mv "$folder/hosts.yml.new" "$folder/hosts.yml"
    sed -e "s|@ADDRESS@|$address|g; s|@FINGERPRINT@|$fingerprint|g; s|@KEY@|$(lab_keys)/id_ed25519|g; s|@STATE@|$state|g" \
        -e "s|@KUBERNETES@|${kubernetes_version#v}|g; s|@MINOR@|${kubernetes_version%.*}|g" \
        -e "s|@PACKAGES@|$packages_port|g; s|@REGISTRY@|$registry_port|g" \
        "$lab_folder/group_vars.yml" >"$folder/group_vars/all.yml"
    {
        for name in $names; do printf 'Host %s\n  HostName %s\n' "$name" "$prefix.$((10 + ${name#n}))"; done
        printf 'Host *\n  User root\n  IdentityFile %s\n  IdentitiesOnly yes\n' "$(lab_keys)/id_ed25519"
        printf '  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n  ConnectTimeout 2\n'
    } >"$state/ssh_config"
}
