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
    for link in cni0 flannel.1 flannel-v6.1; do [ ! -e /sys/class/net/$link ] || ip link delete $link; done
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

# kube_router true|false [FILE]: kube-router on every node as its own manifest has it, as a pod network with the CNI file
# FILE and as what enforces network policies, or (false) as the latter only.
kube_router() {
    local init='' file=/etc/cni/net.d/${2:-10-kuberouter.conflist}
    [ "$1" = false ] || init="
      initContainers:
        - name: install-cni
          image: docker.io/cloudnativelabs/kube-router:v2.1.0
          command: [/bin/cp, -f, /etc/kube-router/cni-conf.json, $file]
          volumeMounts: [{name: cni, mountPath: /etc/cni/net.d}, {name: conf, mountPath: /etc/kube-router}]"
    kubectl apply -f - <<MANIFEST
apiVersion: v1
kind: ConfigMap
metadata: {name: kube-router-cfg, namespace: kube-system}
data:
  cni-conf.json: |
    {"cniVersion": "0.3.0", "name": "mynet", "plugins": [
      {"name": "kubernetes", "type": "bridge", "bridge": "kube-bridge", "isDefaultGateway": true, "ipam": {"type": "host-local"}}]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: kube-router, namespace: kube-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: kube-router}
rules:
  - {apiGroups: [""], resources: [namespaces, pods, services, nodes, endpoints], verbs: [list, get, watch]}
  - {apiGroups: [networking.k8s.io], resources: [networkpolicies], verbs: [list, get, watch]}
  - {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, get, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: kube-router}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: kube-router}
subjects: [{kind: ServiceAccount, name: kube-router, namespace: kube-system}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: kube-router, namespace: kube-system, labels: {k8s-app: kube-router}}
spec:
  selector: {matchLabels: {k8s-app: kube-router}}
  template:
    metadata: {labels: {k8s-app: kube-router}}
    spec:
      priorityClassName: system-node-critical
      serviceAccountName: kube-router
      hostNetwork: true
      hostPID: true
      tolerations: [{operator: Exists}]$init
      containers:
        - name: kube-router
          image: docker.io/cloudnativelabs/kube-router:v2.1.0
          args: [--run-router=$1, --run-firewall=true, --run-service-proxy=false]
          env:
            - {name: NODE_NAME, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
            - {name: KUBE_ROUTER_CNI_CONF_FILE, value: $file}
          securityContext: {privileged: true}
          readinessProbe: {httpGet: {path: /healthz, port: 20244}, periodSeconds: 1}
          volumeMounts: [{name: lock, mountPath: /run/xtables.lock}, {name: cni, mountPath: /etc/cni/net.d}]
      volumes:
        - {name: lock, hostPath: {path: /run/xtables.lock, type: FileOrCreate}}
        - {name: cni, hostPath: {path: /etc/cni/net.d}}
        - {name: conf, configMap: {name: kube-router-cfg}}
MANIFEST
    kubectl -n kube-system rollout status daemonset/kube-router --timeout=120s
}

# no_kube_router: what kube-router leaves on a node once its pods are gone; its own --cleanup-config leaves it too.
no_kube_router() {
    local chain table
    rm -f /etc/cni/net.d/*-kuberouter.conflist
    [ ! -e /sys/class/net/kube-bridge ] || ip link delete kube-bridge
    while ip rule del table 77 2>/dev/null; do :; done
    ip route flush proto 17
    for table in filter nat; do
        iptables-save -t $table | sed -nE 's/^-A ((INPUT|FORWARD|OUTPUT|POSTROUTING) .*kube-router)/-D \1/Ip' | xargs -rL1 iptables -t $table
    done
    for chain in $(iptables -S | awk '$1 == "-N" && $2 ~ /^KUBE-(ROUTER|POD-FW|NWPLCY)-/ { print $2 }'); do iptables -F "$chain"; done
    for chain in $(iptables -S | awk '$1 == "-N" && $2 ~ /^KUBE-(ROUTER|POD-FW|NWPLCY)-/ { print $2 }'); do iptables -X "$chain"; done
}
