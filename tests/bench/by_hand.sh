#!/usr/bin/env bash
# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# by_hand.sh LAB_FOLDER: what `site` does, typed by hand over ssh: packages, init, joins, flannel, the same waits and the same
# traffic check. Nodes are worked on in parallel. The benchmark's other side, and the first proof of a new lab.
# LAB_FOLDER is $PODNET_CACHE/labs/NAME with its ssh_config and inventory.
set -euo pipefail
state=$1
mapfile -t nodes < <(awk '$1 == "Host" && $2 != "*" { print $2 }' "$state/ssh_config")
first=${nodes[0]}
variable() { awk -F'"' -v key="^$1: " '$0 ~ key { print $2 }' "$state/inventory/group_vars/all.yml"; }
kubernetes=$(variable cluster_kubernetes_version)
kubernetes_url=$(variable kubernetes_packages_repository_url)
docker_url=$(variable containerd_repository_url)
registry=$(sed -n 's/.*registry: ghcr.io.*url: "\([^"]*\)".*/\1/p' "$state/inventory/group_vars/all.yml")
on() { ssh -F "$state/ssh_config" -o ControlMaster=auto -o ControlPersist=60s -o "ControlPath=$state/cp/hand-%n" "$@"; }
started=$(date +%s.%N)
phase() { printf '%6.1f s  %s\n' "$(bc <<<"$(date +%s.%N) - $started")" "$*"; }

