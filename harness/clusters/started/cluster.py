"""What a scenario may do with a cluster that the run started, whichever provider did."""

import shutil
import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from filelock import FileLock

from harness.clusters.known import KnownCluster
from harness.clusters.protocol import BareNode, Component
from harness.clusters.started import kwok, process
from harness.clusters.started.components import Components, nodes_ready
from harness.clusters.started.endpoint import Endpoint
from harness.clusters.started.facts import Extras, Facts
from harness.errors import InfrastructureError


class StartedCluster(KnownCluster, ABC):
    """The part of harness.clusters.protocol.Cluster, and of what the pool asks, that is the same for every provider.

    It implements harness.clusters.signals.Signals, too.
    """

    facts: Facts
    _components: Components

    def __init__(self, directory: Path, facts: Facts, components: Components) -> None:
        super().__init__(directory, facts)
        self._components = components

    @property
    def apiserver(self) -> Endpoint:
        """The API server as the administrator."""
        return self._components.apiserver

    @abstractmethod
    def kubelet_nodes(self) -> tuple[str, ...]:
        """Names of the nodes that run a kubelet and take Pods, sorted."""

    @abstractmethod
    def identity(self, user: str, groups: Sequence[str] = ()) -> Path:
        """A kubeconfig (0600) for a user of the cluster; whoever asks grants it what it needs by RBAC."""

    def add_bare_nodes(self, nodes: Sequence[BareNode]) -> None:
        """Create the nodes and wait until all are Ready and take Pods."""
        with FileLock(self.directory / "kwok.lock"):
            if not any(found.alive() for found in self._components.processes(["kwok"])):
                self._start_kwok()
        kwok.create(self.apiserver, nodes)
        self._components.await_nodes([node.name for node in nodes])

    def remove_bare_nodes(self, names: Sequence[str]) -> None:
        """Delete the nodes and what keeps them alive."""
        kwok.delete(self.apiserver, names)

    def stop(self, component: Component, node: str | None = None) -> None:
        """Stop a component (a kubelet: of that node) and return when it is gone."""
        self._components.stop(component, node)

    def start(self, component: Component, node: str | None = None) -> None:
        """Start a stopped component and return when it is healthy."""
        self._components.start(component, node)
        if component == "etcd" and self._components.is_running("kube-apiserver"):
            self._components.await_healthy("kube-apiserver")  # it needs a moment to find its store again

    def signal(self, component: Component, number: signal.Signals, node: str | None = None) -> None:
        """Send a signal to a component's process."""
        self._components.signal(component, number, node)

    def restart(
        self,
        component: Component,
        node: str | None = None,
        *,
        gates: Mapping[str, bool] | None = None,
        args: Sequence[str] | None = None,
    ) -> None:
        """Stop and start; `gates` and `args`, where given, replace the extra ones of an earlier restart."""
        old = self._components.extras(component, node)
        new = old.replaced(gates, args)
        self.stop(component, node)
        if new != old:
            self._components.rewrite(component, node, new)
        self.start(component, node)

    def reset(self) -> None:
        """Bring every component back to how the cluster was started: running, without extra gates and flags."""
        for component, node in self._components.every():
            if self._components.extras(component, node) != Extras():
                self.restart(component, node, gates={}, args=())
            elif not self._components.is_running(component, node):
                self.start(component, node)

    def is_healthy(self) -> bool:
        """Whether every component runs and says that it is well, and every node takes Pods."""
        try:
            healthy = all(self._components.is_healthy(component, node) for component, node in self._components.every())
            return healthy and nodes_ready(self.apiserver, self.kubelet_nodes())
        except InfrastructureError:
            return False

    def log(self, component: Component, node: str | None = None) -> str:
        """The component's log so far, over all its restarts, as far as it is kept."""
        return self._components.log(component, node)

    def metrics(self, component: Component, node: str | None = None) -> str:
        """The component's /metrics page, in Prometheus' text format."""
        return self._components.metrics(component, node)

    def delete(self) -> None:
        """Remove the cluster and all that belongs to it. Idempotent."""
        self._components.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _start_kwok(self) -> None:
        kwok.authorize(self.apiserver)
        command = kwok.command(Path(self.facts.programs["kwok"]), self.identity(kwok.USER))
        process.start("kwok", command, self.directory, self.facts.run_id)
