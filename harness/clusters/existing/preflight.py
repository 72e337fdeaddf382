"""What the cluster has and what we may do there, asked before anything is made."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harness import releases
from harness.clusters.existing.facts import DRIVER_NAMESPACE, RUN_LABEL, Facts
from harness.clusters.existing.target import Target
from harness.clusters.kind.node_image import SHELL
from harness.errors import InfrastructureError, UsageError
from harness.kube import ApiError, Client, metrics
from harness.kube.rights import may
from harness.releases import Release

#: What Pods run where the nodes do not have the image of our own clusters: any registry mirror has it.
PUBLIC_SHELL = "busybox:1.37"

#: The image of the fake driver, as `make driver-image` names it.
DRIVER_IMAGE = "dra-e2e.local/fake-driver:1"

#: The runtime of the embedded clusters (harness.clusters.local.cri), in which no program runs.
PRETENDED = "dra-e2e-pretend"


@dataclass(frozen=True)
class Right:
    """A verb on a resource in every namespace."""

    verb: str
    group: str
    resource: str

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}"


_RESOURCE = "resource.k8s.io"

#: Without these nothing can be tried.
NEEDED = (
    Right("create", "", "namespaces"),
    Right("delete", "", "namespaces"),
    Right("create", "", "pods"),
    Right("list", "", "nodes"),
    Right("create", _RESOURCE, "resourceclaims"),
    Right("list", _RESOURCE, "resourceslices"),
    Right("create", _RESOURCE, "deviceclasses"),
    Right("delete", _RESOURCE, "deviceclasses"),
    Right("create", _RESOURCE, "resourceslices"),
    Right("delete", _RESOURCE, "resourceslices"),
)

#: What the driver's Pods take beside.
FOR_DRIVER_PODS = (
    Right("create", "apps", "daemonsets"),
    Right("create", "", "pods/proxy"),
    Right("create", "rbac.authorization.k8s.io", "clusterroles"),
)

#: Without these some statements cannot be tried; the API server's refusal is their reason.
WISHED = (
    Right("create", _RESOURCE, "devicetaintrules"),
    Right("create", "scheduling.k8s.io", "priorityclasses"),
    Right("create", "scheduling.k8s.io", "podgroups"),
)


def release_of(client: Client) -> tuple[Release, str]:
    """The release and exact version of the cluster. Raises UsageError for one that is not known here."""
    try:
        version = client.raw("GET", "/version")
    except ApiError as error:
        raise UsageError(f"the API server refuses the user of this kubeconfig: {error.message}") from error
    exact = str(version["gitVersion"])
    minor = f"{version['major']}.{str(version['minor']).rstrip('+')}"
    if minor not in releases.supported():
        raise UsageError(f"the cluster runs {exact}; known here are {', '.join(releases.supported())}")
    return releases.get(minor), exact


def look(client: Client, target: Target, name: str, run_id: str) -> Facts:
    """Ask the cluster. Raises UsageError when nothing could be tried there, InfrastructureError without an answer."""
    release, exact = release_of(client)
    try:
        return _look(client, target, name, run_id, release, exact)
    except ApiError as error:
        raise InfrastructureError(f"context {target.context}: {error}") from error


def _look(client: Client, target: Target, name: str, run_id: str, release: Release, exact: str) -> Facts:
    if missing := _refused(client, NEEDED):
        raise UsageError(f"context {target.context}: this user may not {', '.join(missing)} in the whole cluster")
    served = _served(client)
    if f"{_RESOURCE}/v1" not in served:
        raise UsageError(f"context {target.context}: {exact} serves no {_RESOURCE}/v1: DRA is off there")
    items, _ = client.list("Node")
    nodes = [node for node in items if takes_pods(node)]
    if not nodes:
        raise UsageError(f"context {target.context}: no node is Ready and takes Pods")
    gates = _gates(client)
    how, told = _driver(client, target, nodes)
    notes = [
        f"context {target.context}: Kubernetes {exact}, {len(nodes)} of {len(items)} nodes take Pods; what is made "
        f"there carries the label {RUN_LABEL} and is removed at the end",
        *told,
    ]
    if not gates:
        notes.append("its API server may not be asked for feature gates: a gate that is off shows in what is refused")
    if missing := _refused(client, WISHED):
        notes.append(f"this user may not {', '.join(missing)}: statements about them cannot hold")
    return Facts(
        name=name,
        run_id=run_id,
        release_name=release.minor,
        nodes=sorted(node["metadata"]["name"] for node in nodes),
        image=SHELL if _have(nodes, SHELL) or _pretended(nodes) else PUBLIC_SHELL,
        driver=how,
        driver_image=target.driver_image or DRIVER_IMAGE,
        gates=gates,
        served=served,
        notes=notes,
    )


def _driver(
    client: Client, target: Target, nodes: Sequence[Mapping[str, Any]]
) -> tuple[Literal["pods", "api", "own"], list[str]]:
    """How there can be a driver, and why not in Pods."""
    if target.driver:
        _check_driver(client, target)
        return "own", [f"the driver is {target.driver}, by its class {target.device_class}; it is not steered"]
    if _pretended(nodes):
        obstacle = "its nodes only pretend containers"
    elif missing := _refused(client, FOR_DRIVER_PODS):
        obstacle = f"this user may not {', '.join(missing)}"
    elif not target.driver_image and not _have(nodes, DRIVER_IMAGE):
        obstacle = (
            f"its nodes have no image {DRIVER_IMAGE}: bring it there (make driver-image; kind load docker-image …) or "
            "name one that they can pull with --driver-image"
        )
    else:
        return "pods", [f"the fake driver runs in Pods of namespace {DRIVER_NAMESPACE}"]
    return "api", [f"the fake driver is only published, and what needs a kubelet is not observable here: {obstacle}"]


def _check_driver(client: Client, target: Target) -> None:
    """Raises UsageError where the cluster has no such driver, or no such class."""
    drivers = {each["spec"]["driver"] for each in client.list("ResourceSlice")[0]}
    classes = {each["metadata"]["name"] for each in client.list("DeviceClass")[0]}
    for what, name, known in (("driver", target.driver, drivers), ("DeviceClass", target.device_class, classes)):
        if name not in known:
            there = ", ".join(sorted(known)) or "none"
            raise UsageError(f"context {target.context}: the cluster has no {what} {name}, but {there}")


def takes_pods(node: Mapping[str, Any]) -> bool:
    """Whether an ordinary Pod for Linux can be put there."""
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in node["status"].get("conditions", ()))
    spec = node["spec"]
    kept_free = any(taint["effect"] in ("NoSchedule", "NoExecute") for taint in spec.get("taints", ()))
    linux = node["status"]["nodeInfo"]["operatingSystem"] in ("linux", "")
    return ready and linux and not kept_free and not spec.get("unschedulable")


def _pretended(nodes: Iterable[Mapping[str, Any]]) -> bool:
    return any(node["status"]["nodeInfo"]["containerRuntimeVersion"].startswith(PRETENDED) for node in nodes)


def _have(nodes: Iterable[Mapping[str, Any]], image: str) -> bool:
    """Whether every node says that it has the image."""
    return all(any(image in each.get("names", ()) for each in node["status"].get("images", ())) for node in nodes)


def _refused(client: Client, rights: Iterable[Right]) -> list[str]:
    return [str(right) for right in rights if not may(client, right.verb, right.resource, group=right.group)]


def _served(client: Client) -> list[str]:
    groups = client.raw("GET", "/apis")["groups"]
    return [version["groupVersion"] for group in groups for version in group["versions"]]


def _gates(client: Client) -> dict[str, bool]:
    try:
        page = client.raw("GET", "/metrics")
    except ApiError:
        return {}
    found = metrics.series(page, "kubernetes_feature_enabled")
    return {sample.labels["name"]: sample.value == 1 for sample in found}
