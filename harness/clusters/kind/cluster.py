"""A cluster whose nodes are Docker containers made by kind."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.clusters.kind import nodes, objects
from harness.clusters.kind.command import Kind
from harness.clusters.kind.components import Components
from harness.clusters.kind.config import SCHEDULERS, audit_log, scheduler
from harness.clusters.kind.facts import Facts
from harness.clusters.kind.node_image import SHELL
from harness.clusters.protocol import Capability
from harness.clusters.started.cluster import StartedCluster

_FIND_CONTAINER = 'crictl ps --all --quiet --latest --label "io.kubernetes.pod.uid=$1" --name "^$2\\$"'


class KindCluster(StartedCluster):
    """Implements harness.clusters.protocol.Cluster and harness.clusters.machines.Machines.

    Any process of the run may attach to it by its directory.
    """

    facts: Facts
    _components: Components

    provider = "kind"
    image = SHELL

    def __init__(self, directory: Path, facts: Facts) -> None:
        super().__init__(directory, facts, Components(directory, facts))

    @classmethod
    def attach(cls, directory: Path) -> "KindCluster":
        """The cluster that another process of the run started; raises InfrastructureError when there is none."""
        return cls(directory, Facts.read(directory))

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
        return self._components.nodes

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
