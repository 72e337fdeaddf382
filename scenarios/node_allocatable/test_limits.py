"""Demand at and beyond the limits (XD-40, XD-48)."""

import pytest

from fake_driver.inventory import Device, Pool, by_capacity, by_device
from harness.kube.predicates import scheduled, scheduling_error
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.node_allocatable.arrange import (
    Consumer,
    allocatable,
    amount,
    bound,
    consumer,
    demand,
    driver_on,
    large_node,
    left_out,
    room_is,
)

pytestmark = [
    pytest.mark.needs("bare-nodes"),
    pytest.mark.feature("ResourceSlice.spec.devices.nodeAllocatableResources"),
]

#: The greatest number of 64 bits, in which the scheduler counts milli-CPUs and bytes.
GREATEST = 2**63 - 1


def devices_of(resource: str, each: int) -> Pool:
    """Two devices that take so much of the resource."""
    footprint = {resource: by_device(str(each))}
    return Pool(devices=[Device(f"d{index}", node_allocatable_resources=footprint) for index in range(2)])


def user_of(scenario: Scenario, node: str, resource: str, each: int, count: int) -> Consumer:
    """A Pod with a claim for so many devices that take `each`."""
    return consumer(scenario, driver_on(scenario, node, devices_of(resource, each)), node, count=count)


@pytest.mark.statement("XD-40")
@pytest.mark.deviates("XD-40", "the scheduler's sums wrap around beyond 64 bits, and the node gets more room from it")
def test_demand_beyond_64_bits_fits_any_node(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario)
    each = GREATEST // 1000 if difference("the demand is the greatest that 64 bits hold") else GREATEST

    user = user_of(scenario, node, "cpu", each, 1)

    held = scenario.wait(user.pod, scheduled(node), timeout=15)
    assert demand(held)["cpu"] == each > allocatable(scenario, node, "cpu")
    # A thousand times 2^63-1 is -1000 in 64 bits: the node counts as if one CPU had been given back.
    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu") + 1)


@pytest.mark.statement("XD-40")
@pytest.mark.deviates("XD-40", "the scheduler's sums wrap around beyond 64 bits, and the node gets more room from it")
def test_devices_together_beyond_64_bits_fit_any_node(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario)
    count = 1 if difference("the demand is the greatest that 64 bits hold") else 2

    user = user_of(scenario, node, "memory", GREATEST, count)

    held = scenario.wait(user.pod, scheduled(node), timeout=15)
    assert demand(held)["memory"] == 2 * GREATEST


@pytest.mark.control("XD-40")
@pytest.mark.parametrize(("resource", "each"), [("cpu", GREATEST // 1000), ("memory", GREATEST)])
def test_greatest_demand_of_64_bits_fits_no_node(scenario: Scenario, resource: str, each: int) -> None:
    node = large_node(scenario)

    user = user_of(scenario, node, resource, each, 1)

    left_out(scenario, user.pod, f"Insufficient {resource}")


def cores(*, shared: bool) -> Pool:
    """One device whose capacity is mapped to CPUs."""
    footprint = {"cpu": by_capacity("cores")}
    device = Device(
        "cores", capacity={"cores": "8"}, allow_multiple_allocations=shared, node_allocatable_resources=footprint
    )
    return Pool(devices=[device])


@pytest.mark.statement("XD-48")
@pytest.mark.deviates(
    "XD-48", "a device that is not shared has no consumed capacity, which the scheduler takes as an error"
)
def test_mapping_by_capacity_of_an_unshared_device_ends_in_an_error(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, cores(shared=difference("the device may be shared")))

    user = consumer(scenario, driver, node)

    message = "ConsumedCapacity is nil, but Capacity key 'cores' is set in NodeAllocatableResources"
    scenario.wait(user.pod, scheduling_error(message), timeout=15)


@pytest.mark.control("XD-48")
def test_mapping_by_capacity_of_a_shared_device_takes_all_of_it(scenario: Scenario) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, cores(shared=True))

    user = bound(scenario, consumer(scenario, driver, node))

    assert demand(user.pod) == {"cpu": amount("8")}
    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu") - 8)
