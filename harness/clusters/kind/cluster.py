"""A cluster whose nodes are Docker containers made by kind."""

import json
import shutil
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock

from harness.clusters.kind import nodes, objects
from harness.clusters.kind.command import Kind
from harness.clusters.kind.components import Components
from harness.clusters.kind.config import SCHEDULERS, audit_log, scheduler
from harness.clusters.kind.facts import Facts
from harness.clusters.kind.node_image import SHELL
from harness.clusters.local import kwok, process
from harness.clusters.local.components import CONTROL_PLANE, nodes_ready
from harness.clusters.local.facts import Extras
from harness.clusters.protocol import BareNode, Capability, Component
from harness.errors import InfrastructureError
from harness.releases import Release

_FIND_CONTAINER = 'crictl ps --all --quiet --latest --label "io.kubernetes.pod.uid=$1" --name "^$2\\$"'


class KindCluster:
    """Implements harness.clusters.protocol.Cluster. Any process of the run may attach to it by its directory."""

    provider = "kind"
    image = SHELL

    def __init__(self, directory: Path, facts: Facts) -> None:
        self.directory = directory
        self.facts = facts
        self._components = Components(directory, facts)
        self.apiserver = self._components.apiserver

    @classmethod
    def attach(cls, directory: Path) -> "KindCluster":
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
        return (*self.facts.resolution.notes, *self.facts.notes)

    @property
    def kubeconfig(self) -> Path:
        """An administrator's kubeconfig, mode 0600."""
        return self._components.access.kubeconfig

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this cluster can show: everything."""
        return frozenset({"kubelet", "container", "cgroup", "restart", "bare-nodes", "power"})

    def kubelet_nodes(self) -> tuple[str, ...]:
        """Names of the nodes that run a kubelet and take Pods, sorted."""
        return tuple(sorted(self.facts.workers))

    def nodes(self) -> tuple[str, ...]:
        """Names of all nodes with a kubelet, that of the control plane first."""
        return (self.facts.control_plane, *self.kubelet_nodes())

    def container(self, node: str) -> str:
        """The name of the Docker container that is a node."""
        return self._components.node(node)

    def execute(self, node: str, command: Sequence[str], stdin: str = "") -> str:
        """What a command in a node prints. Raises InfrastructureError with its last words when it fails."""
        return nodes.execute(self._components.engine, self.container(node), command, stdin)

    def load_image(self, reference: str) -> None:
        """Bring an image of the Docker engine to every node, so that Pods start it without a pull."""
        programs = self.facts.programs
        kind = Kind(Path(programs["kind"]), self._components.engine, self.facts.run_id)
        kind.load(self.facts.kind_name, reference)

    def identity(self, user: str, groups: Sequence[str] = ()) -> Path:
        """A kubeconfig (0600) for a user of the cluster; whoever asks grants it what it needs by RBAC."""
        engine, facts = self._components.engine, self.facts
        access = self._components.access
        return access.add_identity(engine, facts.control_plane, user, tuple(groups), facts.ports.apiserver)

    def add_bare_nodes(self, nodes: Sequence[BareNode]) -> None:
        """Create the nodes and wait until all are Ready and take Pods."""
        with FileLock(self.directory / "kwok.lock"):
            running = process.find(self.directory, "kwok")
            if running is None or not running.alive():
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
        """Send a signal to a component's process; when that ends it, its node's kubelet or systemd starts it again."""
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
        name = self._components.name(component, node)
        old = Extras.read(self.directory, name)
        new = Extras(old.gates if gates is None else gates, old.args if args is None else args)
        self.stop(component, node)
        if new != old:
            self._components.rewrite(component, node, new.gates, new.args)
            new.write(self.directory, name)
        self.start(component, node)

    def scheduler_flag(self, configuration: Mapping[str, Any]) -> str:
        """The flag, for `restart`, that gives kube-scheduler a KubeSchedulerConfiguration."""
        path = f"{SCHEDULERS}/own.yaml"
        nodes.write(self._components.engine, self.facts.control_plane, path, scheduler(configuration))
        return f"--config={path}"

    def power_off(self, node: str) -> None:
        """Kill a node's container, and with it all that runs in it; its disk stays."""
        objects.kill(self._components.engine, self.container(node))

    def power_on(self, node: str) -> None:
        """Start a node's container again; returns when its kubelet runs."""
        objects.start(self._components.engine, self.container(node))
        self._components.await_running(node)

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
        """The component's log so far, as far as its node has kept it."""
        return self._components.log(component, node)

    def metrics(self, component: Component, node: str | None = None) -> str:
        """The component's /metrics page, in Prometheus' text format."""
        return self._components.metrics(component, node)

    def cdi_devices(self, pod: Mapping[str, Any], container: str = "main") -> tuple[str, ...]:
        """CDI devices that the kubelet handed to the runtime for a container. Raises LookupError without one."""
        node, uid, engine = pod["spec"]["nodeName"], pod["metadata"]["uid"], self._components.engine
        found = nodes.shell(engine, self.container(node), _FIND_CONTAINER, uid, container).split()
        if not found:
            raise LookupError(f"the runtime of {node} knows no container {container} of Pod {pod['metadata']['name']}")
        inspected = json.loads(nodes.execute(engine, node, ["crictl", "inspect", found[0]]))
        devices = inspected["info"]["config"].get("CDI_devices") or ()
        return tuple(device["name"] for device in devices)

    def audit(self) -> Path:
        """The audit log (JSON lines, level Metadata)."""
        return audit_log(self.directory)

    def delete(self) -> None:
        """Remove the cluster and all that belongs to it. Idempotent."""
        for record in (self.directory / "processes").glob("*.json"):
            running = process.find(self.directory, record.stem)
            if running is not None:
                running.stop(grace=0)
        objects.remove_cluster(self._components.engine, self.facts.kind_name)
        shutil.rmtree(self.directory, ignore_errors=True)

    def _every(self) -> list[tuple[Component, str | None]]:
        return [*((component, None) for component in CONTROL_PLANE), *(("kubelet", n) for n in self.nodes())]

    def _start_kwok(self) -> None:
        kwok.authorize(self.apiserver)
        command = kwok.command(Path(self.facts.programs["kwok"]), self.identity(kwok.USER))
        process.start("kwok", command, self.directory, self.facts.run_id)
