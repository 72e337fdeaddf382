"""Taints of nodes and taints of devices are passed separately (TO-09 to TO-12)."""

from collections.abc import Sequence

import pytest

from fake_driver.profiles import gpus
from harness.clusters.protocol import BareNode
from harness.drivers import Driver
from harness.kube.builders import claim, device_toleration, on_node, pod, request, toleration
from harness.kube.predicates import running, scheduled, unschedulable
from harness.plugin.outcome import Difference
from harness.plugin.scenario import LABEL, Object, Scenario
from scenarios.taint.arrange import BROKEN, tainted
from scenarios.taint.outcomes import is_placed, kept_off
from scenarios.taint.seen import slices_seen

pytestmark = pytest.mark.needs("bare-nodes")

NODE_TAINT = {"key": "example.com/node-broken", "effect": "NoSchedule"}
FOR_NODE = [toleration("example.com/node-broken", effect="NoSchedule")]
FOR_DEVICE = [device_toleration(BROKEN.key, effect="NoSchedule")]
NODE_TAINTED = "untolerated taint"


class Place:
    """A node of the scenario's own with one or two GPUs, the first of them tainted."""

    def __init__(self, scenario: Scenario, *, node_tainted: bool, device_tainted: bool = True, count: int = 1) -> None:
        (self.node,) = scenario.bare_nodes(BareNode("gpus", taints=[NODE_TAINT] if node_tainted else []))
        pool = tainted(gpus(count), "gpu-0", *((BROKEN,) if device_tainted else ()))
        self.driver: Driver = scenario.driver(pool, nodes=[self.node], plugin=False)
        self._scenario = scenario
        slices_seen(scenario)

    def user(self, name: str, *, node_tolerations: Sequence[Object] = (), tolerations: Sequence[Object] = ()) -> Object:
        """A Pod for a GPU of this node and no other: messages are about this node only."""
        wanted = self._scenario.create(claim(name, request(self.driver.device_class, tolerations=tolerations)))
        return self._scenario.create(
            pod(name, claims={"gpu": wanted}, affinity=on_node(self.node), tolerations=node_tolerations)
        )


def kept_off_by_the_node(scenario: Scenario, waiter: Object) -> str:
    """The scheduler keeps the Pod off because of the node's taint; its message."""
    outcome = scenario.wait(waiter, unschedulable() | scheduled())
    assert unschedulable(NODE_TAINTED)(outcome), "it was not the node's taint that kept the Pod off"
    return next(str(c["message"]) for c in outcome["status"]["conditions"] if c["type"] == "PodScheduled")


@pytest.mark.statement("TO-09", "TO-10", "TO-11")
def test_toleration_of_node_or_device_alone_is_not_enough(scenario: Scenario, difference: Difference) -> None:
    place = Place(scenario, node_tainted=not difference("the node has no taint"))

    for_device_only = place.user("for-device-only", tolerations=FOR_DEVICE)
    message = kept_off_by_the_node(scenario, for_device_only)
    assert NODE_TAINT["key"] not in message
    kept_off(scenario, place.user("for-node-only", node_tolerations=FOR_NODE))

    both = place.user("both", node_tolerations=FOR_NODE, tolerations=FOR_DEVICE)
    scenario.wait(both, running())


@pytest.mark.statement("TO-09", "TO-11")
def test_toleration_of_the_node_does_not_reach_the_device(scenario: Scenario, difference: Difference) -> None:
    place = Place(scenario, node_tainted=True, device_tainted=not difference("the device has no taint"))

    kept_off(scenario, place.user("for-node-only", node_tolerations=FOR_NODE))


@pytest.mark.control("TO-09")
@pytest.mark.parametrize("device_tainted", [False, True], ids=["device-untainted", "device-tainted"])
@pytest.mark.parametrize("node_tainted", [False, True], ids=["node-untainted", "node-tainted"])
def test_each_taint_needs_its_toleration_and_no_other(
    scenario: Scenario, node_tainted: bool, device_tainted: bool
) -> None:
    place = Place(scenario, node_tainted=node_tainted, device_tainted=device_tainted)

    scenario.wait(
        place.user(
            "user",
            node_tolerations=FOR_NODE if node_tainted else (),
            tolerations=FOR_DEVICE if device_tainted else (),
        ),
        running(),
    )


@pytest.mark.control("TO-10")
def test_pod_that_tolerates_the_node_taint_is_kept_off_by_the_device_only(scenario: Scenario) -> None:
    place = Place(scenario, node_tainted=True)

    waiter = place.user("for-node-only", node_tolerations=FOR_NODE)

    kept_off(scenario, waiter)
    assert not unschedulable(NODE_TAINTED)(scenario.get(waiter))


@pytest.mark.control("TO-11")
def test_pod_is_placed_on_another_device_of_the_node_that_is_not_tainted(scenario: Scenario) -> None:
    place = Place(scenario, node_tainted=True, count=2)

    is_placed(scenario, place.user("for-node-only", node_tolerations=FOR_NODE))


def needless_taints(scenario: Scenario, node: str) -> list[Object]:
    """The node's taints beside the one that keeps others' Pods away from it."""
    taints: list[Object] = scenario.client.get("Node", node)["spec"].get("taints", [])
    return [taint for taint in taints if taint["key"] != LABEL]


@pytest.mark.statement("TO-12")
def test_healthy_device_is_usable_when_no_taint_is_left_on_the_node(scenario: Scenario, difference: Difference) -> None:
    place = Place(scenario, node_tainted=difference("a node taint is left over"), count=2)

    is_placed(scenario, place.user("user"))
    kept_off(scenario, place.user("one-too-many"))
    assert needless_taints(scenario, place.node) == []


@pytest.mark.control("TO-12")
def test_node_taint_that_is_left_over_keeps_pods_off_the_healthy_device(scenario: Scenario) -> None:
    place = Place(scenario, node_tainted=True, count=2)

    kept_off_by_the_node(scenario, place.user("user"))
    assert [taint["key"] for taint in needless_taints(scenario, place.node)] == [NODE_TAINT["key"]]