prepare() {
    on "$1" bash -s -- "$kubernetes" "$kubernetes_url" "$docker_url" "$registry" <<'NODE'
set -eu
kubernetes=$1 kubernetes_url=$2 docker_url=$3 registry=$4
export DEBIAN_FRONTEND=noninteractive
. /etc/os-release
printf 'overlay\nbr_netfilter\n' >/etc/modules-load.d/kubernetes.conf
if [ -e /proc/modules ]; then modprobe -a overlay br_netfilter; fi
printf 'net.ipv4.ip_forward=1\nnet.bridge.bridge-nf-call-iptables=1\nnet.bridge.bridge-nf-call-ip6tables=1\n' >/etc/sysctl.d/90-kubernetes.conf
sysctl -q -p /etc/sysctl.d/90-kubernetes.conf
fetch() { python3 -c 'import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())' "$1"; }
fetch "${kubernetes_url%/}/Release.key" >/etc/apt/keyrings/kubernetes.asc
fetch "$docker_url/gpg" >/etc/apt/keyrings/docker.asc
echo "deb [signed-by=/etc/apt/keyrings/kubernetes.asc] $kubernetes_url /" >/etc/apt/sources.list.d/kubernetes.list
echo "deb [signed-by=/etc/apt/keyrings/docker.asc] $docker_url $VERSION_CODENAME stable" >/etc/apt/sources.list.d/docker.list
mkdir -p /etc/containerd
cat >/etc/containerd/config.toml <<TOML
version = 3
[plugins."io.containerd.cri.v1.images"]
  pinned_images = {sandbox = "registry.k8s.io/pause:3.10.2"}
  [plugins."io.containerd.cri.v1.images".registry]
    config_path = "/etc/containerd/certs.d"
[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["/opt/cni/bin"]
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
      SystemdCgroup = true
TOML
for host in registry.k8s.io ghcr.io docker.io; do
    mkdir -p "/etc/containerd/certs.d/$host"
    printf 'server = "%s"\n[host."%s"]\n  capabilities = ["pull", "resolve"]\n' "$registry" "$registry" >"/etc/containerd/certs.d/$host/hosts.toml"
done
echo 'runtime-endpoint: unix:///run/containerd/containerd.sock' >/etc/crictl.yaml
apt-get update -qq
apt-get install -qq --no-install-recommends -o Dpkg::Options::=--force-confold containerd.io "kubelet=$kubernetes-*" "kubeadm=$kubernetes-*" "kubectl=$kubernetes-*" \
    cri-tools iptables nftables ethtool conntrack socat >/dev/null
apt-mark -q hold containerd.io kubelet kubeadm kubectl >/dev/null
systemctl -q enable kubelet
NODE
}

init() {
    on "$first" bash -s -- "$kubernetes" <<'NODE'
set -eu
cat >/root/kubeadm.yml <<YAML
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
nodeRegistration:
  ignorePreflightErrors: [SystemVerification]
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v$1
networking:
  podSubnet: 10.244.0.0/16
  serviceSubnet: 10.96.0.0/12
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
failSwapOn: false
---
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
conntrack: {maxPerCore: 0, min: 0}
YAML
kubeadm init --config /root/kubeadm.yml >/root/kubeadm-init.log 2>&1 || { tail -n 30 /root/kubeadm-init.log; exit 1; }
NODE
}

join() {
    # shellcheck disable=SC2029
    on "$1" "$join_command --ignore-preflight-errors=SystemVerification >/root/kubeadm-join.log 2>&1 || { tail -n 30 /root/kubeadm-join.log; exit 1; }"
}

kubectl() { on "$first" kubectl --kubeconfig /etc/kubernetes/admin.conf --request-timeout=20s "$@"; }

# in_parallel FUNCTION NODE...
in_parallel() {
    local function=$1 node job jobs=()
    shift
    for node in "$@"; do "$function" "$node" & jobs+=($!); done
    for job in "${jobs[@]}"; do wait "$job"; done
}

# ask POD TARGET: what TARGET answers to a request from inside POD.
ask() { kubectl exec -i "$1" -- sh <<<"printf 'GET /name HTTP/1.0\r\n\r\n' | nc -w 3 $2 8080 | tail -n 1"; }

# probe POD: that a pod gets its answer from each other pod, from a service and from DNS.
probe() {
    local name target
    while read -r name target; do
        [ "$name" != "$1" ] || continue
        [ "$(ask "$1" "$target")" = "$name" ] || { echo "$1 got no answer from $name at $target"; return 1; }
    done <<<"$pods"
    [[ $(ask "$1" "$service") == probe-* ]] || { echo "$1 got no answer from the service"; return 1; }
    kubectl exec -i "$1" -- sh <<<'nslookup probe.default.svc.cluster.local' | grep -qF "$service" || { echo "$1 got no answer from DNS"; return 1; }
}

mkdir -p "$state/cp"
in_parallel prepare "${nodes[@]}"
phase "packages are installed"
init
phase "the control plane is up"
kubernetes_mirror=${kubernetes_url%%/core:*}
on "$first" "python3 -c 'import urllib.request; print(urllib.request.urlopen(\"$kubernetes_mirror/kube-flannel.yml\", timeout=10).read().decode())' >/root/kube-flannel.yml"
kubectl apply -f /root/kube-flannel.yml >/dev/null
join_command=$(on "$first" kubeadm token create --ttl 30m --print-join-command)
in_parallel join "${nodes[@]:1}"
phase "workers have joined"
[ ${#nodes[@]} -gt 1 ] || kubectl taint node "$first" node-role.kubernetes.io/control-plane- >/dev/null
kubectl apply -f - >/dev/null <<'YAML'
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: probe}
spec:
  selector: {matchLabels: {app: probe}}
  template:
    metadata: {labels: {app: probe}}
    spec:
      tolerations: [{operator: Exists}]
      terminationGracePeriodSeconds: 0
      containers:
        - name: probe
          image: docker.io/library/busybox:1.37
          command: [sh, -c, 'mkdir /www; hostname >/www/name; exec httpd -f -p 8080 -h /www']
---
apiVersion: v1
kind: Service
metadata: {name: probe}
spec:
  selector: {app: probe}
  ports: [{port: 8080}]
YAML
kubectl -n kube-flannel rollout status ds/kube-flannel-ds --timeout=180s >/dev/null
kubectl wait --for=condition=Ready node --all --timeout=60s >/dev/null
kubectl -n kube-system rollout status deployment/coredns --timeout=120s >/dev/null
kubectl rollout status ds/probe --timeout=120s >/dev/null
phase "flannel, nodes and DNS are ready"
pods=$(kubectl get pods -l app=probe -o "'jsonpath={range .items[*]}{.metadata.name} {.status.podIP}{\"\\n\"}{end}'")
service=$(kubectl get service probe -o "'jsonpath={.spec.clusterIP}'")
mapfile -t names < <(cut -d' ' -f1 <<<"$pods")
in_parallel probe "${names[@]}"
kubectl delete daemonset,service probe --wait=false >/dev/null
phase "pods reach each other, a service and DNS"
