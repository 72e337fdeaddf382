"""What a Pod has of its node through claims is free when its containers have ended or it is evicted (XD-41)."""

import pytest

from fake_driver.inventory import Taint
from fake_driver.profiles import cpu_sockets, memory_blocks
from harness.kube.builders import runs_for
from harness.kube.predicates import scheduled, succeeded
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.node_allocatable.arrange import (
    Consumer,
    allocatable,
    bound,
    consumer,
    driver_on,
    large_node,
    left_out,
    ordinary,
    quantity,
)


def waits_for(scenario: Scenario, user: Consumer, node: str, resource: str) -> Object:
    """An ordinary Pod that wants the whole node, which `user` has a part of."""
    bound(scenario, user)
    waiter = ordinary(scenario, node, "waiter", {resource: allocatable(scenario, node, resource)})
    return left_out(scenario, waiter, f"Insufficient {resource}")


@pytest.mark.statement("XD-41")
@pytest.mark.needs("bare-nodes")
def test_demand_of_an_evicted_pod_is_free(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, cpu_sockets(1))
    user = consumer(scenario, driver, node, capacity={"cpu": 40})
    waiter = waits_for(scenario, user, node, "cpu")

    effect = "None" if difference("the taint has no effect") else "NoExecute"
    driver.control.update_device(node, "socket0cpus", taints=[Taint("example.com/hot", effect)])

    scenario.wait(waiter, scheduled(node), timeout=15)


@pytest.mark.statement("XD-41")
@pytest.mark.exclusive("cluster")  # whole of a node with a kubelet: others would count in its account
@pytest.mark.needs("kubelet")
def test_demand_of_a_pod_that_has_ended_is_free(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(memory_blocks(1))
    some = quantity(allocatable(scenario, scenario.node, "memory") // 2)
    seconds = 3600 if difference("the containers go on") else 3
    user = consumer(scenario, driver, scenario.node, capacity={"memory": some}, command=runs_for(seconds))
    waiter = waits_for(scenario, user, scenario.node, "memory")

    scenario.wait(waiter, scheduled(scenario.node), timeout=20)

    assert succeeded()(scenario.get(user.pod)), "the Pod with the claim has not ended"


@pytest.mark.control("XD-41")
@pytest.mark.needs("bare-nodes")
def test_demand_of_a_pod_that_stays_is_not_free(scenario: Scenario) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, cpu_sockets(1))

    waits_for(scenario, consumer(scenario, driver, node, capacity={"cpu": 40}), node, "cpu")
