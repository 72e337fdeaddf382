"""Starting a local cluster."""

import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.clusters.local.cluster import LocalCluster
from harness.clusters.local.components import Components
from harness.clusters.local.control_plane import Ports
from harness.clusters.local.facts import Facts
from harness.clusters.local.kubelet import Node, namespace_command
from harness.clusters.local.ports import free_ports
from harness.clusters.resolution import Resolution
from harness.errors import InfrastructureError
from harness.releases import Release

_DEFAULT_SCHEDULER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
_TAKEN = "address already in use"


@dataclass(frozen=True)
class Order:
    """What shall be started."""

    name: str
    run_id: str
    release: Release
    resolution: Resolution
    programs: Mapping[str, Path]
    """Executables of PROGRAMS by name."""
    args: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The user's own further flags by component."""


def launch(order: Order, directory: Path) -> LocalCluster:
    """Start a cluster in a directory that does not exist yet; returns when it takes Pods on every node.

    Without the right to a mount namespace (see `namespace_command`) it has no kubelets. Raises InfrastructureError
    with the failing component's own last words; then, as on any other exception, nothing of it runs on.
    """
    components = _attempt(order, directory, _start)
    components.facts.write(directory)
    return LocalCluster(directory, components.facts)


def floor(order: Order, directory: Path) -> float:
    """Seconds from nothing to a ready etcd and kube-apiserver with the flags of a whole cluster; leaves nothing.

    No start can be faster.
    """
    started = time.monotonic()
    bare = replace(order, resolution=replace(order.resolution, workers=()))
    components = _attempt(bare, directory, _start_api)
    seconds = time.monotonic() - started
    components.kill()
    shutil.rmtree(directory)
    return seconds


def _attempt(order: Order, directory: Path, start: Callable[[Components], None]) -> Components:
    try:
        return _attempt_once(order, directory, start)
    except InfrastructureError as error:
        if _TAKEN not in str(error):
            raise
    print(f"dra-e2e: {order.name}: a port was taken between probe and start, once more with others", file=sys.stderr)
    shutil.rmtree(directory)
    return _attempt_once(order, directory, start)


def _attempt_once(order: Order, directory: Path, start: Callable[[Components], None]) -> Components:
    components = _components(order, directory)
    try:
        start(components)
    except BaseException:
        components.kill()
        raise
    return components


def _components(order: Order, directory: Path) -> Components:
    workers = order.resolution.workers if namespace_command() else ()
    ports = free_ports(5 + len(workers))
    nodes = [Node(f"worker-{number}", f"n{number}", port) for number, port in enumerate(ports[5:], 1)]
    programs = {name: str(path) for name, path in order.programs.items()}
    facts = Facts(
        name=order.name,
        run_id=order.run_id,
        release_name=order.release.name,
        programs=programs,
        resolution=order.resolution,
        args=order.args,
        ports=Ports(*ports[:5]),
        nodes=nodes,
    )
    return Components(directory, facts)


def _start_api(components: Components) -> None:
    components.control_plane.prepare()
    components.spawn("etcd")
    components.spawn("kube-apiserver")
    if components.kubelets:
        components.spawn_runtime()
    components.await_healthy("kube-apiserver", beside=["etcd"])


def _start(components: Components) -> None:
    _start_api(components)
    # The others would ask in vain before, wait a while, and the while is longer than their own start.
    components.control_plane.write_scheduler_configuration(components.facts.resolution.scheduler or _DEFAULT_SCHEDULER)
    components.spawn("kube-scheduler")
    for node in components.kubelets:
        components.spawn("kubelet", node)
    nodes = list(components.kubelets)
    programs = ["cri", *(components.name("kubelet", node) for node in nodes)]
    # The node lifecycle controller looks every five seconds for nodes that are not Ready. Should it see one before
    # its kubelet has become so, it taints it, and only its next look takes that back: so it comes last.
    components.await_nodes(nodes, programs, untainted=False)
    components.spawn("kube-controller-manager")
    components.await_healthy("kube-controller-manager")
    components.await_healthy("kube-scheduler")
    components.await_nodes(nodes, programs)
