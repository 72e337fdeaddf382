"""Nodes that cannot take a Pod (HS-64)."""

from dataclasses import replace

import pytest

from fake_driver.inventory import Pool
from fake_driver.profiles import gpus
from harness.clusters.protocol import BareNode
from harness.kube.builders import on_node, pod
from harness.kube.predicates import scheduled, unschedulable
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.explain.asked import Case, check, explanation, healthy, name_of
from scenarios.node_allocatable.arrange import consumer, driver_on, large_node


def no_node_with_that_label(scenario: Scenario) -> Object:
    return scenario.wait(scenario.create(pod("waiter", node_selector={"colour": "red"})), unschedulable())


def tainted_node(scenario: Scenario) -> Object:
    taint = {"key": "example.com/closed", "effect": "NoSchedule"}
    (node,) = scenario.bare_nodes(BareNode("own", taints=[taint]))
    return scenario.wait(scenario.create(pod("waiter", affinity=on_node(node))), unschedulable())


def too_little_cpu(scenario: Scenario) -> Object:
    (node,) = scenario.bare_nodes(BareNode("own", {"cpu": "2", "memory": "8Gi", "pods": "20"}))
    scenario.wait(scenario.create(pod("user", requests={"cpu": 1}, affinity=on_node(node))), scheduled())
    waiter = scenario.create(pod("waiter", requests={"cpu": 2}, affinity=on_node(node)))
    return scenario.wait(waiter, unschedulable("Insufficient cpu"))


def counting(cpus: int) -> Pool:
    """Two GPUs, each of which takes so many CPUs of its node."""
    footprint = {"cpu": {"mapping": {"deviceMultiplier": str(cpus)}}}
    pool = gpus(2)
    return replace(pool, devices=[replace(each, node_allocatable_resources=footprint) for each in pool.devices])


def too_little_cpu_for_the_device(scenario: Scenario) -> Object:
    node = large_node(scenario, cpu="6")
    driver = driver_on(scenario, node, counting(4))
    scenario.wait(consumer(scenario, driver, node, "user").pod, scheduled())
    waiter = consumer(scenario, driver, node, "waiter").pod
    return scenario.wait(waiter, unschedulable("Insufficient cpu"))


def mapped_claim_of_another_pod(scenario: Scenario) -> Object:
    node = large_node(scenario)
    driver = driver_on(scenario, node, counting(4))
    made = consumer(scenario, driver, node, "user")
    scenario.wait(made.pod, scheduled())
    waiter = scenario.create(pod("waiter", claims={"device": made.claim}, on=node))
    return scenario.wait(waiter, unschedulable("cannot be shared"))


def pod_level_request_below_the_devices(scenario: Scenario) -> Object:
    node = large_node(scenario)
    driver = driver_on(scenario, node, counting(4))
    waiter = consumer(scenario, driver, node, "waiter", pod_resources={"requests": {"cpu": "1"}}).pod
    return scenario.wait(waiter, unschedulable("pod level request"))


#: What devices take of their node, in the shape in which the drivers here publish it.
FOOTPRINT = pytest.mark.feature("ResourceSlice.spec.devices.nodeAllocatableResources")

CASES = [
    Case("node-selector", no_node_with_that_label, "colour=red"),
    Case("node-taints", tainted_node, "example.com/closed:NoSchedule"),
    Case("node-resources", too_little_cpu, "cpu 2, taken by Pods 1, through devices 0, left 1"),
    pytest.param(
        Case("node-resources-for-devices", too_little_cpu_for_the_device, "taken by Pods 0, through devices 4, left 2"),
        marks=FOOTPRINT,
    ),
    pytest.param(Case("mapped-claim-shared", mapped_claim_of_another_pod, "user"), marks=FOOTPRINT),
    pytest.param(
        Case("pod-level-resources", pod_level_request_below_the_devices, "pod level request for cpu"), marks=FOOTPRINT
    ),
]


@pytest.mark.statement("HS-64")
@pytest.mark.needs("bare-nodes")
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_why_no_node_takes_a_pod(scenario: Scenario, difference: Difference, case: Case) -> None:
    check(scenario, difference, case)


@pytest.mark.control("HS-64")
def test_nothing_is_wrong_with_a_node_that_takes_the_pod(scenario: Scenario) -> None:
    assert explanation(scenario, healthy(scenario)).causes == ()
