# Copyright (c) podnet.kubeadm contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which fields of API objects are copied. What is not named here stays in the cluster."""

from __future__ import annotations

import re
from typing import Any

from .scrub import REMOVED, scrub, scrub_arguments

# True copies a value whole, a mapping copies its named fields (of each item of a list), a function makes it.
Shape = Any

NOT_COPIED = "(not copied)"
_OURS = re.compile(
    r"(?:^|[./])(?:kubernetes\.io|k8s\.io|coreos\.com|projectcalico\.org|cilium\.io|weave\.works|antrea\.io|ovn\.org"
    r"|k3s\.io|rke2\.io|podnet\.\w+|kube-router\.io)/"
)
# Proxies are told by them; the rest is flannel's own manifest and where a client finds the API server.
_ENVIRONMENT = re.compile(
    r"(?i:(?:https?|no|all)_proxy)|POD_NAME|POD_NAMESPACE|NODE_NAME|EVENT_QUEUE_DEPTH|CONT_WHEN_CACHE_NOT_READY"
    r"|KUBERNETES_SERVICE_(?:HOST|PORT)|FLANNELD?_(?:IFACE|PUBLIC_IP|HEALTHZ_PORT)"
)


def copy_fields(value: Any, shape: Shape) -> Any:
    """The part of VALUE that SHAPE names."""
    if shape is True or value is None:
        return value
    if callable(shape):
        return shape(value)
    if isinstance(value, list):
        return [copy_fields(item, shape) for item in value]
    if isinstance(value, dict):
        return {name: copy_fields(value[name], part) for name, part in shape.items() if name in value}
    return value


def known_annotations(value: Any) -> Any:
    """Annotations of Kubernetes' and of network components; of others the name only."""
    if not isinstance(value, dict):
        return {}
    return {
        name: text if _OURS.search(name) and not name.endswith("/last-applied-configuration") else NOT_COPIED
        for name, text in value.items()
    }


def environment(value: Any) -> Any:
    """Names and values that are known to be harmless; proxies without user and password."""
    return [
        {"name": item["name"], "value": scrub(str(item.get("value", "")))}
        for item in value or []
        if isinstance(item, dict) and _ENVIRONMENT.fullmatch(str(item.get("name", ""))) and "valueFrom" not in item
    ]


def message(value: Any) -> Any:
    """A text for people, without secrets, of at most 1000 characters."""
    return scrub(value)[:1000] if isinstance(value, str) else value


def _arguments(value: Any) -> Any:
    return scrub_arguments(value) if isinstance(value, list) else value


def _whole(names: str) -> dict[str, Shape]:
    return dict.fromkeys(names.split(), True)


_METADATA = {
    **_whole("name namespace uid generation creationTimestamp deletionTimestamp labels ownerReferences"),
    "annotations": known_annotations,
}
_STATE = {
    "waiting": {"reason": True, "message": message},
    "running": {"startedAt": True},
    "terminated": {**_whole("reason exitCode signal startedAt finishedAt"), "message": message},
}
_STATUS = {
    **_whole("name ready started restartCount image imageID containerID"),
    "state": _STATE,
    "lastState": _STATE,
}
_CONDITION = {**_whole("type status reason lastTransitionTime"), "message": message}
_PROBE = {"httpGet": _whole("path port host"), "tcpSocket": True}
_BRIEF_CONTAINER = _whole("name image imagePullPolicy ports resources")
_CONTAINER = {
    **_BRIEF_CONTAINER,
    "command": _arguments,
    "args": _arguments,
    "env": environment,
    "securityContext": True,
    "volumeMounts": _whole("name mountPath"),
    "livenessProbe": _PROBE,
    "readinessProbe": _PROBE,
}
# Pods of users: what they run and with which arguments is theirs.
_BRIEF_SPEC = {
    **_whole("nodeName hostNetwork serviceAccountName dnsPolicy runtimeClassName"),
    "containers": _BRIEF_CONTAINER,
    "initContainers": _BRIEF_CONTAINER,
}
_POD_SPEC = {
    **_BRIEF_SPEC,
    **_whole("priorityClassName restartPolicy dnsConfig nodeSelector affinity tolerations"),
    "containers": _CONTAINER,
    "initContainers": _CONTAINER,
    "volumes": {"name": True, "hostPath": True, "configMap": {"name": True}},
}
_POD_STATUS = {
    **_whole("phase reason podIP podIPs hostIP hostIPs startTime qosClass"),
    "message": message,
    "conditions": _CONDITION,
    "containerStatuses": _STATUS,
    "initContainerStatuses": _STATUS,
}


def pod(value: dict[str, Any]) -> Any:
    """A pod: of the cluster's own and of those in the host's network more than of the others."""
    namespace = str((value.get("metadata") or {}).get("namespace", ""))
    own = namespace.startswith("kube-") or (value.get("spec") or {}).get("hostNetwork")
    shape = {"metadata": _METADATA, "spec": _POD_SPEC if own else _BRIEF_SPEC, "status": _POD_STATUS}
    return copy_fields(value, shape)


NODE = {
    "metadata": _METADATA,
    "spec": _whole("podCIDR podCIDRs taints unschedulable providerID"),
    "status": {
        **_whole("addresses allocatable capacity nodeInfo daemonEndpoints"),
        "conditions": {**_CONDITION, "lastHeartbeatTime": True},
    },
}
DAEMONSET = {
    "metadata": _METADATA,
    "spec": {
        **_whole("selector updateStrategy minReadySeconds"),
        "template": {"metadata": _METADATA, "spec": _POD_SPEC},
    },
    "status": True,
}
EVENT = {
    **_whole("type reason count series firstTimestamp lastTimestamp eventTime source reportingComponent"),
    "metadata": _whole("name namespace creationTimestamp"),
    "involvedObject": _whole("kind namespace name uid fieldPath"),
    "message": message,
}
SERVICE = {
    "metadata": _METADATA,
    "spec": _whole(
        "type clusterIP clusterIPs ipFamilies ipFamilyPolicy ports selector externalIPs externalName"
        " externalTrafficPolicy internalTrafficPolicy loadBalancerIP loadBalancerSourceRanges sessionAffinity"
    ),
    "status": True,
}
NETWORK_POLICY = {"metadata": _METADATA, "spec": True}
NAMESPACE = {"metadata": _METADATA, "status": {"phase": True}}


def manifest(text: str) -> str:
    """A static pod's file, line by line: values of variables that are not known to be harmless are cut."""
    lines: list[str] = []
    inside = -1  # indent of `env:`
    name = ""
    skip_below = -1
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if skip_below >= 0 and (not line.strip() or indent > skip_below):
            continue
        skip_below = -1
        if re.match(r"\s*(?:- )?env:\s*$", line):
            inside = line.index("env:")
        elif (
            inside >= 0
            and line.strip()
            and (indent < inside or (indent == inside and not line.lstrip().startswith("-")))
        ):
            inside = -1
        elif inside >= 0:
            named = re.match(r"\s*(?:- )?name:\s*[\"']?([\w.-]+)", line)
            name = named.group(1) if named else name
            valued = re.match(r"(\s*(?:- )?value:)(.*)", line)
            if valued and not _ENVIRONMENT.fullmatch(name):
                lines.append(f"{valued.group(1)} {REMOVED}")
                skip_below = line.index("value:")
                continue
        lines.append(line)
    return scrub("\n".join(lines) + ("\n" if lines else ""))
