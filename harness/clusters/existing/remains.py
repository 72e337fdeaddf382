"""Removing what runs have on somebody's cluster, known by its label and by nothing else."""

import base64
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from fake_driver.wire import TOKEN_HEADER
from harness.clusters.existing.facts import DRIVER_NAMESPACE, RUN_LABEL, Facts
from harness.clusters.existing.guest import OWN_DRIVER
from harness.clusters.run import Run
from harness.errors import HarnessError, InfrastructureError, UsageError
from harness.kube import ApiError, Client, Obj
from harness.kube.polling import PollTimeout, poll
from harness.kube.transport import Transport, connect

#: Seconds in which a namespace with its Pods has to be gone.
_GONE = 180.0

_CLUSTER_WIDE = (
    "DeviceTaintRule",
    "DeviceClass",
    "ResourceSlice",
    "ResourcePoolStatusRequest",
    "PriorityClass",
    "ClusterRoleBinding",
    "ClusterRole",
)

#: The ports of the driver's Pods (fake_driver/deploy), by the part that they are.
_PORTS = {"plugin": 9808, "controller": 9809}


class LeftBehindError(InfrastructureError):
    """Something of a run is still on somebody's cluster."""


def kubeconfig(directory: Path) -> Path:
    """Where the run's copy is, in the directory of a cluster."""
    return directory / "kubeconfig"


def remove_run(run: Run) -> None:
    """Remove all that a run has on existing clusters. Raises LeftBehindError with what to do then."""
    for file in run.directory.glob(f"*/{Facts.FILE}"):
        facts = Facts.read(file.parent)
        try:
            remove(Client(kubeconfig(file.parent), facts.release), run.id)
        except (HarnessError, ApiError, PollTimeout) as error:
            raise LeftBehindError(
                f"what run {run.id} has on its existing cluster ({RUN_LABEL}={run.id}) is still there: {error};"
                f" `python -m harness reap --kubeconfig FILE` does it later, and {run.directory} can be deleted then"
            ) from error


def remove(client: Client, run_id: str | None = None) -> list[str]:
    """Remove everything of a run, or of every run; returns what there was. Idempotent.

    Raises ApiError, PollTimeout when something does not go, and InfrastructureError without an API server.
    """
    label = RUN_LABEL if run_id is None else f"{RUN_LABEL}={run_id}"
    namespaces, _ = client.list("Namespace", label_selector=label)
    names = [each["metadata"]["name"] for each in namespaces]
    ours = [name for name in names if name != DRIVER_NAMESPACE]
    # First what uses devices, while the driver that unprepares them is there.
    _remove_namespaces(client, ours)
    found = [each for kind in _CLUSTER_WIDE for each in _labelled(client, kind, label)]
    drivers = {each["metadata"]["name"] for each in found if OWN_DRIVER.fullmatch(each["metadata"]["name"])}
    if DRIVER_NAMESPACE in names:
        _remove_driver(client, drivers)
    for each in found:
        client.delete(each, missing_ok=True)
    return [*(f"Namespace {name}" for name in names), *(f"{each['kind']} {each['metadata']['name']}" for each in found)]


def _labelled(client: Client, kind: str, label: str) -> Iterable[Obj]:
    try:
        return client.list(kind, label_selector=label)[0]
    except UsageError:  # its release has no such kind
        return ()
    except ApiError as error:
        if error.not_found:  # this cluster does not serve the kind
            return ()
        raise


def _remove_namespaces(client: Client, names: list[str]) -> None:
    for name in names:
        client.delete("Namespace", name, missing_ok=True)
    poll(
        lambda: [name for name in names if client.find("Namespace", name)],
        lambda left: not left,
        "namespaces gone",
        timeout=_GONE,
        interval=0.5,
    )


def _remove_driver(client: Client, drivers: Iterable[str]) -> None:
    """Let the driver's Pods forget all they serve, on their nodes, too; then they go, and their namespace at last."""
    slices = [each for each in client.list("ResourceSlice")[0] if OWN_DRIVER.fullmatch(each["spec"]["driver"])]
    with suppress(ApiError, InfrastructureError):  # Pods that are not well have nothing to be asked
        _withdraw(client, {*drivers, *(each["spec"]["driver"] for each in slices)})
    for kind in ("DaemonSet", "Deployment"):
        client.in_namespace(DRIVER_NAMESPACE).delete_collection(kind)
    _await_pods_gone(client)
    # The Pods carry no run's label onto slices; nobody but the owner of the namespace has drivers of such names.
    for each in slices:
        client.delete(each, missing_ok=True)
    _remove_namespaces(client, [DRIVER_NAMESPACE])


def _await_pods_gone(client: Client) -> None:
    poll(
        lambda: client.list("Pod", DRIVER_NAMESPACE)[0],
        lambda pods: not pods,
        "the driver's Pods gone",
        timeout=_GONE,
        interval=0.5,
    )


def _withdraw(client: Client, drivers: Iterable[str]) -> None:
    secret = client.find("Secret", "steering", DRIVER_NAMESPACE)
    if secret is None:
        return
    token = base64.b64decode(secret["data"]["token"]).decode()
    transport = Transport(connect(client.kubeconfig), {TOKEN_HEADER: token})
    for pod in client.list("Pod", DRIVER_NAMESPACE)[0]:
        port = _PORTS[pod["metadata"]["labels"]["part"]]
        for driver in drivers:
            name = pod["metadata"]["name"]
            path = f"/api/v1/namespaces/{DRIVER_NAMESPACE}/pods/{name}:{port}/proxy/drivers/{driver}"
            transport.request("DELETE", path, timeout=30)
