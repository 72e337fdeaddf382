"""Node objects without a kubelet, kept Ready by kwok."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from harness.clusters.protocol import BareNode
from harness.clusters.started.endpoint import Endpoint

_ANNOTATION = {"kwok.x-k8s.io/node": "fake"}
#: The Kubernetes user as whom kwok acts.
USER = "dra-e2e:kwok"
_READ, _READ_WRITE = ["get", "list", "watch"], ["get", "list", "watch", "create", "update", "patch", "delete"]
_RULES = [
    {"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": _READ_WRITE},
    {"apiGroups": [""], "resources": ["nodes/status", "pods/status"], "verbs": ["update", "patch"]},
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": _READ_WRITE},
    {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
    {"apiGroups": [""], "resources": ["configmaps", "secrets"], "verbs": _READ},
]
_WRITERS = 16


def command(program: Path, kubeconfig: Path) -> list[str]:
    """kwok's command line: only nodes with our annotation, no server of its own."""
    selector = ",".join(f"{key}={value}" for key, value in _ANNOTATION.items())
    return [
        str(program),
        f"--kubeconfig={kubeconfig}",
        "--config=/dev/null",
        "--manage-all-nodes=false",
        f"--manage-nodes-with-annotation-selector={selector}",
        "--node-lease-duration-seconds=40",
        "--node-ip=127.0.0.1",
        "--cidr=10.128.0.0/14",
        "--server-address=",
    ]


def authorize(apiserver: Endpoint) -> None:
    """Give kwok's user what it needs, and no more."""
    rbac, group = "/apis/rbac.authorization.k8s.io/v1", "rbac.authorization.k8s.io"
    role = {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": {"name": USER}, "rules": _RULES}
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": USER},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": USER},
        "subjects": [{"apiGroup": group, "kind": "User", "name": USER}],
    }
    apiserver.post(f"{rbac}/clusterroles", role)
    apiserver.post(f"{rbac}/clusterrolebindings", binding)


def create(apiserver: Endpoint, nodes: Sequence[BareNode]) -> None:
    """Create the Node objects, already Ready: kwok has only to keep them so."""
    with ThreadPoolExecutor(_WRITERS) as writers:
        list(writers.map(lambda node: apiserver.post("/api/v1/nodes", manifest(node)), nodes))


def delete(apiserver: Endpoint, names: Sequence[str]) -> None:
    """Delete the Node objects and their heartbeats."""
    leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
    paths = [path for name in names for path in (f"/api/v1/nodes/{name}", f"{leases}/{name}")]
    with ThreadPoolExecutor(_WRITERS) as writers:
        list(writers.map(apiserver.delete, paths))


def manifest(node: BareNode) -> dict[str, Any]:
    """The Node object."""
    labels = {"kubernetes.io/hostname": node.name, "kubernetes.io/os": "linux", **node.labels}
    condition = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kwok keeps this node"}
    status: dict[str, Any] = {
        "capacity": dict(node.capacity),
        "allocatable": dict(node.capacity),
        "conditions": [condition],
    }
    if node.declared_features:
        status["declaredFeatures"] = sorted(node.declared_features)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": node.name, "labels": labels, "annotations": dict(_ANNOTATION)},
        "spec": {"taints": [dict(taint) for taint in node.taints]},
        "status": status,
    }
