"""The driver says in its slices what a device takes of its node, and what the API takes (NA-01, NA-14)."""

from collections.abc import Mapping
from typing import Any

import pytest

from fake_driver.inventory import Device, by_capacity, by_device, overhead
from fake_driver.profiles import cpu_sockets
from harness.kube.builders import resource_slice
from harness.plugin.outcome import Difference
from harness.plugin.scenario import LABEL, Object, Scenario
from scenarios.node_allocatable.arrange import (
    FEATURE,
    allocatable,
    bound,
    consumed,
    consumer,
    demand,
    driver_on,
    footprint,
    forbidden,
    large_node,
    room_is,
    without_footprint,
)
from scenarios.node_allocatable.published import published_devices

pytestmark = [
    pytest.mark.needs("bare-nodes"),
    pytest.mark.feature("ResourceSlice.spec.devices.nodeAllocatableResources"),
]

Footprint = Mapping[str, Mapping[str, Any]]


def slice_with(scenario: Scenario, taken: Footprint, **where: Any) -> Object:
    """A slice with one device that takes this of its node."""
    device = Device("device", capacity={"cores": "8"}, node_allocatable_resources=taken)
    return resource_slice(scenario.namespace, "none.example.com", [device.to_api()], **where)


@pytest.mark.statement("NA-01")
def test_footprint_in_cpu_memory_and_huge_pages_is_stored_as_written(
    scenario: Scenario, difference: Difference
) -> None:
    node = large_node(scenario)
    written = {
        "cpu": by_capacity("cores", "2"),
        "memory": overhead("1Gi", "256Mi"),
        "hugepages-2Mi": by_device("4Mi"),
    }
    given = {} if difference("the device says nothing of the node's resources") else written

    stored = scenario.create(slice_with(scenario, given, node=node))

    assert stored["spec"]["devices"][0].get("nodeAllocatableResources") == written


@pytest.mark.control("NA-01")
def test_device_need_not_say_anything_of_its_node(scenario: Scenario) -> None:
    node = large_node(scenario)

    stored = scenario.create(slice_with(scenario, {}, node=node))

    assert "nodeAllocatableResources" not in stored["spec"]["devices"][0]


@pytest.mark.statement("NA-14")
def test_driver_declares_the_footprint_in_the_device_of_its_slice(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario)
    declared = not difference("the driver leaves the field out")
    driver = driver_on(scenario, node, cpu_sockets(1) if declared else without_footprint(cpu_sockets(1)))

    (device,) = published_devices(scenario, driver)
    assert device.get("nodeAllocatableResources") == {"cpu": by_capacity("cpu", "1")}
    held = bound(scenario, consumer(scenario, driver, node, capacity={"cpu": 4}))
    assert demand(held.pod) == {"cpu": consumed(held.claim, "cpu")}


@pytest.mark.control("NA-14")
def test_device_without_the_field_is_allocated_and_not_counted(scenario: Scenario) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, without_footprint(cpu_sockets(1)))

    held = bound(scenario, consumer(scenario, driver, node, capacity={"cpu": 4}))

    assert consumed(held.claim, "cpu") == 4
    assert footprint(held.pod) == []
    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu"))


@pytest.mark.statement("NA-14")
@pytest.mark.parametrize("nodes", ["silent", "missing", "one-of-two"])
def test_footprint_is_refused_where_a_node_does_not_declare_the_feature(
    scenario: Scenario, difference: Difference, nodes: str
) -> None:
    declares = bool(difference("every node is there and declares the feature"))
    node = large_node(scenario)
    where: dict[str, Any] = {"node": node}
    message = f"does not support {FEATURE}"
    if nodes == "missing":
        where = {"node": node if declares else f"{node}-missing"}
        message = "not found"
    elif nodes == "silent":
        where = {"node": large_node(scenario, "silent", declares=declares)}
    else:
        large_node(scenario, "silent", declares=declares)
        where = {"node_selector": of_this_scenario(scenario)}

    covering = slice_with(scenario, {"cpu": by_device("1")}, **where)
    forbidden(lambda: scenario.create(covering), message)


def of_this_scenario(scenario: Scenario) -> Object:
    """A selector of the scenario's own nodes."""
    return {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": LABEL, "operator": "In", "values": [scenario.namespace]}]}]
    }


@pytest.mark.control("NA-14")
def test_footprint_is_taken_where_every_selected_node_declares_the_feature(scenario: Scenario) -> None:
    large_node(scenario)
    large_node(scenario, "second")
    written = {"cpu": by_device("1")}

    stored = scenario.create(slice_with(scenario, written, node_selector=of_this_scenario(scenario)))

    assert stored["spec"]["devices"][0]["nodeAllocatableResources"] == written
