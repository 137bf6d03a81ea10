# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154
#
# The lab's own CNI plugin for dual stack, as an image in this lab's registry. Only that scenario asks for it.

dual_stack_image=ghcr.io/flannel-io/flannel-cni-plugin:dual-stack-of-the-lab

dual_stack() {
    { echo '#!/usr/bin/python3'; cat "$lab_folder/cni/flannel_dual_stack.py"; } >"$work/flannel"
    python3 "$lab_folder/mirror/image.py" "$work/image.tar" "$dual_stack_image" /flannel "/flannel=$work/flannel" /bin/cp=/bin/busybox
    timeout 120 skopeo copy -q --insecure-policy --dest-tls-verify=false \
        "docker-archive:$work/image.tar" "docker://$address:$registry_port/${dual_stack_image#*/}" </dev/null
    echo "$dual_stack_image"
}
