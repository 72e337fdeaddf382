"""Pools and the order in which their devices are taken (XD-01, XD-02)."""

from collections.abc import Sequence

import pytest

from fake_driver.inventory import Device, Pool
from fake_driver.profiles import gpus
from harness.clusters.protocol import BareNode
from harness.drivers import Driver
from harness.kube.builders import device_class, request
from harness.kube.predicates import allocated_devices
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.beyond.consumers import ask, left_out, served, slices_seen

ANNOUNCED = 3  # slices

#: The devices of two drivers with two pools each, three devices to a pool.
ROW = tuple(f"device-{number:02d}" for number in range(12))


def torn_pool(node: str, slices: int) -> Pool:
    """The first pool by name: one device in each slice, and not all slices that it announces."""
    return gpus(slices, name="a", node=node, slice_size=1, slice_count=ANNOUNCED, generation=1)


def driver_with_torn_and_whole_pool(scenario: Scenario, slices: int) -> Driver:
    """A driver on a node of its own: an incomplete pool would get in the way of others' claims for all devices."""
    (node,) = scenario.bare_nodes(BareNode("own"))
    torn = torn_pool(node, slices)
    driver = scenario.driver(torn, nodes=[node], plugin=False)
    # Written later than the other pool's slices: who takes this device has seen those.
    driver.control.set_pools([torn, gpus(1, name="b", node=node)])
    return driver


@pytest.mark.statement("XD-01")
@pytest.mark.feature("ResourcePool.incomplete-gives-no-device")
@pytest.mark.needs("bare-nodes")
@pytest.mark.parametrize("slices", [1, 2])
def test_no_device_of_an_incomplete_pool_is_taken(scenario: Scenario, difference: Difference, slices: int) -> None:
    if difference("all slices that the pool announces are there"):
        slices = ANNOUNCED
    driver = driver_with_torn_and_whole_pool(scenario, slices)

    first = served(scenario, *ask(scenario, "first", request(driver.device_class)))

    assert [device.pool for device in allocated_devices(first)] == ["b"]
    left_out(scenario, *ask(scenario, "second", request(driver.device_class)))


@pytest.mark.control("XD-01")
@pytest.mark.feature("ResourcePool.incomplete-gives-no-device")
@pytest.mark.needs("bare-nodes")
def test_waiting_pod_is_served_once_the_last_slice_appears(scenario: Scenario) -> None:
    driver = driver_with_torn_and_whole_pool(scenario, ANNOUNCED - 1)
    served(scenario, *ask(scenario, "first", request(driver.device_class)))
    waiter = ask(scenario, "second", request(driver.device_class))
    left_out(scenario, *waiter)

    torn, whole = driver.control.pools
    assert torn.node
    driver.control.set_pools([torn_pool(torn.node, ANNOUNCED), whole])

    assert [device.pool for device in allocated_devices(served(scenario, *waiter))] == ["a"]


def publish(scenario: Scenario, node: str, devices: Sequence[str]) -> str:
    """Publish the devices so that their names stand in the order of drivers, pools, slices and places.

    The drivers, and the pools of each, are written in the opposite order. Returns a class of all the devices.
    """
    drivers = [scenario.driver(nodes=[node], plugin=False, device_class=False) for _ in range(2)]
    drivers.sort(key=lambda driver: driver.name)
    for driver, own in zip(reversed(drivers), (devices[6:], devices[:6]), strict=True):
        last = pool_in_two_slices(driver.name, node, "b", own[3:])
        driver.control.set_pools([last])
        driver.control.set_pools([last, pool_in_two_slices(driver.name, node, "a", own[:3])])
    slices_seen(scenario, node)
    both = f"device.driver in {[driver.name for driver in drivers]}"
    return str(scenario.create(device_class(scenario.namespace, selectors=[both]))["metadata"]["name"])


def pool_in_two_slices(driver: str, node: str, name: str, devices: Sequence[str]) -> Pool:
    """A pool whose first device is the one of the last slice, which sorts first by its name."""
    first, *others = devices
    return Pool(
        name=name,
        node=node,
        devices=[Device(device) for device in (*others, first)],
        slice_size=len(others),
        slice_names=[f"{driver}-{name}-2", f"{driver}-{name}-1"],
    )


def taken_one_by_one(scenario: Scenario, device_class: str, count: int) -> list[str]:
    """The devices that Pods with a claim for one each are given, one after the other."""
    claims = [served(scenario, *ask(scenario, f"pod-{n}", request(device_class))) for n in range(count)]
    return [device.device for own in claims for device in allocated_devices(own)]


@pytest.mark.statement("XD-02")
@pytest.mark.feature("scheduler.slices-in-lexical-order")
@pytest.mark.needs("bare-nodes")
def test_devices_are_taken_in_the_order_of_driver_pool_slice_and_place(
    scenario: Scenario, difference: Difference
) -> None:
    (node,) = scenario.bare_nodes(BareNode("own"))
    reverse = difference("the devices are published in the reverse order")
    shared_class = publish(scenario, node, ROW[::-1] if reverse else ROW)

    assert taken_one_by_one(scenario, shared_class, len(ROW)) == [*ROW]


@pytest.mark.control("XD-02")
@pytest.mark.feature("scheduler.slices-in-lexical-order")
@pytest.mark.needs("bare-nodes")
def test_devices_published_in_reverse_are_taken_in_reverse(scenario: Scenario) -> None:
    (node,) = scenario.bare_nodes(BareNode("own"))
    shared_class = publish(scenario, node, ROW[::-1])

    assert taken_one_by_one(scenario, shared_class, len(ROW)) == [*ROW[::-1]]
