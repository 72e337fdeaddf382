"""What a run has in Docker: node containers with their volumes, and one network.

kind gives its containers one label, the cluster's name. All of a run are in the run's network, which is labelled by us.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from http import HTTPStatus

import docker
from docker.errors import APIError, DockerException, NotFound
from docker.models.containers import Container
from docker.models.networks import Network

from harness.clusters.kind.engine import Engine, find
from harness.clusters.run import Run, base_directory
from harness.errors import InfrastructureError
from harness.kube.polling import PollTimeout, poll

#: The label by which kind marks the containers of a cluster.
CLUSTER_LABEL = "io.x-k8s.kind.cluster"

_PREFIX = "dra-e2e"
_RUN_LABEL = "dra-e2e.run"
_BASE_LABEL = "dra-e2e.runs"  # the directory in which the run lies: so it tells whose the run is
_USED = "docker"  # the file in a run's directory that says that there may be something of it in Docker
_GONE = 180.0  # seconds in which a busy machine has removed the nodes of several clusters
_AT_ONCE = 8  # containers that are removed side by side: each takes Docker seconds, mostly of waiting


def network_name(run_id: str) -> str:
    """The run's own network."""
    return f"{_PREFIX}-{run_id}"


def ensure_network(engine: Engine, run: Run) -> None:
    """The run's network, made when missing. The caller holds a lock: Docker allows two of one name."""
    (run.directory / _USED).touch()
    client = engine.client()
    if not _networks(client, run.id):
        labels = {_RUN_LABEL: run.id, _BASE_LABEL: str(base_directory())}
        client.networks.create(network_name(run.id), driver="bridge", labels=labels)


def containers(engine: Engine, kind_name: str) -> list[Container]:
    """The node containers of a cluster, running or not."""
    return list(engine.client().containers.list(all=True, filters={"label": f"{CLUSTER_LABEL}={kind_name}"}))


def clusters(engine: Engine) -> list[str]:
    """The names of all clusters of the harness, whoever's, by which kind knows them."""
    client = engine.client()
    networks = [str(network.name) for network in client.networks.list(filters={"label": _RUN_LABEL})]
    # An empty filter would be none at all.
    found = client.containers.list(all=True, sparse=True, filters={"network": networks}) if networks else []
    return sorted({str(each.attrs["Labels"].get(CLUSTER_LABEL, each.attrs["Names"][0])) for each in found})


def kill(engine: Engine, container: str) -> None:
    """End a container at once; returns when it does not run any more."""
    _tried(f"Docker cannot stop {container}", lambda: _killed(engine.client().containers.get(container)))


def start(engine: Engine, container: str) -> None:
    """Start a container that has ended."""
    _tried(f"Docker cannot start {container}", lambda: engine.client().containers.get(container).start())


def remove_cluster(engine: Engine, kind_name: str) -> None:
    """Remove a cluster's containers with their volumes; returns when none is left. Idempotent."""
    _remove_containers(engine.client(), {"label": f"{CLUSTER_LABEL}={kind_name}"})


def remove_run(run: Run) -> None:
    """Remove everything of a run in Docker. Where no engine answers it stays, for `remove_orphans`."""
    engine = find() if (run.directory / _USED).exists() else None
    if engine is not None:
        _remove(engine.client(), run.id)


def remove_orphans() -> list[str]:
    """Remove what is there of runs of this user that are themselves gone, because no engine answered then."""
    engine = find()
    if engine is None:
        return []
    client = engine.client()
    ours = client.networks.list(filters={"label": f"{_BASE_LABEL}={base_directory()}"})
    ids = sorted({str(network.attrs["Labels"][_RUN_LABEL]) for network in ours})
    orphans = [run_id for run_id in ids if not (base_directory() / run_id).exists()]
    for run_id in orphans:
        _remove(client, run_id)
    return orphans


def _tried(trouble: str, act: Callable[[], object]) -> None:
    try:
        act()
    except DockerException as error:
        raise InfrastructureError(f"{trouble}: {error}") from error


def _killed(container: Container) -> None:
    container.kill()
    container.wait(timeout=_GONE)


def _remove(client: docker.DockerClient, run_id: str) -> None:
    _remove_containers(client, {"network": network_name(run_id)})
    try:
        for network in _networks(client, run_id):
            with suppress(NotFound):
                network.remove()
    except DockerException as error:
        raise InfrastructureError(f"Docker network {network_name(run_id)} cannot be removed: {error}") from error


def _networks(client: docker.DockerClient, run_id: str) -> list[Network]:
    return list(client.networks.list(filters={"label": f"{_RUN_LABEL}={run_id}"}))


def _remove_containers(client: docker.DockerClient, ours: Mapping[str, str]) -> None:
    """Again until the filter finds none: kind, killed a moment ago, may have asked for one more."""
    try:
        poll(partial(_remove_once, client, ours), lambda left: not left, "no container is left", timeout=_GONE)
    except (PollTimeout, DockerException) as error:
        raise InfrastructureError(f"Docker cannot remove the containers of a cluster: {error}") from error


def _remove_once(client: docker.DockerClient, ours: Mapping[str, str]) -> list[str]:
    """Ask for the removal of all of ours; returns the ids of those there were."""
    found = client.containers.list(all=True, sparse=True, filters=dict(ours))
    with ThreadPoolExecutor(_AT_ONCE) as removers:
        list(removers.map(_remove_container, found))
    return [str(container.id) for container in found]


def _remove_container(container: Container) -> None:
    try:
        container.remove(force=True, v=True)
    except NotFound:
        pass
    except APIError as error:
        if error.status_code != HTTPStatus.CONFLICT:  # somebody else removes it at the same time
            raise
