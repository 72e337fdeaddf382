"""The fake driver in the cluster: deployed once for all scenarios and workers, as a user would deploy a real driver."""

import base64
import secrets
from collections.abc import Callable
from typing import Protocol

from filelock import FileLock

from harness.clusters.existing.cluster import ExistingCluster
from harness.clusters.existing.guest import Guest
from harness.clusters.kind import engine
from harness.clusters.protocol import Cluster, NotObservable
from harness.drivers import image, manifests
from harness.drivers.steering import Part, Steering
from harness.errors import InfrastructureError, UsageError
from harness.kube import Client, Obj
from harness.kube.polling import PollTimeout, poll

#: Seconds in which the Pods have to be there, their image being on the nodes.
_START = 120.0

#: On the driver's namespace where its owner lends it to every run.
LENT = "dra-e2e/lent"

_PLUGIN_PORT, _CONTROLLER_PORT = 9808, 9809


class ImageCluster(Cluster, Protocol):
    """A cluster that images can be brought to."""

    def load_image(self, reference: str) -> None:
        """Bring an image of the Docker engine to every node, so that Pods start it without a pull."""


class Deployment:
    """The driver's Pods: the controller, and a plugin on each node that takes Pods."""

    def __init__(self, client: Client, nodes: tuple[str, ...], token: str) -> None:
        steering = Steering(client, token)
        self.controller = steering.part("controller", _CONTROLLER_PORT)
        self.plugins: dict[str, Part] = {node: steering.part("plugin", _PLUGIN_PORT, node) for node in nodes}


def prepare(provider: str, reference: str | None, tell: image.Tell) -> None:
    """Have the image of the driver's Pods ready, before clusters wait for it. Raises as `image.choose`."""
    if provider == "kind":
        image.choose(engine.require().client(), reference, tell)


def ensure(cluster: ImageCluster | ExistingCluster, client: Client, reference: str | None = None) -> Deployment:
    """The driver's deployment; whoever comes first makes it, with the image `reference` or one of our own.

    Raises UsageError when there is no image, or another run's driver is there; InfrastructureError when its Pods do
    not come.
    """
    nodes = cluster.kubelet_nodes()
    if isinstance(cluster, ExistingCluster) and (lent := _lent(client)):
        return Deployment(client, nodes, lent)
    with FileLock(cluster.kubeconfig.parent / "driver.lock"):
        if isinstance(cluster, ExistingCluster):
            _claim(cluster, client)
        token = _token(client)
        if token is None or not _is_there(client):
            # The Pods that are there already know their token.
            token = token or secrets.token_urlsafe(32)
            _deploy(cluster, client, reference, token)
    return Deployment(client, nodes, token)


def _lent(client: Client) -> str | None:
    """The token of a driver that its owner lends to every run, None where there is none such.

    Raises UsageError for one that cannot be steered.
    """
    namespace = client.find("Namespace", manifests.NAMESPACE)
    if namespace is None or namespace["metadata"].get("labels", {}).get(LENT) != "true":
        return None
    token = _token(client)
    if token is None or not _is_there(client):
        raise UsageError(
            f"the driver in namespace {manifests.NAMESPACE} is lent ({LENT}=true), but its Pods are not there, or the "
            f"Secret {manifests.STEERING} is not: see docs/in-cluster.md"
        )
    return token


def _is_there(client: Client) -> bool:
    plugin = client.find("DaemonSet", "plugin", manifests.NAMESPACE)
    controller = client.find("Deployment", "controller", manifests.NAMESPACE)
    return bool(plugin and controller and _runs(plugin) and _runs(controller))


def _token(client: Client) -> str | None:
    found = client.find("Secret", manifests.STEERING, manifests.NAMESPACE)
    return base64.b64decode(found["data"]["token"]).decode() if found else None


def _deploy(cluster: ImageCluster | ExistingCluster, client: Client, reference: str | None, token: str) -> None:
    if isinstance(cluster, ExistingCluster):
        chosen = cluster.facts.driver_image
    else:
        chosen = image.choose(engine.require().client(), reference)
        cluster.load_image(chosen)
        client.apply(manifests.namespace())
    # Before the Pods: they read it when they start.
    client.apply(manifests.steering(token))
    try:
        for each in manifests.driver(chosen):
            client.apply(each)
    except NotObservable as error:
        raise _somebodys("a part of the fake driver") from error
    for kind, name in (("DaemonSet", "plugin"), ("Deployment", "controller")):
        _await(_read(client, kind, name), f"the driver's {name}", lambda: _trouble(client))


def _claim(cluster: ExistingCluster, client: Client) -> None:
    """Have the driver's namespace for this run alone. Raises UsageError when somebody else has it."""
    assert isinstance(client, Guest)
    holder = client.claim(manifests.namespace())
    if holder is None:
        raise _somebodys(f"namespace {manifests.NAMESPACE}")
    if holder != cluster.facts.run_id:
        raise UsageError(
            f"run {holder} has its driver on this cluster: let it end, or where it was killed, on another machine too: "
            "python -m harness reap --kubeconfig FILE"
        )


def _somebodys(what: str) -> UsageError:
    return UsageError(f"{what} is there and no run's: end that driver first (kubectl delete -k fake_driver/deploy)")


def _read(client: Client, kind: str, name: str) -> Callable[[], Obj]:
    return lambda: client.get(kind, name, manifests.NAMESPACE)


def _await(read: Callable[[], Obj], what: str, trouble: Callable[[], str]) -> None:
    try:
        poll(read, _runs, what, timeout=_START, interval=0.2)
    except PollTimeout as error:
        raise InfrastructureError(f"{what} does not run after {_START:g} s: {trouble()}") from error


def _runs(obj: Obj) -> bool:
    """Whether all Pods that a DaemonSet or Deployment wants are ready, and of its newest template."""
    status = obj.get("status", {})
    if status.get("observedGeneration") != obj["metadata"]["generation"]:
        return False
    if obj["kind"] == "DaemonSet":
        wanted, new = status.get("desiredNumberScheduled", 0), status.get("updatedNumberScheduled", 0)
        return bool(0 < wanted == new == status.get("numberReady", 0))
    wanted = obj["spec"]["replicas"]
    return bool(wanted == status.get("updatedReplicas", 0) == status.get("readyReplicas", 0))


def _trouble(client: Client) -> str:
    """What the Pods that are not ready wait for."""
    pods, _ = client.list("Pod", manifests.NAMESPACE)
    lines = []
    for pod in pods:
        for container in pod["status"].get("containerStatuses", ()):
            state = container["state"].get("waiting") or container["state"].get("terminated")
            if state:
                said = f"{state.get('reason', '')} {state.get('message', '')}".strip()
                lines.append(f"{pod['metadata']['name']}: {said}")
    return "; ".join(lines) or f"{len(pods)} Pods, none says why"
