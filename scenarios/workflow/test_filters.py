"""The two filters: a node that can reach the device, and a device that is free and fits (WF-12 to WF-14)."""

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import claim, on_node, pod, request
from harness.kube.predicates import allocated, allocated_devices, scheduled, unallocated, unschedulable, unscheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario


def holder_of_one_gpu(scenario: Scenario, device_class: str, node: str | None = None) -> tuple[Object, Object]:
    """A Pod that has been given a GPU, and its claim."""
    held = scenario.create(claim("held", request(device_class)))
    selector = {"kubernetes.io/hostname": node} if node else None
    holder = scenario.create(pod("holder", claims={"gpu": held}, node_selector=selector))
    scenario.wait(holder, scheduled(node))
    return holder, scenario.wait(held, allocated())


def stays_out(scenario: Scenario, waiter: Object) -> None:
    """No node has a device for the Pod: the scheduler says so before it binds the Pod anywhere."""
    outcome = scenario.wait(waiter, unschedulable("cannot allocate all claims") | scheduled())
    assert unscheduled()(outcome), f"the Pod was bound to {outcome['spec'].get('nodeName')}"


@pytest.mark.statement("WF-13")
def test_pod_waits_while_every_matching_device_is_taken(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    holder, held = holder_of_one_gpu(scenario, driver.device_class)
    if difference("the Pod that holds the device, and its claim, are gone"):
        scenario.delete(holder)
        scenario.delete(held)

    wanted = scenario.create(claim("wanted", request(driver.device_class)))
    waiter = scenario.create(pod("waiter", claims={"gpu": wanted}))

    stays_out(scenario, waiter)
    scenario.wait(wanted, unallocated())


@pytest.mark.control("WF-13")
def test_waiting_pod_takes_the_device_once_it_is_free(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    holder, held = holder_of_one_gpu(scenario, driver.device_class)
    wanted = scenario.create(claim("wanted", request(driver.device_class)))
    waiter = scenario.create(pod("waiter", claims={"gpu": wanted}))
    stays_out(scenario, waiter)

    scenario.delete(holder)
    scenario.delete(held)

    scenario.wait(waiter, scheduled())
    assert allocated_devices(scenario.get(wanted)) == allocated_devices(held)


@pytest.mark.statement("WF-12")
@pytest.mark.needs("kubelet")
def test_pod_waits_when_no_node_with_the_device_may_run_it(scenario: Scenario, difference: Difference) -> None:
    with_device, without = scenario.nodes(2)
    driver = scenario.driver(gpus(1), nodes=[with_device], plugin=False)
    eligible = [without, with_device] if difference("the node with the device is eligible too") else [without]
    wanted = scenario.create(claim("wanted", request(driver.device_class)))

    waiter = scenario.create(pod("waiter", claims={"gpu": wanted}, affinity=on_node(*eligible)))

    stays_out(scenario, waiter)
    scenario.wait(wanted, unallocated())


@pytest.mark.control("WF-12")
@pytest.mark.needs("kubelet")
def test_pod_goes_to_the_node_with_the_device_where_it_may(scenario: Scenario) -> None:
    with_device, without = scenario.nodes(2)
    driver = scenario.driver(gpus(1), nodes=[with_device], plugin=False)
    wanted = scenario.create(claim("wanted", request(driver.device_class)))

    consumer = scenario.create(pod("consumer", claims={"gpu": wanted}, affinity=on_node(without, with_device)))

    scenario.wait(consumer, scheduled(with_device))
    scenario.wait(wanted, allocated())


@pytest.mark.statement("WF-14")
@pytest.mark.needs("kubelet")
def test_pod_waits_when_each_filter_is_passed_by_another_node(scenario: Scenario, difference: Difference) -> None:
    taken, free = scenario.nodes(2)
    driver = scenario.driver(gpus(1), nodes=[taken, free], plugin=False)
    holder_of_one_gpu(scenario, driver.device_class, taken)
    eligible = [taken, free] if difference("the node with the free device is eligible too") else [taken]
    wanted = scenario.create(claim("wanted", request(driver.device_class)))

    waiter = scenario.create(pod("waiter", claims={"gpu": wanted}, affinity=on_node(*eligible)))

    stays_out(scenario, waiter)
    scenario.wait(wanted, unallocated())


@pytest.mark.control("WF-14")
@pytest.mark.needs("kubelet")
def test_pod_goes_to_the_one_node_that_passes_both_filters(scenario: Scenario) -> None:
    taken, free = scenario.nodes(2)
    driver = scenario.driver(gpus(1), nodes=[taken, free], plugin=False)
    holder_of_one_gpu(scenario, driver.device_class, taken)
    wanted = scenario.create(claim("wanted", request(driver.device_class)))

    consumer = scenario.create(pod("consumer", claims={"gpu": wanted}, affinity=on_node(taken, free)))

    scenario.wait(consumer, scheduled(free))


@pytest.mark.control("WF-14")
@pytest.mark.needs("kubelet")
def test_waiting_pod_goes_to_its_eligible_node_once_the_device_there_is_free(scenario: Scenario) -> None:
    taken, free = scenario.nodes(2)
    driver = scenario.driver(gpus(1), nodes=[taken, free], plugin=False)
    holder, held = holder_of_one_gpu(scenario, driver.device_class, taken)
    wanted = scenario.create(claim("wanted", request(driver.device_class)))
    waiter = scenario.create(pod("waiter", claims={"gpu": wanted}, affinity=on_node(taken)))
    stays_out(scenario, waiter)

    scenario.delete(holder)
    scenario.delete(held)

    scenario.wait(waiter, scheduled(taken))
