"""Restarts and what takes them back, on components that only note what is done to them."""

import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from harness.clusters.protocol import Component
from harness.clusters.resolution import Resolution
from harness.clusters.started.cluster import StartedCluster
from harness.clusters.started.components import Components
from harness.clusters.started.endpoint import Endpoint
from harness.clusters.started.facts import Extras, Facts
from harness.errors import InfrastructureError, UsageError

FACTS = Facts("c", "abcdef", "1.37", {}, Resolution({}, {}, (), ()))


class ApiServer:
    """Knows which nodes are Ready."""

    ready = ("n1", "n2")

    def get(self, _path: str) -> dict[str, Any]:
        conditions = [{"type": "Ready", "status": "True"}]
        nodes = [{"metadata": {"name": name}, "spec": {}, "status": {"conditions": conditions}} for name in self.ready]
        return {"items": nodes}


class Noted(Components):
    """Components as a provider has them, without any program."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory, FACTS)
        self.done: list[str] = []
        self.running = {self.name(component, node) for component, node in self.every()}
        self.sick: set[str] = set()
        self.server = ApiServer()

    @property
    def apiserver(self) -> Endpoint:
        return cast(Endpoint, self.server)

    @property
    def nodes(self) -> tuple[str, ...]:
        return ("n1", "n2")

    def rewrite(self, component: Component, node: str | None, extras: Extras) -> None:
        self.done.append(f"rewrite {self.name(component, node)}")
        super().rewrite(component, node, extras)

    def stop(self, component: Component, node: str | None = None) -> None:
        self.done.append(f"stop {self.name(component, node)}")
        self.running.discard(self.name(component, node))

    def start(self, component: Component, node: str | None = None) -> None:
        self.done.append(f"start {self.name(component, node)}")
        self.running.add(self.name(component, node))

    def signal(self, component: Component, number: signal.Signals, node: str | None = None) -> None:
        self.running.discard(self.name(component, node))

    def is_running(self, component: Component, node: str | None = None) -> bool:
        return self.name(component, node) in self.running

    def is_healthy(self, component: Component, node: str | None = None) -> bool:
        if "all" in self.sick:
            raise InfrastructureError("nobody answers")
        return self.is_running(component, node) and self.name(component, node) not in self.sick

    def await_healthy(self, component: Component, node: str | None = None) -> None:
        self.done.append(f"await {self.name(component, node)}")

    def await_nodes(self, names: Sequence[str]) -> None:
        raise NotImplementedError

    def log(self, component: Component, node: str | None = None) -> str:
        raise NotImplementedError

    def metrics(self, component: Component, node: str | None = None) -> str:
        raise NotImplementedError


class NotedCluster(StartedCluster):
    def kubelet_nodes(self) -> tuple[str, ...]:
        return self._components.nodes

    def identity(self, user: str, groups: Sequence[str] = ()) -> Path:
        raise NotImplementedError


@pytest.fixture
def components(tmp_path: Path) -> Noted:
    return Noted(tmp_path / "c")


@pytest.fixture
def cluster(components: Noted) -> NotedCluster:
    return NotedCluster(components.directory, FACTS, components)


def test_a_restart_changes_nothing_that_it_does_not_name(cluster: NotedCluster, components: Noted) -> None:
    cluster.restart("kubelet", "n1")
    assert components.done == ["stop kubelet-n1", "start kubelet-n1"]
    cluster.restart("kubelet", "n1", gates={"A": True}, args=["--v=5"])
    cluster.restart("kubelet", "n1", gates={"B": False})
    assert components.extras("kubelet", "n1") == Extras({"B": False}, ("--v=5",))
    assert components.extras("kubelet", "n2") == Extras()
    assert components.done[2:5] == ["stop kubelet-n1", "rewrite kubelet-n1", "start kubelet-n1"]
    components.done.clear()
    cluster.restart("kubelet", "n1", args=["--v=5"])
    assert components.done == ["stop kubelet-n1", "start kubelet-n1"], "it had them"


def test_a_reset_takes_back_what_was_changed_and_touches_nothing_else(cluster: NotedCluster, components: Noted) -> None:
    cluster.restart("kube-scheduler", args=["--v=5"])
    cluster.stop("kubelet", "n2")
    components.done.clear()
    cluster.reset()
    assert components.done == [
        "stop kube-scheduler",
        "rewrite kube-scheduler",
        "start kube-scheduler",
        "start kubelet-n2",
    ]
    components.done.clear()
    cluster.reset()
    assert components.done == [], "all is as it was"


def test_what_a_restart_gave_is_known_to_other_processes(cluster: NotedCluster, components: Noted) -> None:
    cluster.restart("kube-apiserver", gates={"A": True})
    assert Noted(components.directory).extras("kube-apiserver") == Extras({"A": True})


def test_etcd_is_back_once_the_api_server_has_found_it(cluster: NotedCluster, components: Noted) -> None:
    cluster.start("etcd")
    assert components.done == ["start etcd", "await kube-apiserver"]
    components.done.clear()
    cluster.signal("kube-apiserver", signal.SIGKILL)
    cluster.start("etcd")
    assert components.done == ["start etcd"], "a stopped one is not waited for"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda components: components.sick.add("kubelet-n2"),
        lambda components: components.sick.add("all"),
        lambda components: components.running.discard("etcd"),
        lambda components: setattr(components.server, "ready", ("n1",)),
    ],
    ids=["sick", "silent", "stopped", "node-not-ready"],
)
def test_one_that_is_not_well_is_enough(
    cluster: NotedCluster, components: Noted, spoil: Callable[[Noted], object]
) -> None:
    assert cluster.is_healthy()
    spoil(components)
    assert not cluster.is_healthy()


@pytest.mark.parametrize(
    ("component", "node", "told"),
    [
        ("kubectl", None, "unknown component 'kubectl'; choose one of etcd, .*, kubelet"),
        ("kubelet", None, "cluster c has no kubelet on node None; it has: n1, n2"),
        ("kubelet", "n3", "cluster c has no kubelet on node 'n3'; it has: n1, n2"),
    ],
)
def test_what_is_not_there_is_told(cluster: NotedCluster, component: Component, node: str | None, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        cluster.restart(component, node)


def test_a_deleted_cluster_leaves_nothing_and_may_be_deleted_again(cluster: NotedCluster) -> None:
    FACTS.write(cluster.directory)
    cluster.delete()
    assert not cluster.directory.exists()
    cluster.delete()
