"""The node that is chosen for a device of a group of nodes (BC-11 to BC-13)."""

import pytest

from fake_driver.attachment import chosen_node, succeed
from fake_driver.inventory import Pool
from fake_driver.profiles import fabric
from harness.kube.builders import on_node
from harness.kube.predicates import scheduled, unscheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.binding.arrange import ATTACHED, BOUND, ONE_POLL, PENDING, conditions, consumer, time_of, waiting

HOSTNAME = "kubernetes.io/hostname"


def group(*nodes: str) -> Object:
    """A node selector for these nodes."""
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": sorted(nodes)}]}]}


def shared_pool(scenario: Scenario, count: int = 1, binds_to_node: bool = True) -> Pool:
    """GPUs that can be attached to either of two nodes."""
    return fabric(count, binds_to_node=binds_to_node, name="fabric", node_selector=group(*scenario.nodes(2)))


@pytest.mark.statement("BC-11")
@pytest.mark.needs("kubelet")
def test_claim_names_the_chosen_node(scenario: Scenario, difference: Difference) -> None:
    binds = not difference("the device does not bind to a node")
    driver = scenario.driver(shared_pool(scenario, binds_to_node=binds), plugin=False)

    held = waiting(scenario, driver)

    node = chosen_node(held.claim["status"]["allocation"])
    assert node in scenario.nodes(2), f"the claim names no node: {held.claim['status']['allocation']}"
    assert held.claim["status"]["allocation"]["nodeSelector"] == {
        "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    }


@pytest.mark.control("BC-11", "BC-13")
@pytest.mark.needs("kubelet")
def test_claim_has_the_selector_of_the_slice_when_the_device_does_not_bind(scenario: Scenario) -> None:
    driver = scenario.driver(shared_pool(scenario, binds_to_node=False), plugin=False)

    held = waiting(scenario, driver)

    assert held.claim["status"]["allocation"]["nodeSelector"] == group(*scenario.nodes(2))
    assert chosen_node(held.claim["status"]["allocation"]) is None


@pytest.mark.statement("BC-12")
@pytest.mark.needs("kubelet")
def test_node_selector_of_the_pod_stays_as_it_is(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(shared_pool(scenario), plugin=False)
    driver.control.attach(succeed())
    own = scenario.nodes(2)[1] if difference("the Pod has a node selector of its own") else None

    made = consumer(scenario, driver, on=own)

    bound = scenario.wait(made.pod, scheduled(), timeout=ONE_POLL)
    assert chosen_node(scenario.get(made.claim)["status"]["allocation"]) == bound["spec"]["nodeName"]
    assert "nodeSelector" not in bound["spec"], f"the Pod has the node selector {bound['spec']['nodeSelector']}"


@pytest.mark.control("BC-12")
@pytest.mark.needs("kubelet")
def test_node_selector_that_the_pod_brings_stays_and_holds(scenario: Scenario) -> None:
    driver = scenario.driver(shared_pool(scenario, count=2), plugin=False)
    driver.control.attach(succeed())

    for node, made in [(node, consumer(scenario, driver, f"on-{node}", on=node)) for node in scenario.nodes(2)]:
        bound = scenario.wait(made.pod, scheduled(node), timeout=ONE_POLL)
        assert bound["spec"]["nodeSelector"] == {HOSTNAME: node}
        assert chosen_node(scenario.get(made.claim)["status"]["allocation"]) == node


@pytest.mark.statement("BC-13")
@pytest.mark.needs("kubelet")
def test_controller_attaches_to_the_node_before_the_pod_is_there(scenario: Scenario, difference: Difference) -> None:
    binds = not difference("the device does not bind to a node")
    driver = scenario.driver(shared_pool(scenario, binds_to_node=binds), plugin=False)
    # A controller that does its work for one node only: it has nothing to do for an allocation without one.
    target = scenario.nodes(2)[1]
    driver.control.attach(succeed(delay=2), node=target)

    held = waiting(scenario, driver, affinity=on_node(target))
    assert unscheduled()(scenario.get(held.pod))

    scenario.wait(held.pod, scheduled(target), timeout=ONE_POLL)
    (done,) = driver.control.written
    assert (done.of.node, done.result) == (target, "ok")
    assert [found["type"] for found in conditions(scenario.get(held.claim))] == [ATTACHED]
    assert (time_of(scenario, held.pod, BOUND) - time_of(scenario, held.pod, PENDING)).earliest > 0
