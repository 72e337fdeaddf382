"""What a cluster consists of: namespaces, nodes, permissions."""

from collections.abc import Mapping, Sequence

from harness.kube.builders.meta import built, given, quantities
from harness.kube.resources import Obj


def namespace(name: str, *, labels: Mapping[str, str] | None = None) -> Obj:
    """A Namespace."""
    return built("Namespace", name, labels=labels)


def node(
    name: str, *, capacity: Mapping[str, str | int] | None = None, labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None, taints: Sequence[Obj] = (),
) -> Obj:  # fmt: skip
    """A Node object; its status goes in with the creation (nothing there makes or keeps it Ready)."""
    amounts = quantities(capacity or {"cpu": 32, "memory": "256Gi", "pods": 110})
    return built(
        "Node",
        name,
        labels={"kubernetes.io/hostname": name, **(labels or {})},
        annotations=annotations,
        **given(spec=given(taints=list(taints))),
        status={"capacity": amounts, "allocatable": amounts},
    )


def rule(group: str, resources: Sequence[str], verbs: Sequence[str], names: Sequence[str] = ()) -> Obj:
    """One rule of a role."""
    return given(apiGroups=[group], resources=list(resources), verbs=list(verbs), resourceNames=list(names))


def service_account(name: str, *, namespace: str | None = None) -> Obj:
    """A ServiceAccount."""
    return built("ServiceAccount", name, namespace=namespace)


def cluster_role(name: str, *rules: Obj, labels: Mapping[str, str] | None = None) -> Obj:
    """A ClusterRole."""
    return built("ClusterRole", name, labels=labels, rules=list(rules))


def cluster_role_binding(name: str, role: str, *users: str, labels: Mapping[str, str] | None = None) -> Obj:
    """Grants a ClusterRole to users by name (`system:serviceaccount:NS:NAME` for a service account)."""
    group = "rbac.authorization.k8s.io"
    subjects = [{"apiGroup": group, "kind": "User", "name": user} for user in users]
    return built("ClusterRoleBinding", name, labels=labels, subjects=subjects,
                 roleRef={"apiGroup": group, "kind": "ClusterRole", "name": role})  # fmt: skip
