"""What a scenario may ask of a cluster, whichever provider started it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from harness.errors import InfrastructureError
from harness.releases import Release

Component = Literal["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet"]

#: What a scenario can need beyond the API: a real kubelet; a real container; cgroups; components that can be
#: stopped, restarted and reconfigured; Node objects without a kubelet (kwok); machines that can be switched off and on
#: (`harness.clusters.machines`).
Capability = Literal["kubelet", "container", "cgroup", "restart", "bare-nodes", "power"]


class NotObservable(InfrastructureError):
    """This cluster does not let a scenario do or see something: its statement is not observable there, not broken."""


@dataclass(frozen=True)
class BareNode:
    """A Node object without a kubelet, kept Ready by kwok."""

    name: str
    capacity: Mapping[str, str] = field(default_factory=lambda: {"cpu": "32", "memory": "256Gi", "pods": "110"})
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: Sequence[Mapping[str, str]] = ()
    declared_features: Sequence[str] = ()


class Cluster(Protocol):
    """A running cluster. Every method may raise InfrastructureError, or NotObservable for what is not to be had."""

    @property
    def name(self) -> str:
        """The name by which the run knows the cluster."""

    @property
    def provider(self) -> str:
        """`local`, `kind` or `existing`."""

    @property
    def release(self) -> Release:
        """The release its control plane runs."""

    @property
    def kubeconfig(self) -> Path:
        """An administrator's kubeconfig, mode 0600, in the run's own directory."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this cluster can show."""

    @property
    def image(self) -> str:
        """An image that every node can start without a pull, with a POSIX shell where containers are real."""

    def kubelet_nodes(self) -> tuple[str, ...]:
        """Names of the nodes that run a kubelet and take Pods, sorted."""

    def add_bare_nodes(self, nodes: Sequence[BareNode]) -> None:
        """Create the nodes and wait until all are Ready."""

    def remove_bare_nodes(self, names: Sequence[str]) -> None:
        """Delete the nodes and what keeps them alive."""

    def stop(self, component: Component, node: str | None = None) -> None:
        """Stop a component (a kubelet: of that node) and return when it is gone."""

    def start(self, component: Component, node: str | None = None) -> None:
        """Start a stopped component and return when it is healthy."""

    def restart(
        self,
        component: Component,
        node: str | None = None,
        *,
        gates: Mapping[str, bool] | None = None,
        args: Sequence[str] | None = None,
    ) -> None:
        """Stop and start; `gates` and `args`, where given, replace the extra ones of an earlier restart."""

    def scheduler_flag(self, configuration: Mapping[str, Any]) -> str:
        """The flag, for `restart`, that gives kube-scheduler a KubeSchedulerConfiguration.

        It is kept until the cluster goes, completed with what the scheduler needs to reach the cluster at all.
        """

    def log(self, component: Component, node: str | None = None) -> str:
        """The component's log so far."""

    def metrics(self, component: Component, node: str | None = None) -> str:
        """The component's /metrics page, in Prometheus' text format."""

    def cdi_devices(self, pod: Mapping[str, Any], container: str = "main") -> tuple[str, ...]:
        """Fully qualified names of the CDI devices that the kubelet handed to the runtime for a container.

        Raises LookupError when the runtime was never asked for it.
        """

    def audit(self) -> Path | None:
        """The audit log (JSON lines, level Metadata), where the provider keeps one."""

    def delete(self) -> None:
        """Remove the cluster and all that belongs to it. Idempotent."""
