"""The preflight's answers, by what a cluster tells."""

from pathlib import Path
from typing import Any, cast

import pytest

from harness.clusters.existing import preflight
from harness.clusters.existing.facts import Facts
from harness.clusters.existing.target import Target
from harness.errors import UsageError
from harness.kube import ApiError, Client, Obj


def node(name: str, *, runtime: str = "containerd://2", images: tuple[str, ...] = (), **spec: Any) -> Obj:
    return {
        "metadata": {"name": name},
        "spec": spec,
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"containerRuntimeVersion": runtime, "operatingSystem": "linux"},
            "images": [{"names": list(images)}],
        },
    }


class Cluster:
    """Answers as an API server does."""

    def __init__(self, *nodes: Obj, minor: str = "37", refused: tuple[str, ...] = (), metrics: str | None = "") -> None:
        self.nodes = nodes
        self.minor = minor
        self.refused = refused
        self.page = metrics

    def raw(self, _method: str, path: str, _query: Any = None, body: Any = None) -> Any:
        match path.rsplit("/", 1)[-1]:
            case "version":
                return {"major": "1", "minor": self.minor, "gitVersion": f"v1.{self.minor}.9-vendor"}
            case "apis":
                return {"groups": [{"versions": [{"groupVersion": "resource.k8s.io/v1"}]}]}
            case "metrics" if self.page is None:
                raise ApiError(path, 403, "Forbidden", "no")
            case "metrics":
                return self.page
        wanted = body["spec"]["resourceAttributes"]
        return {"status": {"allowed": wanted["resource"] not in self.refused}}

    def list(self, kind: str) -> tuple[list[Obj], str]:
        known = {
            "Node": list(self.nodes),
            "ResourceSlice": [{"spec": {"driver": "gpu.vendor.com"}}],
            "DeviceClass": [{"metadata": {"name": "gpu"}}],
        }
        return known[kind], "1"


def look(cluster: Cluster, **target: str) -> Facts:
    given = Target(Path("config"), "theirs", {}, **target)
    return preflight.look(cast("Client", cluster), given, "existing", "abcdef")


def test_nodes_that_take_no_pods_are_left_out() -> None:
    tainted = node("cp", taints=[{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}])
    assert look(Cluster(tainted, node("b"), node("a"), node("c", unschedulable=True))).nodes == ["a", "b"]


def test_driver_runs_in_pods_where_the_nodes_have_its_image_or_can_pull_one() -> None:
    assert look(Cluster(node("a", images=(preflight.DRIVER_IMAGE,)))).driver == "pods"
    named = look(Cluster(node("a")), driver_image="registry.example.com/fake-driver:1")
    assert (named.driver, named.driver_image) == ("pods", "registry.example.com/fake-driver:1")


@pytest.mark.parametrize(
    ("cluster", "told"),
    [
        (Cluster(node("a")), "--driver-image"),
        (Cluster(node("a", runtime="dra-e2e-pretend://1")), "only pretend containers"),
        (Cluster(node("a", images=(preflight.DRIVER_IMAGE,)), refused=("daemonsets",)), "may not create daemonsets"),
    ],
)
def test_else_it_is_only_published_and_the_reason_told(cluster: Cluster, told: str) -> None:
    found = look(cluster)
    assert found.driver == "api"
    assert told in " ".join(found.notes)


def test_gates_are_read_where_they_may_be() -> None:
    page = 'kubernetes_feature_enabled{name="DRADeviceTaints",stage="BETA"} 0\n'
    assert look(Cluster(node("a"), metrics=page)).gates == {"DRADeviceTaints": False}
    assert look(Cluster(node("a"), metrics=None)).gates == {}


@pytest.mark.parametrize(
    ("cluster", "target", "message"),
    [
        (Cluster(node("a"), minor="99"), {}, r"runs v1.99.9-vendor; known here are 1.37"),
        (Cluster(node("a"), refused=("pods",)), {}, "may not create pods"),
        (Cluster(node("a", unschedulable=True)), {}, "no node is Ready"),
        (Cluster(node("a")), {"driver": "x", "device_class": "gpu"}, "no driver x, but gpu.vendor.com"),
        (Cluster(node("a")), {"driver": "gpu.vendor.com", "device_class": "y"}, "no DeviceClass y, but gpu"),
    ],
)
def test_where_nothing_could_be_tried_a_line_says_why(cluster: Cluster, target: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        look(cluster, **target)
