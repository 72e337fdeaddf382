"""A claim in use, whose mapped device is published without the mapping (XD-45)."""

import pytest

from fake_driver.profiles import core_complexes
from harness.drivers import Driver
from harness.kube.builders import pod
from harness.kube.predicates import reserved_for, scheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.node_allocatable.arrange import (
    Consumer,
    allocatable,
    bound,
    consumer,
    demand,
    driver_on,
    footprint,
    large_node,
    left_out,
    room_is,
    without_footprint,
)

pytestmark = [
    pytest.mark.needs("bare-nodes"),
    pytest.mark.feature("ResourceSlice.spec.devices.nodeAllocatableResources"),
]


def used_and_wanted(scenario: Scenario, driver: Driver, node: str) -> tuple[Consumer, Object]:
    """A bound Pod that has a mapped device, and a second one that waits because it refers to the same claim."""
    first = bound(scenario, consumer(scenario, driver, node))
    second = scenario.create(pod("second", claims={"device": first.claim}, on=node))
    return first, left_out(scenario, second, "has a mapped device and cannot be shared across pods")


@pytest.mark.statement("XD-45")
@pytest.mark.deviates("XD-45", "the scheduler asks only the slice as it is now whether an allocated device is mapped")
def test_any_pod_shares_the_claim_once_the_device_has_lost_its_mapping(
    scenario: Scenario, difference: Difference
) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, core_complexes(1, "8"))
    first, second = used_and_wanted(scenario, driver, node)

    if not difference("the mapping stays"):
        driver.control.set_pools([without_footprint(pool) for pool in driver.control.pools])

    uncharged = scenario.wait(second, scheduled(node), timeout=15)
    scenario.wait(first.claim, reserved_for(first.pod) & reserved_for(second))
    assert footprint(uncharged) == []
    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu") - demand(first.pod)["cpu"])


@pytest.mark.control("XD-45")
def test_second_pod_waits_while_the_device_is_mapped(scenario: Scenario) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, core_complexes(1, "8"))

    used_and_wanted(scenario, driver, node)

    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu") - 8)
