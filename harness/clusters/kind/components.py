"""The components of a kind cluster: how each is stopped, started, reached and asked for its health."""

import re
import signal
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path

from harness.clusters.kind import nodes, objects
from harness.clusters.kind.access import Access
from harness.clusters.kind.endings import Ending, Endings
from harness.clusters.kind.engine import Engine
from harness.clusters.kind.facts import Facts
from harness.clusters.kind.kubelets import Kubelets
from harness.clusters.kind.static_pods import StaticPods
from harness.clusters.last_words import last_words
from harness.clusters.protocol import Component
from harness.clusters.started import components
from harness.clusters.started.components import nodes_ready
from harness.clusters.started.endpoint import Endpoint
from harness.clusters.started.facts import Extras
from harness.errors import InfrastructureError
from harness.kube.polling import PollTimeout, poll

_START = 120.0  # seconds that a component has to become ready: a loaded machine is slow, a broken one stays broken
_INTERVAL = 0.1
_ETCD = "http://127.0.0.1:2381"  # in the node: metrics and health, without TLS
_READY_PATH = {"kube-controller-manager": "/healthz"}
# After SIGKILL the process is gone.
_SIGNAL = """
for pid in $(pgrep -x "$2"); do
  kill "-$1" "$pid"
  [ "$1" != 9 ] || while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
done
"""
_COMMAND_LENGTH = 15  # what the kernel keeps of a command's name
_CRI_PREFIX = re.compile(r"^\S+ (?:stdout|stderr) [FP] ", re.MULTILINE)
# A rewritten component has another directory, whose name tells nothing of its age.
_NODE_LOGS = 'ls -tr /var/log/pods/kube-system_"$1"-*/"$1"/*.log 2>/dev/null | xargs -r cat'


