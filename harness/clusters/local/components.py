"""The components of a local cluster: how each is started, reached and asked for its health."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from harness.clusters.local import process
from harness.clusters.local.control_plane import ControlPlane
from harness.clusters.local.endpoint import Endpoint
from harness.clusters.local.facts import Extras, Facts
from harness.clusters.local.kubelet import Kubelet
from harness.clusters.local.process import Process
from harness.clusters.local.readiness import await_ready
from harness.clusters.protocol import Component
from harness.errors import UsageError

CONTROL_PLANE: tuple[Component, ...] = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")

_START = 90.0  # seconds that a component has to become ready: a loaded machine is slow, a broken one stays broken
_READY_PATH = {"kube-controller-manager": "/healthz", "kubelet": "/healthz"}
# Both wait long for their clients' watches to end, and neither loses anything: the data is with the kernel.
_GRACE = {"etcd": 0.5, "kube-apiserver": 0.5}


class Components:
    """The components of the cluster in a directory, whichever process of the run started them."""

    def __init__(self, directory: Path, facts: Facts) -> None:
        self.directory = directory
        self.facts = facts
        self.control_plane = ControlPlane(directory, facts.ports)
        self.kubelets = {node.name: Kubelet(self.control_plane, node) for node in facts.nodes}

    def name(self, component: str, node: str | None = None) -> str:
        """The name of its log, record and extras. Raises UsageError for a component or node that is not there."""
        if component not in (*CONTROL_PLANE, "kubelet"):
            raise UsageError(f"unknown component {component!r}; choose one of {', '.join(CONTROL_PLANE)}, kubelet")
        return component if component != "kubelet" else f"kubelet-{self.kubelet(node).node.name}"

    def kubelet(self, node: str | None) -> Kubelet:
        """The kubelet of a node; raises UsageError where there is none."""
        if node not in self.kubelets:
            known = ", ".join(self.kubelets) or "none"
            raise UsageError(f"cluster {self.facts.name} has no kubelet on node {node!r}; it has: {known}")
        return self.kubelets[node]

    def spawn(self, component: Component, node: str | None = None) -> None:
        """Start it, with the gates and flags of its last restart; does not wait."""
        name = self.name(component, node)
        extras = Extras.read(self.directory, name)
        if component == "kubelet":
            kubelet = self.kubelet(node)
            gates = self._gates(component, extras.gates)
            kubelet.prepare({**self.facts.resolution.kubelet, "featureGates": gates})
            command = kubelet.command(Path(self.facts.programs[component]), self._labels(kubelet))
        else:
            command = [self.facts.programs[component], *self._flags(component, extras.gates)]
        own = (*self.facts.resolution.args.get(component, ()), *self.facts.args.get(component, ()), *extras.args)
        process.start(name, [*command, *own], self.directory, self.facts.run_id)

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

    def kill(self) -> None:
        """End every process of the cluster at once: nobody needs what they would still write."""
        for running in self.processes(record.stem for record in (self.directory / "processes").glob("*.json")):
            running.stop(grace=0)

    def processes(self, names: Iterable[str]) -> list[Process]:
        """The started ones of these names."""
        return [found for found in (process.find(self.directory, name) for name in names) if found]

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

    def await_nodes(self, names: Sequence[str], programs: Sequence[str], *, untainted: bool = True) -> None:
        """Return when all nodes are Ready; `programs` are those whose end makes waiting vain."""
        apiserver, what = self.endpoint("kube-apiserver"), f"one of the nodes {', '.join(names[:3])}"
        ready = partial(nodes_ready, apiserver, names, untainted=untainted)
        await_ready(what, ready, self.processes(programs), _START)

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


def nodes_ready(apiserver: Endpoint, names: Iterable[str], *, untainted: bool = True) -> bool:
    """Whether all these nodes are Ready and, where asked, free of the controllers' taints that keep Pods away."""
    nodes = apiserver.get("/api/v1/nodes?resourceVersion=0")["items"]  # from the cache: asked often, may be late
    ready = {node["metadata"]["name"] for node in nodes if _is_ready(node) and not (untainted and _is_tainted(node))}
    return set(names) <= ready


def _is_ready(node: Mapping[str, Any]) -> bool:
    return any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", ()))


def _is_tainted(node: Mapping[str, Any]) -> bool:
    return any(taint["key"].startswith("node.kubernetes.io/") for taint in node["spec"].get("taints", ()))
