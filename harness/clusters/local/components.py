"""The components of a local cluster: how each is started, reached and asked for its health."""

import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path

from harness.clusters.local.control_plane import ControlPlane
from harness.clusters.local.facts import Facts
from harness.clusters.local.kubelet import Kubelet
from harness.clusters.local.readiness import await_ready
from harness.clusters.protocol import Component
from harness.clusters.started import components, process
from harness.clusters.started.components import nodes_ready
from harness.clusters.started.endpoint import Endpoint

_START = 90.0  # seconds that a component has to become ready: a loaded machine is slow, a broken one stays broken
_READY_PATH = {"kube-controller-manager": "/healthz", "kubelet": "/healthz"}
# Both wait long for their clients' watches to end, and neither loses anything: the data is with the kernel.
_GRACE = {"etcd": 0.5, "kube-apiserver": 0.5}


class Components(components.Components):
    """Each is a process of this host."""

    facts: Facts

    def __init__(self, directory: Path, facts: Facts) -> None:
        super().__init__(directory, facts)
        self.control_plane = ControlPlane(directory, facts.ports)
        self.kubelets = {node.name: Kubelet(self.control_plane, node) for node in facts.nodes}

    @cached_property
    def apiserver(self) -> Endpoint:
        """The API server as the administrator."""
        return self.endpoint("kube-apiserver")

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of all nodes with a kubelet, sorted."""
        return tuple(sorted(self.kubelets))

    def kubelet(self, node: str | None) -> Kubelet:
        """The kubelet of a node; raises UsageError where there is none."""
        return self.kubelets[self.node(node)]

    def spawn(self, component: Component, node: str | None = None) -> None:
        """Start it, with the gates and flags of its last restart; does not wait."""
        extras = self.extras(component, node)
        if component == "kubelet":
            kubelet = self.kubelet(node)
            gates = self._gates(component, extras.gates)
            kubelet.prepare({**self.facts.resolution.kubelet, "featureGates": gates})
            command = kubelet.command(Path(self.facts.programs[component]), self._labels(kubelet))
        else:
            command = [self.facts.programs[component], *self._flags(component, extras.gates)]
        own = (*self.facts.resolution.args.get(component, ()), *self.facts.args.get(component, ()), *extras.args)
        process.start(self.name(component, node), [*command, *own], self.directory, self.facts.run_id)

    def spawn_runtime(self) -> None:
        """Start the pretending container runtime: one process for all nodes."""
        state = self.directory / "cri"
        state.mkdir(exist_ok=True, mode=0o700)
        command = [sys.executable, "-m", "harness.clusters.local.cri"]
        for kubelet in self.kubelets.values():
            command += ["--socket", str(kubelet.runtime_socket), "--state", str(state / kubelet.node.short)]
        source = str(Path(__file__).resolve().parents[3])
        process.start("cri", command, self.directory, self.facts.run_id, {"PYTHONPATH": source})

    def stop(self, component: Component, node: str | None = None) -> None:
        """Stop it and return when it is gone."""
        for running in self.processes([self.name(component, node)]):
            running.stop(_GRACE.get(component, 10.0))

    def start(self, component: Component, node: str | None = None) -> None:
        """Start it, unless it runs already, and return when it is healthy."""
        if not self.is_running(component, node):
            self.spawn(component, node)
        self.await_healthy(component, node)

    def signal(self, component: Component, number: signal.Signals, node: str | None = None) -> None:
        """Send a signal to its process, if it runs; nothing brings it back when that ends it."""
        for running in self.processes([self.name(component, node)]):
            if number == signal.SIGKILL:
                running.stop(grace=0)
            else:
                running.signal(number)

    def is_running(self, component: Component, node: str | None = None) -> bool:
        """Whether its process lives; says nothing about its health."""
        return any(found.alive() for found in self.processes([self.name(component, node)]))

    def is_healthy(self, component: Component, node: str | None = None) -> bool:
        """Whether it runs and says that it is well, right now."""
        return self.is_running(component, node) and self._health(component, node)()

    def await_healthy(self, component: Component, node: str | None = None, *, beside: Sequence[str] = ()) -> None:
        """Return when it is healthy; raises InfrastructureError when it or one of those beside it ends, or too late."""
        name = self.name(component, node)
        await_ready(name, self._health(component, node), self.processes([name, *beside]), _START)

    def await_nodes(self, names: Sequence[str], programs: Sequence[str] = ("kwok",), *, untainted: bool = True) -> None:
        """Return when all nodes are Ready; `programs`, by default that of bare nodes, may not end meanwhile."""
        what = f"one of the nodes {', '.join(names[:3])}"
        ready = partial(nodes_ready, self.apiserver, names, untainted=untainted)
        await_ready(what, ready, self.processes(programs), _START)

    def log(self, component: Component, node: str | None = None) -> str:
        """Its log so far, over all its restarts."""
        return (self.directory / "logs" / f"{self.name(component, node)}.log").read_text(errors="replace")

    def metrics(self, component: Component, node: str | None = None) -> str:
        """Its /metrics page."""
        return self.endpoint(component, node).text("/metrics")

    def endpoint(self, component: str, node: str | None = None) -> Endpoint:
        """Its HTTPS endpoint, as the administrator."""
        pki, ports = self.control_plane.pki, self.facts.ports
        if component == "etcd":
            certificate, key = pki / "apiserver-etcd-client.crt", pki / "apiserver-etcd-client.key"
            return Endpoint(ports.etcd, pki / "etcd-ca.crt", certificate, key)
        port = {
            "kube-apiserver": ports.apiserver,
            "kube-controller-manager": ports.controller_manager,
            "kube-scheduler": ports.scheduler,
        }.get(component) or self.kubelet(node).node.port
        return Endpoint(port, self.control_plane.authority.certificate, pki / "admin.crt", pki / "admin.key")

    def _health(self, component: str, node: str | None) -> Callable[[], bool]:
        endpoint, path = self.endpoint(component, node), _READY_PATH.get(component, "/readyz")
        return lambda: endpoint.healthy(path)

    def _flags(self, component: Component, extra_gates: Mapping[str, bool]) -> list[str]:
        flags: dict[str, Callable[[], list[str]]] = {
            "etcd": self.control_plane.etcd,
            "kube-apiserver": lambda: self.control_plane.apiserver(self.facts.resolution.runtime_config),
            "kube-controller-manager": self.control_plane.controller_manager,
            "kube-scheduler": self.control_plane.scheduler,
        }
        gates = sorted(self._gates(component, extra_gates).items())
        text = ",".join(f"{gate}={str(on).lower()}" for gate, on in gates)
        return [*flags[component](), *([f"--feature-gates={text}"] if text else [])]

    def _gates(self, component: str, extra: Mapping[str, bool]) -> dict[str, bool]:
        return {**self.facts.resolution.gates.get(component, {}), **extra}

    def _labels(self, kubelet: Kubelet) -> Mapping[str, str]:
        return self.facts.resolution.workers[self.facts.nodes.index(kubelet.node)]
