"""A cluster whose control plane and kubelets are processes of this host."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.clusters.local.components import Components
from harness.clusters.local.facts import Facts
from harness.clusters.local.runtime_view import cdi_devices
from harness.clusters.protocol import Capability
from harness.clusters.started.cluster import StartedCluster

#: The programs that a local cluster may start.
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kwok")


class LocalCluster(StartedCluster):
    """Implements harness.clusters.protocol.Cluster. Any process of the run may attach to it by its directory."""

    facts: Facts
    _components: Components

    provider = "local"
    # The pretended runtime knows every image. With a tag other than `latest` the kubelet does not pull it each time.
    image = "dra-e2e.local/shell:1"

    def __init__(self, directory: Path, facts: Facts) -> None:
        super().__init__(directory, facts, Components(directory, facts))

    @classmethod
    def attach(cls, directory: Path) -> "LocalCluster":
        """The cluster that another process of the run started; raises InfrastructureError when there is none."""
        return cls(directory, Facts.read(directory))

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

    def kubelet_nodes(self) -> tuple[str, ...]:
        """Names of the nodes that run a kubelet and take Pods, sorted."""
        return self._components.nodes

    def kubelet_root(self, node: str) -> Path:
        """The root directory of a node's kubelet: drivers register in `plugins_registry` below it."""
        return self._components.kubelet(node).root

    def cdi_dir(self, node: str) -> Path:
        """Where drivers on that node write CDI specs."""
        return self._components.kubelet(node).cdi

    def identity(self, user: str, groups: Sequence[str] = ()) -> Path:
        """A kubeconfig (0600) for a user of the cluster; whoever asks grants it what it needs by RBAC."""
        return self._components.control_plane.add_identity(f"user-{user.replace(':', '-')}", user, groups)

    def scheduler_flag(self, configuration: Mapping[str, Any]) -> str:
        """The flag, for `restart`, that gives kube-scheduler a KubeSchedulerConfiguration."""
        written = self._components.control_plane.write_scheduler_configuration(configuration, "scheduler-own.yaml")
        return f"--config={written}"

    def cdi_devices(self, pod: Mapping[str, Any], container: str = "main") -> tuple[str, ...]:
        """CDI devices that the kubelet handed to the runtime for a container. Raises LookupError without one."""
        node = self._components.kubelet(pod["spec"]["nodeName"]).node
        return cdi_devices(self.directory / "cri" / node.short, pod["metadata"]["uid"], container)

    def audit(self) -> Path:
        """The audit log (JSON lines, level Metadata)."""
        return self._components.control_plane.audit_log
