"""A cluster whose control plane and kubelets are processes of this host."""

import contextlib
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from filelock import FileLock

from harness.clusters.local import kwok, process
from harness.clusters.local.control_plane import ControlPlane, Ports
from harness.clusters.local.endpoint import Endpoint
from harness.clusters.local.facts import Extras, Facts
from harness.clusters.local.kubelet import Kubelet, Node, namespace_command
from harness.clusters.local.ports import free_ports
from harness.clusters.local.process import Process
from harness.clusters.local.readiness import await_ready
from harness.clusters.protocol import BareNode, Capability, Component
from harness.clusters.resolution import Resolution
from harness.errors import InfrastructureError, UsageError
from harness.releases import Release

#: The programs that a local cluster may start.
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kwok")

_START = 90.0  # seconds that a component has to become ready: a loaded machine is slow, a broken one stays broken
_READY_PATH = {"etcd": "/readyz", "kube-controller-manager": "/healthz", "kubelet": "/healthz"}
_TAKEN = "address already in use"


class LocalCluster:
    """Implements harness.clusters.protocol.Cluster. Any process of the run may attach to it by its directory."""

    provider = "local"
    # The pretended runtime knows every image; its name follows the registry's rules so that kubelets accept it.
    image = "dra-e2e.local/shell:latest"

    def __init__(self, directory: Path, facts: Facts) -> None:
        self.directory = directory
        self.facts = facts
        self.control_plane = ControlPlane(directory, facts.ports)

    # -- life --------------------------------------------------------------------------------------------------

    @classmethod
    def launch(
        cls,
        directory: Path,
        *,
        name: str,
        run_id: str,
        release: Release,
        resolution: Resolution,
        programs: Mapping[str, Path],
        args: Mapping[str, Sequence[str]] | None = None,
    ) -> "LocalCluster":
        """Start a cluster in a directory that must not exist yet; returns when it takes Pods on every node.

        `programs` maps PROGRAMS to executables, `args` are the user's own further flags by component.
        Raises InfrastructureError with the failing component's own last words; nothing of it runs on then.
        """
        workers = resolution.workers if namespace_command() else ()
        paths = {program: str(path) for program, path in programs.items()}

        def attempt() -> LocalCluster:
            ports = free_ports(5 + len(workers))
            nodes = [Node(f"worker-{n}", f"n{n}", port) for n, port in enumerate(ports[5:], 1)]
            facts = Facts(name, run_id, release.minor, paths, args or {}, Ports(*ports[:5]), nodes, resolution)
            cluster = cls(directory, facts)
            try:
                cluster._start()
            except BaseException:
                cluster._kill()
                raise
            return cluster

        try:
            return attempt()
        except InfrastructureError as error:
            if _TAKEN not in str(error):
                raise
            print(f"dra-e2e: {name}: a port was taken between probe and start, once more with others", file=sys.stderr)
            shutil.rmtree(directory)
            return attempt()

    @classmethod
    def attach(cls, directory: Path) -> "LocalCluster":
        """The cluster that another process of the run started there."""
        return cls(directory, Facts.read(directory))

    def start_api(self) -> None:
        """Start etcd and kube-apiserver alone and return when they are ready: the floor of every start."""
        self.control_plane.prepare()
        self._spawn("etcd")
        self._spawn("kube-apiserver")
        self._await("kube-apiserver", also=["etcd"])

    def _start(self) -> None:
        self.control_plane.prepare()
        self.control_plane.write_scheduler_configuration(self.facts.resolution.scheduler or _DEFAULT_SCHEDULER)
        for node in self.facts.nodes:
            self._configure_kubelet(node)
        self._spawn("etcd")
        self._spawn("kube-apiserver")
        if self.facts.nodes:
            self._spawn_runtime()
        self._await("kube-apiserver", also=["etcd"])
        self._spawn("kube-controller-manager")
        self._spawn("kube-scheduler")
        for node in self.facts.nodes:
            self._spawn("kubelet", node.name)
        self._await("kube-controller-manager")
        self._await("kube-scheduler")
        self._await_nodes(self.kubelet_nodes(), [self._name("kubelet", node) for node in self.kubelet_nodes()])
        self.facts.write(self.directory)

    def delete(self) -> None:
        """Remove the cluster and all that belongs to it. Idempotent."""
        self._kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _kill(self) -> None:
        """End every process at once: nobody needs what they would still write."""
        records = (self.directory / "processes").glob("*.json")
        for found in [process.find(self.directory, record.stem) for record in records]:
            if found:
                found.stop(grace=0)

    # -- what it is --------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name by which the run knows the cluster."""
        return self.facts.name

    @property
    def release(self) -> Release:
        """The release its control plane runs."""
        return self.facts.release

    @property
    def kubeconfig(self) -> Path:
        """An administrator's kubeconfig, mode 0600."""
        return self.control_plane.kubeconfig("admin")

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What this cluster can show: no real containers, and kubelets only where namespaces are allowed."""
        always: set[Capability] = {"restart", "bare-nodes"}
        return frozenset(always | {"kubelet"} if self.facts.nodes else always)

    def kubelet_nodes(self) -> tuple[str, ...]:
        """Names of the nodes that run a kubelet and take Pods, sorted."""
        return tuple(sorted(node.name for node in self.facts.nodes))

    def kubelet_root(self, node: str) -> Path:
        """The root directory of a node's kubelet: drivers register in `plugins_registry` below it."""
        return self._kubelet(node).root

    def cdi_dir(self, node: str) -> Path:
        """Where drivers on that node write CDI specs."""
        return self._kubelet(node).cdi

    def identity(self, user: str, groups: Sequence[str] = ()) -> Path:
        """A kubeconfig for a user of the cluster, for whom the caller grants what it needs by RBAC."""
        return self.control_plane.add_identity(f"user-{user.replace(':', '-')}", user, groups)

    # -- bare nodes --------------------------------------------------------------------------------------------

    def add_bare_nodes(self, nodes: Sequence[BareNode]) -> None:
        """Create the nodes and wait until all are Ready and take Pods."""
        self._ensure_kwok()
        kwok.create(self.apiserver, nodes)
        self._await_nodes([node.name for node in nodes], ["kwok"])

    def remove_bare_nodes(self, names: Sequence[str]) -> None:
        """Delete the nodes and what keeps them alive."""
        kwok.delete(self.apiserver, names)

    def _ensure_kwok(self) -> None:
        with FileLock(self.directory / "kwok.lock"):
            found = process.find(self.directory, "kwok")
            if found and found.alive():
                return
            kwok.authorize(self.apiserver)
            kubeconfig = self.control_plane.add_identity("kwok", kwok.user())
            command = kwok.command(Path(self.facts.programs["kwok"]), kubeconfig)
            process.start("kwok", command, self.directory, self.facts.run_id)

    # -- components --------------------------------------------------------------------------------------------

    def stop(self, component: Component, node: str | None = None) -> None:
        """Stop a component (a kubelet: of that node) and return when it is gone."""
        if running := process.find(self.directory, self._name(component, node)):
            running.stop()

    def start(self, component: Component, node: str | None = None) -> None:
        """Start a stopped component and return when it is healthy."""
        running = process.find(self.directory, self._name(component, node))
        if running is None or not running.alive():
            self._spawn(component, node)
        self._await(component, node)

    def restart(
        self,
        component: Component,
        node: str | None = None,
        *,
        gates: Mapping[str, bool] | None = None,
        args: Sequence[str] | None = None,
    ) -> None:
        """Stop and start; `gates` and `args`, where given, replace the extra ones of an earlier restart."""
        name = self._name(component, node)
        old = Extras.read(self.directory, name)
        new = Extras(old.gates if gates is None else gates, old.args if args is None else args)
        self.stop(component, node)
        new.write(self.directory, name)
        self.start(component, node)

    def altered(self) -> tuple[tuple[Component, str | None], ...]:
        """The components that run with gates or flags of a restart."""
        every = [*((component, None) for component in _CONTROL_PLANE), *(("kubelet", n) for n in self.kubelet_nodes())]
        return tuple(pair for pair in every if Extras.read(self.directory, self._name(*pair)) != Extras())

    def is_healthy(self) -> bool:
        """Whether every component runs and says that it is well, and every node takes Pods."""
        try:
            components = all(self._healthy(component)() for component in _CONTROL_PLANE)
            return components and self._nodes_ready(self.kubelet_nodes())()
        except InfrastructureError:
            return False

    def log(self, component: Component, node: str | None = None) -> str:
        """The component's log so far, over all its restarts."""
        return (self.directory / "logs" / f"{self._name(component, node)}.log").read_text(errors="replace")

    def metrics(self, component: Component, node: str | None = None) -> str:
        """The component's /metrics page, in Prometheus' text format."""
        return self._endpoint(component, node).text("/metrics")

    def audit(self) -> Path:
        """The audit log (JSON lines, level Metadata)."""
        return self.control_plane.audit_log

    @cached_property
    def apiserver(self) -> Endpoint:
        """The API server as the administrator."""
        return self._endpoint("kube-apiserver")

    # -- how -----------------------------------------------------------------------------------------------------

    def _name(self, component: str, node: str | None = None) -> str:
        if component not in (*_CONTROL_PLANE, "kubelet"):
            raise UsageError(f"unknown component {component!r}; choose one of {', '.join(_CONTROL_PLANE)}, kubelet")
        if component != "kubelet":
            return component
        return f"kubelet-{self._kubelet(node).node.name}"

    def _kubelet(self, name: str | None) -> Kubelet:
        for node in self.facts.nodes:
            if node.name == name:
                return Kubelet(self.control_plane, node)
        raise UsageError(
            f"cluster {self.name} has no kubelet on node {name!r}; it has {', '.join(self.kubelet_nodes())}"
        )

    def _spawn(self, component: Component, node: str | None = None) -> Process:
        name = self._name(component, node)
        extras = Extras.read(self.directory, name)
        program = Path(self.facts.programs[component])
        if component == "kubelet":
            self._configure_kubelet(self._kubelet(node).node, extras.gates)
            command = self._kubelet(node).command(program, self._labels(node))
        else:
            command = [str(program), *self._flags(component, extras.gates)]
        own = (*self.facts.resolution.args.get(component, ()), *self.facts.args.get(component, ()), *extras.args)
        return process.start(name, [*command, *own], self.directory, self.facts.run_id)

    def _flags(self, component: Component, gates: Mapping[str, bool]) -> list[str]:
        flags: dict[str, Callable[[], list[str]]] = {
            "etcd": self.control_plane.etcd,
            "kube-apiserver": lambda: self.control_plane.apiserver(self.facts.resolution.runtime_config),
            "kube-controller-manager": self.control_plane.controller_manager,
            "kube-scheduler": self.control_plane.scheduler,
        }
        merged = self._gates(component, gates)
        text = ",".join(f"{gate}={str(on).lower()}" for gate, on in sorted(merged.items()))
        return [*flags[component](), *([f"--feature-gates={text}"] if text else [])]

    def _gates(self, component: str, extra: Mapping[str, bool]) -> dict[str, bool]:
        return {**self.facts.resolution.gates.get(component, {}), **extra}

    def _configure_kubelet(self, node: Node, gates: Mapping[str, bool] | None = None) -> None:
        configuration: dict[str, Any] = {**self.facts.resolution.kubelet}
        configuration["featureGates"] = self._gates("kubelet", gates or {})
        Kubelet(self.control_plane, node).prepare(configuration)

    def _labels(self, name: str | None) -> Mapping[str, str]:
        numbers = {node.name: number for number, node in enumerate(self.facts.nodes)}
        return self.facts.resolution.workers[numbers[str(name)]]

    def _spawn_runtime(self) -> None:
        state = self.directory / "cri"
        state.mkdir(exist_ok=True, mode=0o700)
        command = [sys.executable, "-m", "harness.clusters.local.cri"]
        for node in self.facts.nodes:
            socket = Kubelet(self.control_plane, node).runtime_socket
            command += ["--socket", str(socket), "--state", str(state / node.short)]
        source = str(Path(__file__).resolve().parents[3])
        process.start("cri", command, self.directory, self.facts.run_id, {"PYTHONPATH": source})

    def _endpoint(self, component: str, node: str | None = None) -> Endpoint:
        pki, ports = self.control_plane.pki, self.facts.ports
        if component == "etcd":
            certificate, key = pki / "apiserver-etcd-client.crt", pki / "apiserver-etcd-client.key"
            return Endpoint(ports.etcd, pki / "etcd-ca.crt", certificate, key)
        port = {
            "kube-apiserver": ports.apiserver,
            "kube-controller-manager": ports.controller_manager,
            "kube-scheduler": ports.scheduler,
        }.get(component) or self._kubelet(node).node.port
        return Endpoint(port, pki / "ca.crt", pki / "admin.crt", pki / "admin.key")

    def _healthy(self, component: str, node: str | None = None) -> Callable[[], bool]:
        endpoint, path = self._endpoint(component, node), _READY_PATH.get(component, "/readyz")
        return lambda: endpoint.healthy(path)

    def _await(self, component: str, node: str | None = None, also: Sequence[str] = ()) -> None:
        name = self._name(component, node)
        await_ready(name, self._healthy(component, node), self._processes([name, *also]), _START)

    def _await_nodes(self, names: Sequence[str], processes: Sequence[str]) -> None:
        await_ready(f"node {', '.join(names[:3])}", self._nodes_ready(names), self._processes(processes), _START)

    def _nodes_ready(self, names: Sequence[str]) -> Callable[[], bool]:
        return lambda: (
            set(names)
            <= {node["metadata"]["name"] for node in self.apiserver.get("/api/v1/nodes")["items"] if _takes_pods(node)}
        )

    def _processes(self, names: Sequence[str]) -> list[Process]:
        return [found for found in (process.find(self.directory, name) for name in names) if found]


_CONTROL_PLANE: tuple[Component, ...] = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
_DEFAULT_SCHEDULER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def _takes_pods(node: Mapping[str, Any]) -> bool:
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", ()))
    return ready and not any(t["key"].startswith("node.kubernetes.io/") for t in node["spec"].get("taints", ()))
