"""The components of a cluster: how each is called, stopped, started and asked for its health."""

import signal
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.clusters.protocol import Component
from harness.clusters.started import process
from harness.clusters.started.endpoint import Endpoint
from harness.clusters.started.facts import Extras, Facts
from harness.clusters.started.process import Process
from harness.errors import UsageError

CONTROL_PLANE: tuple[Component, ...] = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")


class Components(ABC):
    """The components of the cluster in a directory, whichever process of the run started them."""

    def __init__(self, directory: Path, facts: Facts) -> None:
        self.directory = directory
        self.facts = facts

    @property
    @abstractmethod
    def apiserver(self) -> Endpoint:
        """The API server as the administrator."""

    @property
    @abstractmethod
    def nodes(self) -> tuple[str, ...]:
        """Names of all nodes with a kubelet, that of the control plane first."""

    def node(self, node: str | None) -> str:
        """The node itself; raises UsageError where it has none of our kubelets."""
        if node is None or node not in self.nodes:
            known = ", ".join(self.nodes) or "none"
            raise UsageError(f"cluster {self.facts.name} has no kubelet on node {node!r}; it has: {known}")
        return node

    def name(self, component: str, node: str | None = None) -> str:
        """The name of its log, record and extras. Raises UsageError for a component or node that is not there."""
        if component not in (*CONTROL_PLANE, "kubelet"):
            raise UsageError(f"unknown component {component!r}; choose one of {', '.join(CONTROL_PLANE)}, kubelet")
        return component if component != "kubelet" else f"kubelet-{self.node(node)}"

    def every(self) -> list[tuple[Component, str | None]]:
        """All of them, each with its node where it is a kubelet."""
        return [*((component, None) for component in CONTROL_PLANE), *(("kubelet", node) for node in self.nodes)]

    def extras(self, component: Component, node: str | None = None) -> Extras:
        """The gates and flags that it has beside those of the cluster's start."""
        return Extras.read(self.directory, self.name(component, node))

    def rewrite(self, component: Component, node: str | None, extras: Extras) -> None:
        """Give it, stopped, these gates and flags beside those of the cluster's start."""
        extras.write(self.directory, self.name(component, node))

    @abstractmethod
    def stop(self, component: Component, node: str | None = None) -> None:
        """Stop it and return when it is gone."""

    @abstractmethod
    def start(self, component: Component, node: str | None = None) -> None:
        """Start it, unless it runs already, and return when it is healthy."""

    @abstractmethod
    def signal(self, component: Component, number: signal.Signals, node: str | None = None) -> None:
        """Send a signal to its process, if it runs; returns after SIGKILL when that is gone."""

    @abstractmethod
    def is_running(self, component: Component, node: str | None = None) -> bool:
        """Whether it is meant to run; says nothing about its health."""

    @abstractmethod
    def is_healthy(self, component: Component, node: str | None = None) -> bool:
        """Whether it runs and says that it is well, right now."""

    @abstractmethod
    def await_healthy(self, component: Component, node: str | None = None) -> None:
        """Return when it is healthy; raises InfrastructureError with its own words when it ends, or too late."""

    @abstractmethod
    def await_nodes(self, names: Sequence[str]) -> None:
        """Return when all nodes are Ready and free of taints that keep Pods away; InfrastructureError when too late."""

    @abstractmethod
    def log(self, component: Component, node: str | None = None) -> str:
        """Its log so far, over all its restarts, as far as it is kept."""

    @abstractmethod
    def metrics(self, component: Component, node: str | None = None) -> str:
        """Its /metrics page."""

    def processes(self, names: Iterable[str]) -> list[Process]:
        """The processes of this host that were started under these names."""
        return [found for found in (process.find(self.directory, name) for name in names) if found]

    def kill(self) -> None:
        """End all of the cluster at once: nobody needs what it would still write. Idempotent."""
        for running in self.processes(record.stem for record in (self.directory / "processes").glob("*.json")):
            running.stop(grace=0)


def nodes_ready(apiserver: Endpoint, names: Iterable[str], *, untainted: bool = True) -> bool:
    """Whether all these nodes are Ready and, where asked, free of the controllers' taints that keep Pods away."""
    nodes = apiserver.get("/api/v1/nodes?resourceVersion=0")["items"]  # from the cache: asked often, may be late
    ready = {node["metadata"]["name"] for node in nodes if _is_ready(node) and not (untainted and _is_tainted(node))}
    return set(names) <= ready


def _is_ready(node: Mapping[str, Any]) -> bool:
    return any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", ()))


def _is_tainted(node: Mapping[str, Any]) -> bool:
    return any(taint["key"].startswith("node.kubernetes.io/") for taint in node["spec"].get("taints", ()))
