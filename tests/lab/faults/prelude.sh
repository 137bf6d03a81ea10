# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# What the scripts of faults can use; it stands before each of them.
export KUBECONFIG=/etc/kubernetes/admin.conf

# edited NAMESPACE KIND/NAME PYTHON: prints the object after PYTHON changed it; there it is `o`, its metadata `m`, and
# `fresh()` takes out what the server wrote.
edited() {
    kubectl -n "$1" get "$2" -o json >/tmp/fault-object.json
    python3 - "$3" <<'PYTHON'
import json
import sys

o = json.load(open("/tmp/fault-object.json"))
m = o["metadata"]


def fresh():
    o.pop("status", None)
    for key in ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "annotations"):
        m.pop(key, None)


exec(sys.argv[1])
json.dump(o, sys.stdout)
PYTHON
}

# net_conf PYTHON: changes flannel's net-conf.json, there `c`, as somebody with an editor would.
net_conf() {
    edited kube-flannel configmap/kube-flannel-cfg "
d = o['data']
c = json.loads(d['net-conf.json'])
$1
d['net-conf.json'] = json.dumps(c)" | kubectl replace -f -
}

cri() { crictl --timeout 60s -r unix:///run/containerd/containerd.sock "$@"; }

# kubeadm_config FROM TO: changes kubeadm's ClusterConfiguration, FROM as a regular expression.
kubeadm_config() {
    edited kube-system configmap/kubeadm-config "
import re
d = o['data']
d['ClusterConfiguration'] = re.sub(r'''$1''', r'''$2''', d['ClusterConfiguration'])" | kubectl replace -f -
}

# manager_flags FLAG...: gives the controller manager --NAME=VALUE, takes --NAME from it, and waits until it leads again.
manager_flags() {
    local file=/etc/kubernetes/manifests/kube-controller-manager.yaml flag former
    former=$(manager_that_leads)
    cp -a $file /root/manager.yaml
    for flag; do
        sed -i "/^ *- ${flag%%=*}=/d" /root/manager.yaml
        case $flag in *=*) sed -i "s|^    - kube-controller-manager\$|&\n    - $flag|" /root/manager.yaml ;; esac
    done
    mv /root/manager.yaml $file
    another_manager "$former"
}

# manager_restarted: restarts the controller manager, and waits until it leads again.
manager_restarted() {
    local former
    former=$(manager_that_leads)
    cri stop "$(cri ps -q --name kube-controller-manager)" >/dev/null
    another_manager "$former"
}

another_manager() {
    for _ in $(seq 150); do
        [ "$(manager_that_leads)" = "$1" ] || return 0
        sleep 0.5
    done
    echo "no other controller manager leads than $1" >&2
    return 1
}

manager_that_leads() { kubectl -n kube-system get lease kube-controller-manager -o 'jsonpath={.spec.holderIdentity}' || true; }

# new_node: lets the node register again, as a machine that never was in the cluster.
new_node() {
    local pod link
    systemctl stop kubelet
    for pod in $(cri pods -q | grep -vxFf <(cri pods -q --label tier=control-plane; echo none)); do cri rmp -f "$pod" >/dev/null; done
    for link in cni0 flannel.1; do [ ! -e /sys/class/net/$link ] || ip link delete $link; done
    rm -f /run/flannel/subnet.env
    systemctl start kubelet
}

# no_accepts [TOOL]: takes back what a repair of the firewall added, which would hide the next fault of that kind.
no_accepts() {
    local chain hook tool=${1:-iptables}
    [ ! -e /etc/systemd/system/podnet-firewall.service ] || systemctl disable -q --now podnet-firewall.service
    rm -rf /etc/podnet.kubeadm/firewall.* /etc/systemd/system/podnet-firewall.service
    for chain in PODNET-INPUT PODNET-FORWARD; do
        hook=${chain#PODNET-}
        "$tool" -S "$chain" >/dev/null 2>&1 || continue
        while "$tool" -D "$hook" -j "$chain" 2>/dev/null; do :; done
        "$tool" -F "$chain"; "$tool" -X "$chain"
    done
}

# flannel_says NODE TEXT: whether flannel's log on the node, of the container now or the one before, has the text.
flannel_says() {
    local pod
    pod=$(kubectl -n kube-flannel get pods -l app=flannel --field-selector "spec.nodeName=$1" -o name)
    { kubectl -n kube-flannel logs "$pod"; kubectl -n kube-flannel logs "$pod" --previous; } 2>/dev/null | grep -qF "$2"
}
