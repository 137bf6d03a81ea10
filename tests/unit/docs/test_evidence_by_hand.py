# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The commands of docs/evidence-by-hand.md make a bundle that is judged like what was gathered."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from ansible_collections.podnet.kubeadm.plugins.plugin_utils._judge import judge
from ansible_collections.podnet.kubeadm.plugins.plugin_utils._view import View

ROOT = Path(__file__).parents[3]
BASE = ROOT / "tests/field-cases/base/cluster.json"
ON_HOSTS, WITH_KUBECTL = re.findall(r"```bash\n(.*?)```", (ROOT / "docs/evidence-by-hand.md").read_text(), re.S)
# Answers as kubectl does, from a healthy cluster.
KUBECTL = """#!/usr/bin/env python3
import json, sys
cluster = json.load(open("%s"))["cluster"]
words = [word for word in sys.argv[1:] if not word.startswith("--")]
texts = {"kubeadm-config": "kubeadm_config", "kube-proxy": "kube_proxy_config", "kubelet-config": "kubelet_config"}
if words[0] == "version":
    print(json.dumps(cluster["version"]))
elif words[-1].startswith("jsonpath") or "configmap" in words:
    name = words[words.index("configmap") + 1]
    if name in texts:
        print(cluster[texts[name]], end="")
    else:
        data = {key: text for key, text in cluster["flannel_config"].items() if key != "namespace"}
        print(json.dumps({"metadata": {"namespace": "kube-flannel"}, "data": data}))
else:
    print(json.dumps(cluster[{"networkpolicies": "network_policies"}.get(words[1], words[1])]))
"""


def run(text, folder, path=""):
    environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"}
    subprocess.run(
        ["bash", "-c", text], cwd=folder, env=environment, check=True, timeout=120, stdout=subprocess.DEVNULL
    )


def test_a_bundle_made_with_kubectl_is_judged(tmp_path):
    kubectl = tmp_path / "bin" / "kubectl"
    kubectl.parent.mkdir()
    kubectl.write_text(KUBECTL % BASE)
    kubectl.chmod(0o755)
    run(WITH_KUBECTL, tmp_path, str(kubectl.parent))
    base = json.loads(BASE.read_text())
    for name, node in base["nodes"].items():
        (tmp_path / "bundle/nodes" / f"{name}.json").write_text(json.dumps(node))
    view = View(str(tmp_path / "bundle"))
    assert set(base["cluster"]) - set(view.cluster.raw) == {"access", "crds", "etcd_members", "logs", "manifests"}
    assert all("env" not in one for pod in view.cluster.raw["pods"]["items"] for one in pod["spec"]["containers"])
    assert [one.code for one in judge(view).all()] == []


def test_a_host_is_gathered(tmp_path):
    run(ON_HOSTS, tmp_path)
    (file,) = tmp_path.glob("*.json")
    node = json.loads(file.read_text())
    assert node["kernel"] == os.uname().release and node["swap"].startswith("Filename")
    assert judge(View({"nodes": {"n1": node}}), strict=True).hosts == ["n1"]
