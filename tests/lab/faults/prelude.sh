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
