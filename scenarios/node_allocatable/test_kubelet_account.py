"""The account of a node whose kubelet admits and resizes Pods (XD-46, XD-49)."""

from decimal import Decimal

import pytest

from fake_driver.profiles import memory_blocks
from harness.kube.builders import pod
from harness.kube.predicates import failed, running, scheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.node_allocatable.arrange import (
    Consumer,
    amount,
    consumer,
    demand,
    footprint,
    free,
    left_out,
    ordinary,
    quantity,
    room_is,
    without_footprint,
)

pytestmark = pytest.mark.feature("ResourceSlice.spec.devices.nodeAllocatableResources")

#: Memory that a Pod has through its claim, that its container asks for, and that it asks for after the resize.
TAKEN, ASKED, LESS = amount("500Mi"), amount("600Mi"), amount("200Mi")


def runs_with_memory(scenario: Scenario) -> Consumer:
    """A running Pod that has memory through its claim and requests some besides."""
    driver = scenario.driver(memory_blocks(1))
    made = consumer(
        scenario, driver, scenario.node, capacity={"memory": quantity(TAKEN)}, requests={"memory": quantity(ASKED)}
    )
    return Consumer(scenario.wait(made.pod, running()), scenario.get(made.claim))


def resize(scenario: Scenario, of: Object, size: Decimal) -> None:
    """Ask for another request of memory for the Pod's container."""
    container = {"name": "main", "resources": {"requests": {"memory": quantity(size)}}}
    scenario.client.patch(of, {"spec": {"containers": [container]}}, "strategic", subresource="resize")


@pytest.mark.statement("XD-46")
@pytest.mark.exclusive("cluster")  # others would count in the node's account
@pytest.mark.needs("kubelet", "cgroup")  # a kubelet without control groups for Pods carries out no resize
def test_resize_gives_back_what_the_container_asks_for_less(scenario: Scenario, difference: Difference) -> None:
    user = runs_with_memory(scenario)
    left = free(scenario, scenario.node, "memory")
    waiter = ordinary(scenario, scenario.node, "waiter", {"memory": left + ASKED - LESS})
    left_out(scenario, waiter, "Insufficient memory")

    if not difference("there is no resize"):
        resize(scenario, user.pod, LESS)

    scenario.wait(waiter, scheduled(scenario.node), timeout=20)
    resized = scenario.get(user.pod)
    assert footprint(resized) == footprint(user.pod)
    assert demand(resized) == {"memory": TAKEN}
    room_is(scenario, scenario.node, "memory", Decimal(0))


@pytest.mark.control("XD-46")
@pytest.mark.exclusive("cluster")  # others would count in the node's account
@pytest.mark.needs("kubelet", "cgroup")  # a kubelet without control groups for Pods carries out no resize
def test_without_a_resize_there_is_no_more_room(scenario: Scenario) -> None:
    runs_with_memory(scenario)

    room_is(scenario, scenario.node, "memory", free(scenario, scenario.node, "memory"))


def beside_half_a_node(scenario: Scenario, *, counted: bool) -> Object:
    """A Pod for a node half of whose memory another has through its claim, a byte too large for the rest.

    The scheduler is not asked. Returned once the kubelet has decided.
    """
    half = free(scenario, scenario.node, "memory") // 2
    left = free(scenario, scenario.node, "memory") - half
    blocks = memory_blocks(1)
    driver = scenario.driver(blocks if counted else without_footprint(blocks))
    user = consumer(scenario, driver, scenario.node, capacity={"memory": quantity(half)})
    scenario.wait(user.pod, running())
    late = pod("late", node_name=scenario.node, requests={"memory": quantity(left + 1)})
    return scenario.wait(scenario.create(late), running() | failed())


@pytest.mark.statement("XD-49")
@pytest.mark.exclusive("cluster")  # others would count in the node's account
@pytest.mark.needs("kubelet")
def test_kubelet_refuses_a_pod_for_the_demand_of_another(scenario: Scenario, difference: Difference) -> None:
    counted = not difference("the devices take nothing of the node")

    late = beside_half_a_node(scenario, counted=counted)

    assert failed()(late), "the kubelet has admitted the Pod"
    assert late["status"]["reason"] == "OutOfmemory"


@pytest.mark.control("XD-49")
@pytest.mark.exclusive("cluster")  # others would count in the node's account
@pytest.mark.needs("kubelet")
def test_kubelet_admits_the_pod_beside_devices_that_take_nothing(scenario: Scenario) -> None:
    late = beside_half_a_node(scenario, counted=False)

    assert running()(late), late["status"].get("message")
