"""What a Pod waits for, or on, goes away meanwhile: the node, the claim, the device, its own turn (XD-51 to XD-54)."""

import pytest

from fake_driver.attachment import chosen_node
from fake_driver.profiles import fabric
from harness.clusters.protocol import BareNode
from harness.drivers import Driver
from harness.kube.builders import on_node, pod, priority_class
from harness.kube.predicates import (
    allocated_devices,
    scheduled,
    terminating,
    unallocated,
    unreserved,
    unschedulable,
    unscheduled,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.binding.arrange import (
    ATTACHED,
    BINDING_FAILED,
    BOUND,
    FAILED,
    ONE_POLL,
    PENDING,
    Consumer,
    conditions,
    report,
    still_waits,
    waiting,
)
from scenarios.binding.test_failure import GIVEN_UP, later_allocation

NO_DEVICE = "cannot allocate all claims"

kubelet = pytest.mark.needs("kubelet")
bare_nodes = pytest.mark.needs("bare-nodes")


def rack(scenario: Scenario, count: int) -> tuple[str, ...]:
    """Nodes of the scenario's own, with room for one Pod that wants 3 CPUs."""
    capacity = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    return scenario.bare_nodes(
        *(BareNode(f"node-{at}", capacity=capacity, labels={"rack": scenario.namespace}) for at in range(count))
    )


def rack_driver(scenario: Scenario, count: int = 1) -> Driver:
    """GPUs that can be attached to each node of the rack."""
    expression = {"key": "rack", "operator": "In", "values": [scenario.namespace]}
    selector = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return scenario.driver(fabric(count, name="fabric", node_selector=selector), plugin=False)


# The Pod's own turn


def rivals(scenario: Scenario, node: str, importance: int) -> tuple[Consumer, Object]:
    """A Pod of importance 10 that waits, and one that does not fit on the node beside it."""
    low, high = (
        str(scenario.create(priority_class(f"{name}-{scenario.namespace}", value))["metadata"]["name"])
        for name, value in (("low", 10), ("high", importance))
    )
    room = {"cpu": "3"}
    held = waiting(scenario, rack_driver(scenario), "low", affinity=on_node(node), requests=room, priority_class=low)
    return held, scenario.create(pod("high", affinity=on_node(node), requests=room, priority_class=high))


@bare_nodes
@pytest.mark.feature("scheduler.calls-off-waiting-pods")
@pytest.mark.statement("XD-51")
def test_more_important_pod_calls_the_wait_off(scenario: Scenario, difference: Difference) -> None:
    (node,) = rack(scenario, 1)
    held, high = rivals(scenario, node, 10 if difference("the other Pod is not more important") else 1000)

    scenario.wait_event(held.pod, "Preempted", "in kube-scheduler memory", timeout=ONE_POLL)
    scenario.wait_event(held.pod, GIVEN_UP, "preempted by DefaultPreemption")
    scenario.wait(held.claim, unreserved())
    assert BOUND not in {found.get("reason") for found in scenario.client.events(held.pod)}
    # The other Pod may have been tried again too early; then it takes a change on the node, if only this one, to help.
    passer_by = scenario.create(pod("passer-by", affinity=on_node(node)))
    scenario.wait(passer_by, scheduled())
    scenario.delete(passer_by)
    scenario.wait(high, scheduled(node))


@bare_nodes
@pytest.mark.feature("scheduler.calls-off-waiting-pods")
@pytest.mark.control("XD-51")
def test_pod_that_is_not_more_important_stays_out(scenario: Scenario) -> None:
    (node,) = rack(scenario, 1)
    held, other = rivals(scenario, node, 10)

    scenario.wait(other, unschedulable("Insufficient cpu"))

    still_waits(scenario, held)
    assert unscheduled()(scenario.get(other))


# The claim


@kubelet
@pytest.mark.statement("XD-52")
def test_deleted_claim_stays_for_the_wait_and_goes_with_a_failure(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(fabric(2), plugin=False)
    good, bad = (waiting(scenario, driver, name) for name in ("good", "bad"))
    if not difference("the claims are not deleted"):
        for held in (good, bad):
            scenario.client.delete(held.claim)

    report(driver, good, {ATTACHED: "True"})
    report(driver, bad, {FAILED: "True"})

    scenario.wait(good.pod, scheduled(scenario.node), timeout=ONE_POLL)
    assert terminating()(scenario.get(good.claim)), "the claim is not being deleted"
    scenario.wait_event(bad.pod, GIVEN_UP, BINDING_FAILED, timeout=ONE_POLL)
    scenario.waiter.wait_gone(bad.claim)
    assert unscheduled()(scenario.get(bad.pod))


# The node


def away_from(nodes: tuple[str, ...], chosen: str | None) -> str:
    """The one of two nodes that was not chosen."""
    (other,) = set(nodes) - {chosen}
    return other


@bare_nodes
@pytest.mark.statement("XD-53")
def test_pod_goes_elsewhere_only_when_the_attaching_to_its_deleted_node_fails(
    scenario: Scenario, difference: Difference
) -> None:
    nodes = rack(scenario, 2)
    driver = rack_driver(scenario, 2)
    bad = waiting(scenario, driver, "bad", affinity=on_node(*nodes))
    chosen = chosen_node(bad.claim["status"]["allocation"])
    assert chosen
    good = waiting(scenario, driver, "good", affinity=on_node(chosen))
    other = away_from(nodes, chosen)
    scenario.cluster.remove_bare_nodes([other if difference("it is the other node that is deleted") else chosen])

    report(driver, bad, {FAILED: "True"}, message="no such node")
    report(driver, good, {ATTACHED: "True"})

    scenario.wait_event(bad.pod, GIVEN_UP, 'message="no such node"', timeout=ONE_POLL)
    again = scenario.wait(bad.claim, later_allocation(bad.claim))
    assert chosen_node(again["status"]["allocation"]) == other
    assert conditions(again) == []
    # The scheduler does not look at the node again.
    scenario.wait(good.pod, scheduled(chosen), timeout=ONE_POLL)


@bare_nodes
@pytest.mark.control("XD-52", "XD-53", "XD-54")
def test_claim_device_and_node_that_stay_are_brought_together_again(scenario: Scenario) -> None:
    nodes = rack(scenario, 2)
    driver = rack_driver(scenario)
    held = waiting(scenario, driver, affinity=on_node(*nodes))
    chosen = chosen_node(held.claim["status"]["allocation"])
    scenario.cluster.remove_bare_nodes([away_from(nodes, chosen)])

    report(driver, held, {FAILED: "True"})

    scenario.wait_event(held.pod, GIVEN_UP, BINDING_FAILED, timeout=ONE_POLL)
    again = scenario.wait(held.claim, later_allocation(held.claim))
    assert chosen_node(again["status"]["allocation"]) == chosen
    assert allocated_devices(again) == allocated_devices(held.claim)


# The device


@kubelet
@pytest.mark.statement("XD-54")
def test_withdrawn_device_is_allocated_until_a_failure(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(fabric(2), plugin=False)
    good, bad = (waiting(scenario, driver, name) for name in ("good", "bad"))
    if not difference("the devices stay"):
        driver.control.set_pools([])

    report(driver, good, {ATTACHED: "True"})
    report(driver, bad, {FAILED: "True"})

    scenario.wait(good.pod, scheduled(scenario.node), timeout=ONE_POLL)
    scenario.wait_event(bad.pod, GIVEN_UP, BINDING_FAILED, timeout=ONE_POLL)
    scenario.wait(bad.pod, unschedulable(NO_DEVICE), timeout=ONE_POLL)
    now = scenario.wait(bad.claim, unallocated() & unreserved())
    assert "devices" not in now["status"]
    assert scenario.waiter.wait_reasons(bad.pod, PENDING).count(PENDING) == 1, "it began to wait again"
