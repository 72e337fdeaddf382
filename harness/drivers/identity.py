"""Who the fake driver is to the API server, with no more rights than a real driver needs."""

from pathlib import Path

from filelock import FileLock

from harness.clusters.local.cluster import LocalCluster
from harness.errors import InfrastructureError
from harness.kube import Client, Obj
from harness.kube.polling import PollTimeout, poll
from harness.kube.rights import may

#: The user as whom every fake driver of a cluster speaks.
USER = "dra-e2e:fake-driver"

_NAME = USER.replace(":", "-")
_RBAC = "rbac.authorization.k8s.io"

_ROLE: Obj = {
    "kind": "ClusterRole",
    "metadata": {"name": _NAME},
    "rules": [
        {
            "apiGroups": ["resource.k8s.io"],
            "resources": ["resourceslices"],
            "verbs": ["get", "list", "watch", "create", "update", "patch", "delete"],
        },
        {"apiGroups": ["resource.k8s.io"], "resources": ["resourceclaims"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["resource.k8s.io"], "resources": ["resourceclaims/status"], "verbs": ["patch"]},
        # From 1.36 on: the devices in a claim's status, on whichever node. A real driver has its own name in
        # `resourceNames`; this identity speaks for many.
        {"apiGroups": ["resource.k8s.io"], "resources": ["resourceclaims/driver"], "verbs": ["arbitrary-node:patch"]},
    ],
}

_BINDING: Obj = {
    "kind": "ClusterRoleBinding",
    "metadata": {"name": _NAME},
    "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": _NAME},
    "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": USER}],
}


def authorize(client: Client) -> None:
    """Let the driver publish slices, follow claims and report on devices in them.

    Applying is idempotent: several workers may do it at once. The rights are in force when this returns.
    Raises InfrastructureError when they do not come into force.
    """
    client.apply(_ROLE)
    client.apply(_BINDING)
    driver = client.as_user(USER)
    try:
        # A role becomes known as a whole.
        poll(
            lambda: may(driver, "list", "resourceslices", group="resource.k8s.io"),
            bool,
            f"the API server knows the rights of {USER}",
            timeout=30,
        )
    except PollTimeout as error:
        raise InfrastructureError(str(error)) from error


def kubeconfig(cluster: LocalCluster, client: Client) -> Path:
    """The driver's own kubeconfig, with its rights granted; several workers may ask at once."""
    authorize(client)
    with FileLock(cluster.directory / "driver-identity.lock"):
        return cluster.identity(USER)
