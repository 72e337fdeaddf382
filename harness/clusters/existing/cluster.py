"""A cluster that somebody already has, as scenarios see it."""

import shutil
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from harness.clusters.existing import remains
from harness.clusters.existing.facts import Facts
from harness.clusters.existing.guest import Guest
from harness.clusters.known import KnownCluster
from harness.clusters.protocol import BareNode, Capability, Component, NotObservable
from harness.errors import InfrastructureError
from harness.kube import ApiError, Client


class ExistingCluster(KnownCluster):
    """Implements harness.clusters.protocol.Cluster. What is not a guest's to do raises NotObservable."""

    facts: Facts

    provider = "existing"

    def __init__(self, directory: Path, facts: Facts) -> None:
        super().__init__(directory, facts)
        self.image = facts.image

    @property
    def notes(self) -> tuple[str, ...]:
        """What the preflight found."""
        return tuple(self.facts.notes)

    @property
    def kubeconfig(self) -> Path:
        """The run's copy of the user's, mode 0600."""
        return remains.kubeconfig(self.directory)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Its kubelets can be looked at where a driver serves them; nothing of it is stopped or looked into."""
        return frozenset() if self.facts.driver == "api" else frozenset({"kubelet"})

    def guest(self) -> Guest:
        """The API, with a guest's manners."""
        return Guest(self.kubeconfig, self.release, self.facts.run_id)

    def lacks(self, named: Collection[str]) -> list[str]:
        """Which of the feature gates and API versions it does not have, as far as it says."""
        off = [name for name in named if self.facts.gates.get(name) is False]
        known = set(self.release.api_versions.values())  # a statement names the newest release's versions
        absent = [name for name in named if name in known and name not in self.facts.served]
        return [*(f"gate {name} on" for name in sorted(off)), *(f"API {name}" for name in sorted(absent))]

    def has_profile(self, name: str, off: Mapping[str, Sequence[str]], on: Mapping[str, Sequence[str]]) -> bool:
        """Whether it is as this variation of a profile, as far as its API server tells for all components.

        Of a profile's flags nothing can be told: `features`, which has none but gates that statements name, will do.
        """
        wanted = {**dict.fromkeys(_names(off), False), **dict.fromkeys(_names(on), True)}
        return name == "features" and all(self.facts.gates.get(gate) is value for gate, value in wanted.items())

    def kubelet_nodes(self) -> tuple[str, ...]:
        """Names of the nodes that take Pods, sorted."""
        return tuple(self.facts.nodes)

    def add_bare_nodes(self, nodes: Sequence[BareNode]) -> None:
        """Not a guest's to do."""
        _refuse("Node objects are not ours to make")

    def remove_bare_nodes(self, names: Sequence[str]) -> None:
        """There are none."""

    def stop(self, component: Component, node: str | None = None) -> None:
        """Not a guest's to do."""
        _refuse(f"{component} is not ours to stop")

    def start(self, component: Component, node: str | None = None) -> None:
        """Nothing was stopped."""
        _refuse(f"{component} is not ours to start")

    def restart(
        self,
        component: Component,
        node: str | None = None,
        *,
        gates: Mapping[str, bool] | None = None,
        args: Sequence[str] | None = None,
    ) -> None:
        """Not a guest's to do."""
        _refuse(f"{component} is not ours to restart")

    def scheduler_flag(self, configuration: Mapping[str, Any]) -> str:
        """Not a guest's to do."""
        _refuse("kube-scheduler is not ours to restart")

    def log(self, component: Component, node: str | None = None) -> str:
        """Not reachable through the API in general."""
        _refuse(f"the log of {component} is not reachable through the API")

    def metrics(self, component: Component, node: str | None = None) -> str:
        """The /metrics page of the API server, or of a kubelet; no other is reachable through the API."""
        paths = {"kube-apiserver": "/metrics", "kubelet": f"/api/v1/nodes/{node}/proxy/metrics"}
        if component not in paths:
            _refuse(f"the metrics of {component} are not reachable through the API")
        try:
            return str(self._client.raw("GET", paths[component]))
        except ApiError as error:
            raise NotObservable(f"the metrics of {component} may not be read: {error.message}") from error

    def cdi_devices(self, pod: Mapping[str, Any], container: str = "main") -> tuple[str, ...]:
        """Only a node's runtime knows."""
        _refuse("what the runtime of a node was handed is not visible through the API")

    def audit(self) -> None:
        """It is its owner's."""
        return

    def reset(self) -> None:
        """Nothing was changed."""

    def is_healthy(self) -> bool:
        """Whether its API server says so."""
        try:
            return bool(self._client.raw("GET", "/readyz") == "ok")
        except (InfrastructureError, ApiError):
            return False

    def delete(self) -> None:
        """Remove all that is ours; the cluster stays. Idempotent."""
        if self.directory.exists():
            remains.remove(self._client, self.facts.run_id)
            shutil.rmtree(self.directory, ignore_errors=True)

    @cached_property
    def _client(self) -> Client:
        return Client(self.kubeconfig, self.release)


def _names(by_component: Mapping[str, Sequence[str]]) -> set[str]:
    return {gate for gates in by_component.values() for gate in gates}


def _refuse(why: str) -> NoReturn:
    raise NotObservable(f"this is somebody's cluster: {why}")
