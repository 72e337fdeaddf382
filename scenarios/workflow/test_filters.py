"""The scheduler's two filters: a node that can reach the device, and a device that is free and fits (WF-12 to WF-14)."""

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import claim, pod, request
from harness.kube.predicates import allocated, allocated_devices, scheduled, unallocated, unschedulable
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario


def holder_of_one_gpu(scenario: Scenario, device_class: str, node: str | None = None) -> tuple[Object, Object]:
    """A Pod that has been given a GPU, and its claim."""
    held = scenario.create(claim("held", request(device_class)))
    selector = {"kubernetes.io/hostname": node} if node else None
    holder = scenario.create(pod("holder", claims={"gpu": held}, node_selector=selector))
    scenario.wait(holder, scheduled(node))
    return holder, scenario.wait(held, allocated())


@pytest.mark.statement("WF-13")
def test_pod_waits_while_every_matching_device_is_taken(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    holder, held = holder_of_one_gpu(scenario, driver.device_class)
    if difference("the Pod that holds the device, and its claim, are gone"):
        scenario.delete(holder)
        scenario.delete(held)

    wanted = scenario.create(claim("wanted", request(driver.device_class)))
    waiter = scenario.create(pod("waiter", claims={"gpu": wanted}))

    scenario.wait(waiter, unschedulable("cannot allocate all claims"))
    scenario.wait(wanted, unallocated())


@pytest.mark.control("WF-13")
def test_waiting_pod_takes_the_device_once_it_is_free(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    holder, held = holder_of_one_gpu(scenario, driver.device_class)
    wanted = scenario.create(claim("wanted", request(driver.device_class)))
    waiter = scenario.create(pod("waiter", claims={"gpu": wanted}))
    scenario.wait(waiter, unschedulable("cannot allocate all claims"))

    scenario.delete(holder)
    scenario.delete(held)

    scenario.wait(waiter, scheduled())
    assert allocated_devices(scenario.get(wanted)) == allocated_devices(held)
