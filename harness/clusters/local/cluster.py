"""A cluster whose control plane and kubelets are processes of this host."""

import shutil
import signal
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from filelock import FileLock

from harness.clusters.local import kwok, process
from harness.clusters.local.components import CONTROL_PLANE, Components, nodes_ready
from harness.clusters.local.endpoint import Endpoint
from harness.clusters.local.facts import Extras, Facts
from harness.clusters.local.runtime_view import cdi_devices
from harness.clusters.protocol import BareNode, Capability, Component
from harness.errors import InfrastructureError
from harness.releases import Release

#: The programs that a local cluster may start.
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kwok")


class LocalCluster:
    """Implements harness.clusters.protocol.Cluster. Any process of the run may attach to it by its directory."""

    provider = "local"
    # The pretended runtime knows every image. With a tag other than `latest` the kubelet does not pull it each time.
    image = "dra-e2e.local/shell:1"

    def __init__(self, directory: Path, facts: Facts) -> None:
        self.directory = directory
        self.facts = facts
        self._components = Components(directory, facts)

    @classmethod
    def attach(cls, directory: Path) -> "LocalCluster":
        """The cluster that another process of the run started; raises InfrastructureError when there is none."""
        return cls(directory, Facts.read(directory))

    @property
    def name(self) -> str:
        """The name by which the run knows the cluster."""
        return self.facts.name

    @property
    def release(self) -> Release:
        """The release its control plane runs."""
        return self.facts.release

    @property
    def notes(self) -> tuple[str, ...]:
        """What of its profile was left out or added for its release, and what this host does not allow."""
        own = () if self.facts.nodes else ("no kubelets: this user may not create namespaces (unshare) here",)
        return (*self.facts.resolution.notes, *own)

    @property
    def kubeconfig(self) -> Path:
        """An administrator's kubeconfig, mode 0600."""
        return self._components.control_plane.kubeconfig("admin")

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this cluster can show: no real containers, and kubelets only where namespaces are allowed."""
        kubelet: set[Capability] = {"kubelet"} if self.facts.nodes else set()
        return frozenset({"restart", "bare-nodes", *kubelet})

    @cached_property
    def apiserver(self) -> Endpoint:
        """The API server as the administrator."""
        return self._components.endpoint("kube-apiserver")

    def kubelet_nodes(self) -> tuple[str, ...]:
        """Names of the nodes that run a kubelet and take Pods, sorted."""
        return tuple(sorted(self._components.kubelets))

    def kubelet_root(self, node: str) -> Path:
        """The root directory of a node's kubelet: drivers register in `plugins_registry` below it."""
        return self._components.kubelet(node).root

    def cdi_dir(self, node: str) -> Path:
        """Where drivers on that node write CDI specs."""
        return self._components.kubelet(node).cdi

    def identity(self, user: str, groups: Sequence[str] = ()) -> Path:
        """A kubeconfig (0600) for a user of the cluster; whoever asks grants it what it needs by RBAC."""
        return self._components.control_plane.add_identity(f"user-{user.replace(':', '-')}", user, groups)

    def add_bare_nodes(self, nodes: Sequence[BareNode]) -> None:
        """Create the nodes and wait until all are Ready and take Pods."""
        with FileLock(self.directory / "kwok.lock"):
            if not any(found.alive() for found in self._components.processes(["kwok"])):
                self._start_kwok()
        kwok.create(self.apiserver, nodes)
        self._components.await_nodes([node.name for node in nodes], ["kwok"])

    def remove_bare_nodes(self, names: Sequence[str]) -> None:
        """Delete the nodes and what keeps them alive."""
        kwok.delete(self.apiserver, names)

    def stop(self, component: Component, node: str | None = None) -> None:
        """Stop a component (a kubelet: of that node) and return when it is gone."""
        self._components.stop(component, node)

    def start(self, component: Component, node: str | None = None) -> None:
        """Start a stopped component and return when it is healthy."""
        if not self._components.is_running(component, node):
            self._components.spawn(component, node)
        self._components.await_healthy(component, node)
        if component == "etcd" and self._components.is_running("kube-apiserver"):
            self._components.await_healthy("kube-apiserver")  # it needs a moment to find its store again

    def signal(self, component: Component, number: signal.Signals, node: str | None = None) -> None:
        """Send a signal to a component's process; nothing brings it back when that ends it."""
        for running in self._components.processes([self._components.name(component, node)]):
            if number == signal.SIGKILL:
                running.stop(grace=0)
            else:
                running.signal(number)

    def restart(
        self,
        component: Component,
        node: str | None = None,
        *,
        gates: Mapping[str, bool] | None = None,
        args: Sequence[str] | None = None,
    ) -> None:
        """Stop and start; `gates` and `args`, where given, replace the extra ones of an earlier restart."""
        name = self._components.name(component, node)
        old = Extras.read(self.directory, name)
        new = Extras(old.gates if gates is None else gates, old.args if args is None else args)
        self.stop(component, node)
        new.write(self.directory, name)
        self.start(component, node)

    def scheduler_flag(self, configuration: Mapping[str, Any]) -> str:
        """The flag, for `restart`, that gives kube-scheduler a KubeSchedulerConfiguration."""
        written = self._components.control_plane.write_scheduler_configuration(configuration, "scheduler-own.yaml")
        return f"--config={written}"

    def reset(self) -> None:
        """Bring every component back to how the cluster was started: running, without extra gates and flags."""
        for component, node in self._every():
            name = self._components.name(component, node)
            if Extras.read(self.directory, name) != Extras():
                self.restart(component, node, gates={}, args=())
            elif not self._components.is_running(component, node):
                self.start(component, node)

    def is_healthy(self) -> bool:
        """Whether every component runs and says that it is well, and every node takes Pods."""
        try:
            healthy = all(self._components.is_healthy(component, node) for component, node in self._every())
            return healthy and nodes_ready(self.apiserver, self.kubelet_nodes())
        except InfrastructureError:
            return False

    def log(self, component: Component, node: str | None = None) -> str:
        """The component's log so far, over all its restarts."""
        return (self.directory / "logs" / f"{self._components.name(component, node)}.log").read_text(errors="replace")

    def metrics(self, component: Component, node: str | None = None) -> str:
        """The component's /metrics page, in Prometheus' text format."""
        return self._components.endpoint(component, node).text("/metrics")

    def cdi_devices(self, pod: Mapping[str, Any], container: str = "main") -> tuple[str, ...]:
        """CDI devices that the kubelet handed to the runtime for a container. Raises LookupError without one."""
        node = self._components.kubelet(pod["spec"]["nodeName"]).node
        return cdi_devices(self.directory / "cri" / node.short, pod["metadata"]["uid"], container)

    def audit(self) -> Path:
        """The audit log (JSON lines, level Metadata)."""
        return self._components.control_plane.audit_log

    def delete(self) -> None:
        """Remove the cluster and all that belongs to it. Idempotent."""
        self._components.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _every(self) -> list[tuple[Component, str | None]]:
        return [*((component, None) for component in CONTROL_PLANE), *(("kubelet", n) for n in self.kubelet_nodes())]

    def _start_kwok(self) -> None:
        kwok.authorize(self.apiserver)
        kubeconfig = self._components.control_plane.add_identity("kwok", kwok.USER)
        command = kwok.command(Path(self.facts.programs["kwok"]), kubeconfig)
        process.start("kwok", command, self.directory, self.facts.run_id)