class Components(components.Components):
    """The control plane's are static Pods of a node, kubelets are units of its systemd."""

    facts: Facts

    def __init__(self, directory: Path, facts: Facts) -> None:
        super().__init__(directory, facts)
        self.engine = Engine(facts.docker_host)
        self.access = Access(directory)
        self.static_pods = StaticPods(self.engine, facts.control_plane)
        self.kubelets = Kubelets(self.engine)

    @cached_property
    def apiserver(self) -> Endpoint:
        """The API server as the administrator."""
        return self.access.endpoint(self.facts.ports.apiserver)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of all nodes with a kubelet, that of the control plane first."""
        return (self.facts.control_plane, *sorted(self.facts.workers))

    def stop(self, component: Component, node: str | None = None) -> None:
        """Stop it and return when it is gone."""
        self.name(component, node)
        if component == "kubelet":
            self.kubelets.stop(self.node(node))
        else:
            self.static_pods.stop(component)

    def signal(self, component: Component, number: signal.Signals, node: str | None = None) -> None:
        """Send a signal to its process, if it runs; its node's kubelet or systemd starts what this ends again."""
        self.name(component, node)
        where = self.node(node) if component == "kubelet" else self.facts.control_plane
        nodes.shell(self.engine, where, _SIGNAL, str(int(number)), component[:_COMMAND_LENGTH])

    def rewrite(self, component: Component, node: str | None, extras: Extras) -> None:
        """Give it, stopped, these gates and flags beside those of the cluster's start."""
        if component == "kubelet":
            self.kubelets.rewrite(self.node(node), extras.gates, extras.args)
        else:
            self.static_pods.rewrite(component, extras.gates, extras.args)
        super().rewrite(component, node, extras)

    def start(self, component: Component, node: str | None = None) -> None:
        """Start it and return when it is healthy."""
        self.name(component, node)
        if component == "kubelet":
            self.kubelets.start(self.node(node))
        else:
            self.static_pods.start(component)
        self.await_healthy(component, node)

    def is_running(self, component: Component, node: str | None = None) -> bool:
        """Whether it is meant to run; says nothing about its health."""
        if component == "kubelet":
            return self.kubelets.is_running(self.node(node))
        return self.static_pods.is_running(self.name(component))

    def is_healthy(self, component: Component, node: str | None = None) -> bool:
        """Whether it says that it is well, right now."""
        return self._health(component, node)()

    def await_healthy(self, component: Component, node: str | None = None) -> None:
        """Return when it is healthy.

        Raises InfrastructureError with its own words: at once when it cannot start, or when it takes too long.
        """
        name, healthy = self.name(component, node), self._health(component, node)
        endings = Endings(name, partial(self._last_end, component, node))

        def look() -> bool:
            if healthy():
                return True
            endings.check()
            return False

        try:
            poll(look, bool, name, timeout=_START, interval=_INTERVAL)
        except PollTimeout as error:
            words = last_words(self.log(component, node), 1)
            raise InfrastructureError(f"{name} is not ready after {_START:g} s; {words}") from error

    def await_running(self, node: str) -> None:
        """Return when the kubelet of a node runs; whether it is healthy only its Node tells."""
        running = partial(self.kubelets.is_running, node)
        try:
            poll(lambda: _tolerant(running), bool, f"the kubelet of {node}", timeout=_START, interval=_INTERVAL)
        except PollTimeout as error:
            raise InfrastructureError(f"the kubelet of {node} does not run after {_START:g} s") from error

    def await_nodes(self, names: Sequence[str]) -> None:
        """Return when all nodes are Ready and free of taints that keep Pods away; InfrastructureError when too late."""
        ready = partial(nodes_ready, self.apiserver, names)
        try:
            poll(lambda: _tolerant(ready), bool, "nodes", timeout=_START, interval=_INTERVAL)
        except PollTimeout as error:
            few = ", ".join(names[:3])
            raise InfrastructureError(f"one of the nodes {few} is not Ready after {_START:g} s") from error

    def log(self, component: Component, node: str | None = None) -> str:
        """Its log so far, as far as the node has kept it."""
        if component == "kubelet":
            return self.kubelets.log(self.node(node))
        text = nodes.shell(self.engine, self.facts.control_plane, _NODE_LOGS, self.name(component))
        return _CRI_PREFIX.sub("", text)

    def metrics(self, component: Component, node: str | None = None) -> str:
        """Its /metrics page."""
        if component == "kubelet":
            return self.apiserver.text(f"/api/v1/nodes/{self.node(node)}/proxy/metrics")
        if component == "etcd":
            return self._etcd("/metrics")
        return self._endpoint(component).text("/metrics")

    def kill(self) -> None:
        """End all of the cluster at once: what runs on this host, then its nodes."""
        super().kill()
        objects.remove_cluster(self.engine, self.facts.kind_name)

    def _endpoint(self, component: str) -> Endpoint:
        ports = self.facts.ports
        known = {"kube-controller-manager": ports.controller_manager, "kube-scheduler": ports.scheduler}
        return self.access.endpoint(known[component]) if component in known else self.apiserver

    def _health(self, component: Component, node: str | None) -> Callable[[], bool]:
        if component == "kubelet":
            path = f"/api/v1/nodes/{self.node(node)}/proxy/healthz"
            return lambda: self.kubelets.is_running(self.node(node)) and self.apiserver.healthy(path)
        if component == "etcd":
            return lambda: _tolerant(lambda: bool(self._etcd("/readyz")))
        endpoint, path = self._endpoint(component), _READY_PATH.get(component, "/readyz")
        return lambda: endpoint.healthy(path)

    def _last_end(self, component: Component, node: str | None) -> Ending | None:
        if component == "kubelet":
            return self.kubelets.last_end(self.node(node))
        return self.static_pods.last_end(component)

    def _etcd(self, path: str) -> str:
        command = ["curl", "--silent", "--show-error", "--fail", f"{_ETCD}{path}"]
        return nodes.execute(self.engine, self.facts.control_plane, command)


def _tolerant(look: Callable[[], bool]) -> bool:
    """What cannot be asked yet is simply not there yet."""
    try:
        return look()
    except InfrastructureError:
        return False
