"""Where each kind lives in the API: group, version, plural, scope."""

from dataclasses import dataclass
from typing import Any, Protocol

#: An API object as the API server sends and takes it.
Obj = dict[str, Any]


class Release(Protocol):
    """What the client wants to know of a release (harness.releases.Release is one)."""

    def api_version(self, kind: str) -> str | None:
        """The API version in which the release's own components use the kind, None if it has no such kind."""

    def has(self, feature: str) -> bool:
        """Whether an API field has the shape that the name stands for."""


@dataclass(frozen=True)
class Resource:
    """One row of the API: `api_version` is the newest known one; where `moves`, each release has its own."""

    kind: str
    plural: str
    api_version: str
    namespaced: bool = True
    moves: bool = False

    def path(self, api_version: str | None = None, namespace: str | None = None, name: str | None = None) -> str:
        """The URL path of one object, or of the collection without a name (of all namespaces without a namespace)."""
        version = api_version or self.api_version
        parts = ["", "apis" if "/" in version else "api", version]
        if self.namespaced and namespace:
            parts += ["namespaces", namespace]
        parts.append(self.plural)
        if name:
            parts.append(name)
        return "/".join(parts)


_RESOURCE = "resource.k8s.io/v1"
_ADMISSION = "admissionregistration.k8s.io/v1"
_RBAC = "rbac.authorization.k8s.io/v1"

_TABLE = (
    Resource("Binding", "bindings", "v1"),
    Resource("ConfigMap", "configmaps", "v1"),
    Resource("Event", "events", "v1"),
    Resource("Namespace", "namespaces", "v1", namespaced=False),
    Resource("Node", "nodes", "v1", namespaced=False),
    Resource("Pod", "pods", "v1"),
    Resource("ResourceQuota", "resourcequotas", "v1"),
    Resource("Secret", "secrets", "v1"),
    Resource("Service", "services", "v1"),
    Resource("ServiceAccount", "serviceaccounts", "v1"),
    Resource("DaemonSet", "daemonsets", "apps/v1"),
    Resource("Deployment", "deployments", "apps/v1"),
    Resource("ReplicaSet", "replicasets", "apps/v1"),
    Resource("StatefulSet", "statefulsets", "apps/v1"),
    Resource("Job", "jobs", "batch/v1"),
    Resource("PodDisruptionBudget", "poddisruptionbudgets", "policy/v1"),
    Resource("Lease", "leases", "coordination.k8s.io/v1"),
    Resource("CSINode", "csinodes", "storage.k8s.io/v1", namespaced=False),
    Resource("StorageClass", "storageclasses", "storage.k8s.io/v1", namespaced=False),
    Resource("Role", "roles", _RBAC),
    Resource("RoleBinding", "rolebindings", _RBAC),
    Resource("ClusterRole", "clusterroles", _RBAC, namespaced=False),
    Resource("ClusterRoleBinding", "clusterrolebindings", _RBAC, namespaced=False),
    Resource("ValidatingAdmissionPolicy", "validatingadmissionpolicies", _ADMISSION, namespaced=False),
    Resource("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", _ADMISSION, namespaced=False),
    Resource("MutatingAdmissionPolicy", "mutatingadmissionpolicies", _ADMISSION, namespaced=False, moves=True),
    Resource(
        "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", _ADMISSION, namespaced=False, moves=True
    ),
    Resource("DeviceClass", "deviceclasses", _RESOURCE, namespaced=False, moves=True),
    Resource("ResourceClaim", "resourceclaims", _RESOURCE, moves=True),
    Resource("ResourceClaimTemplate", "resourceclaimtemplates", _RESOURCE, moves=True),
    Resource("ResourceSlice", "resourceslices", _RESOURCE, namespaced=False, moves=True),
    Resource("DeviceTaintRule", "devicetaintrules", _RESOURCE, namespaced=False, moves=True),
    Resource(
        "ResourcePoolStatusRequest",
        "resourcepoolstatusrequests",
        "resource.k8s.io/v1alpha3",
        namespaced=False,
        moves=True,
    ),
    Resource("PriorityClass", "priorityclasses", "scheduling.k8s.io/v1", namespaced=False),
    Resource("Workload", "workloads", "scheduling.k8s.io/v1beta1", moves=True),
    Resource("PodGroup", "podgroups", "scheduling.k8s.io/v1beta1", moves=True),
    Resource("CompositePodGroup", "compositepodgroups", "scheduling.k8s.io/v1alpha3", moves=True),
)

_BY_KIND = {row.kind: row for row in _TABLE}


def resource(kind: str) -> Resource:
    """The row of a kind. Raises ValueError for a kind that the table lacks."""
    try:
        return _BY_KIND[kind]
    except KeyError:
        raise ValueError(f"kind {kind!r} is not in harness.kube.resources: add a row for it") from None


def reference(obj: Obj) -> str:
    """`Pod ns/name`, as messages name an object."""
    meta = obj.get("metadata", {})
    name = meta.get("name") or f"{meta.get('generateName', '')}*"
    namespace = meta.get("namespace")
    return f"{obj.get('kind', 'object')} {namespace}/{name}" if namespace else f"{obj.get('kind', 'object')} {name}"
