"""Slices for all nodes, with nodes per device, and for nodes that come later (XD-44)."""

import pytest

from fake_driver.inventory import by_device
from fake_driver.profiles import core_complexes
from harness.clusters.protocol import BareNode
from harness.kube import ApiError
from harness.kube.builders import resource_slice
from harness.plugin.outcome import Difference
from harness.plugin.scenario import LABEL, Object, Scenario
from scenarios.node_allocatable.arrange import (
    FEATURE,
    allocatable,
    bound,
    consumer,
    demand,
    forbidden,
    large_node,
    room_is,
)

pytestmark = [
    pytest.mark.needs("bare-nodes"),
    pytest.mark.feature("ResourceSlice.spec.devices.nodeAllocatableResources"),
]


def mapped(name: str, **where: object) -> Object:
    """A device that takes a CPU of its node."""
    return {"name": name, "nodeAllocatableResources": {"cpu": by_device("1")}, **where}


def per_device(scenario: Scenario, *devices: Object) -> Object:
    """A slice whose devices say themselves where they are."""
    made = resource_slice(scenario.namespace, "covered.example.com", devices)
    made["spec"]["perDeviceNodeSelection"] = True
    return made


def silent_node(scenario: Scenario) -> str:
    """A node that does not declare the feature, of which the API server's admission has been told."""
    (node,) = scenario.bare_nodes(BareNode("silent"))
    known = resource_slice(node, "admission.example.com", [mapped("device")], node=node)

    def answer() -> str:
        try:
            scenario.client.create(known, dry_run=True)
        except ApiError as error:
            return error.message
        return "taken"

    scenario.waiter.poll(answer, lambda text: "not found" not in text, f"admission knows {node}", interval=0.02)
    return node


@pytest.mark.statement("XD-44")
def test_every_node_that_the_devices_cover_must_declare_the_feature(scenario: Scenario, difference: Difference) -> None:
    node, silent = large_node(scenario), silent_node(scenario)
    second = node if difference("all devices are for nodes that declare it") else silent
    unsupported = f'node "{silent}" does not support {FEATURE}'

    both = per_device(scenario, mapped("first", nodeName=node), mapped("second", nodeName=second))
    forbidden(lambda: scenario.client.create(both, dry_run=True), unsupported)

    everywhere = resource_slice(scenario.namespace, "covered.example.com", [mapped("device")], all_nodes=True)
    forbidden(lambda: scenario.client.create(everywhere, dry_run=True), f"does not support {FEATURE}")

    plain = scenario.create(resource_slice(scenario.namespace, "covered.example.com", ["device"], node=silent))
    plain["spec"]["devices"] = [mapped("device")]
    forbidden(lambda: scenario.client.replace(plain), unsupported)


@pytest.mark.control("XD-44")
def test_device_that_takes_nothing_may_be_on_any_node(scenario: Scenario) -> None:
    node, silent = large_node(scenario), silent_node(scenario)
    devices = [mapped("first", nodeName=node), {"name": "second", "nodeName": silent}]

    stored = scenario.client.create(per_device(scenario, *devices), dry_run=True)

    assert [("nodeAllocatableResources" in device) for device in stored["spec"]["devices"]] == [True, False]


@pytest.mark.control("XD-44")
def test_node_that_comes_later_is_not_asked(scenario: Scenario) -> None:
    large_node(scenario)
    own = {"matchExpressions": [{"key": LABEL, "operator": "In", "values": [scenario.namespace]}]}
    ccx = core_complexes(1, "8", name="ccx", node_selector={"nodeSelectorTerms": [own]})
    driver = scenario.driver(ccx, plugin=False)

    later = silent_node(scenario)

    user = bound(scenario, consumer(scenario, driver, later))
    assert demand(user.pod) == {"cpu": 8}
    room_is(scenario, later, "cpu", allocatable(scenario, later, "cpu") - 8)
