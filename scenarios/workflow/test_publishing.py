"""Who publishes devices, and how a pool is cut into ResourceSlices (WF-01, WF-07)."""

import pytest

from fake_driver.inventory import Device, Pool
from fake_driver.profiles import gpus
from harness.clusters.protocol import BareNode
from harness.kube.builders import claim, device_class, on_node, pod, request
from harness.kube.predicates import (
    Predicate,
    allocated,
    allocated_devices,
    any_of,
    scheduling_error,
    unallocated,
    unschedulable,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario


def slices_of(scenario: Scenario, driver: str) -> list[Object]:
    """The driver's ResourceSlices as they are now, by name."""
    found, _ = scenario.client.list("ResourceSlice", field_selector=f"spec.driver={driver}")
    return sorted(found, key=lambda slice: str(slice["metadata"]["name"]))


def device_names(slice: Object) -> list[str]:
    """The devices of a slice in its own order."""
    return [device["name"] for device in slice["spec"]["devices"]]


def holds(*names: str) -> Predicate[Object]:
    """A slice that lists just these devices."""
    return Predicate(f"holds {', '.join(names)}", lambda slice: device_names(slice) == list(names))


def put_back(lost: Object) -> Predicate[Object]:
    """A slice with the same content as the lost one, but another object."""
    return Predicate(
        "put back",
        lambda slice: slice["spec"] == lost["spec"] and slice["metadata"]["uid"] != lost["metadata"]["uid"],
    )


@pytest.mark.statement("WF-01")
def test_driver_creates_and_maintains_the_slices_of_its_devices(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    if difference("the driver is gone"):
        driver.control.withdraw()
    selector = f"spec.driver={driver.name}"

    slices = slices_of(scenario, driver.name)
    assert [device_names(slice) for slice in slices] == [["gpu-0", "gpu-1"]]

    scenario.client.delete(slices[0])
    scenario.waiter.wait_any("ResourceSlice", any_of(put_back(slices[0])), field_selector=selector)

    driver.control.add_device(scenario.node, Device("gpu-2"))
    scenario.waiter.wait_any("ResourceSlice", any_of(holds("gpu-0", "gpu-1", "gpu-2")), field_selector=selector)
    driver.control.remove_device(scenario.node, "gpu-0")
    scenario.waiter.wait_any("ResourceSlice", any_of(holds("gpu-1", "gpu-2")), field_selector=selector)


@pytest.mark.control("WF-01")
def test_without_its_driver_no_device_is_published(scenario: Scenario) -> None:
    absent = f"{scenario.namespace}.example.com"
    scenario.create(device_class(absent, driver=absent))
    wanted = scenario.create(claim("wanted", request(absent)))
    waiter = scenario.create(pod("waiter", claims={"gpu": wanted}))

    scenario.wait(waiter, unschedulable("cannot allocate all claims"))
    scenario.wait(wanted, unallocated())
    assert slices_of(scenario, absent) == []


def consumer_of_all(scenario: Scenario, node: str, pool: Pool) -> tuple[Object, Object]:
    """A claim for all devices of a driver that has this pool on the node, and the claim's Pod, for that node."""
    driver = scenario.driver(pool, nodes=[node], plugin=False)
    wanted = scenario.create(claim("wanted", request(driver.device_class, all_devices=True)))
    return wanted, scenario.create(pod("consumer", claims={"gpus": wanted}, affinity=on_node(node)))


@pytest.mark.statement("WF-07")
@pytest.mark.feature("scheduler.counts-devices-over-slices")
@pytest.mark.needs("bare-nodes")
def test_pool_over_two_slices_serves_devices_of_both(scenario: Scenario, difference: Difference) -> None:
    (node,) = scenario.bare_nodes(BareNode("rack"))
    pool = gpus(4, slice_size=2)
    if difference("only one of the two announced slices is published"):
        pool = gpus(2, slice_count=2)
    wanted, _ = consumer_of_all(scenario, node, pool)

    served = allocated_devices(scenario.wait(wanted, allocated(), timeout=10))

    slices = slices_of(scenario, served[0].driver)
    assert [device_names(slice) for slice in slices] == [["gpu-0", "gpu-1"], ["gpu-2", "gpu-3"]]
    assert [slice["spec"]["pool"] for slice in slices] == [
        {"name": node, "generation": 1, "resourceSliceCount": 2},
        {"name": node, "generation": 1, "resourceSliceCount": 2},
    ]
    assert [device.device for device in served] == ["gpu-0", "gpu-1", "gpu-2", "gpu-3"]


@pytest.mark.statement("WF-07")
@pytest.mark.feature("scheduler.looks-for-the-nth-device-in-one-slice")
@pytest.mark.deviates("WF-07", "the scheduler panics at a claim for more devices than there are in one of the slices")
@pytest.mark.needs("bare-nodes", "restart")
@pytest.mark.exclusive("cluster", last=True)
def test_scheduler_ends_with_a_panic_at_a_request_for_more_than_a_slice_has(
    scenario: Scenario, difference: Difference
) -> None:
    scenario.spoilt = True
    (node,) = scenario.bare_nodes(BareNode("rack"))
    consumer_of_all(scenario, node, gpus(4, slice_size=4 if difference("all devices are in one slice") else 2))

    scenario.waiter.poll(
        lambda: scenario.cluster.log("kube-scheduler"),
        lambda log: "panic: runtime error: index out of range" in log,
        "the scheduler panics",
    )


@pytest.mark.control("WF-07")
@pytest.mark.needs("bare-nodes")
def test_pool_that_lacks_a_slice_serves_no_request_for_all_devices(scenario: Scenario) -> None:
    (node,) = scenario.bare_nodes(BareNode("rack"))
    wanted, waiter = consumer_of_all(scenario, node, gpus(2, slice_count=2))

    scenario.wait(waiter, scheduling_error(f"{node} is currently being updated"))

    scenario.wait(wanted, unallocated())
