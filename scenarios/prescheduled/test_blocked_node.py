"""A Pod that is stuck on a node still takes what it requests of the node from others (PS-09)."""

from decimal import Decimal

import pytest
from kubernetes.utils.quantity import parse_quantity

from fake_driver.profiles import gpus
from harness.kube.builders import pod
from harness.kube.predicates import running, scheduled, unschedulable, unscheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.prescheduled.stuck import held_back, not_allowed, unallocated_claim


def most_of(scenario: Scenario, node: str) -> dict[str, str | int]:
    """Requests that fit on the node once, not twice."""
    allocatable = scenario.client.get("Node", node)["status"]["allocatable"]
    cpu, memory = (most(allocatable[name]) for name in ("cpu", "memory"))
    return {"cpu": f"{int(cpu * 1000)}m", "memory": int(memory)}


def most(quantity: str) -> Decimal:
    """Three fifths: others keep what the system's own Pods take."""
    whole: Decimal = parse_quantity(quantity)  # type: ignore[no-untyped-call]
    return whole * 3 / 5


def stuck_pod(scenario: Scenario) -> Object:
    """A Pod that hangs on the scenario's node and requests most of its CPU and memory."""
    driver = scenario.driver(gpus(1))
    wanted = unallocated_claim(scenario, driver.device_class)
    stuck = scenario.create(
        pod("stuck", claims={"gpu": wanted}, requests=most_of(scenario, scenario.node), node_name=scenario.node)
    )
    held_back(scenario, stuck, not_allowed(stuck, wanted))
    return stuck


def plain_pod(scenario: Scenario) -> Object:
    """A Pod without claims that requests as much of the same node, and what the scheduler made of it at first."""
    plain = scenario.create(pod("plain", requests=most_of(scenario, scenario.node), on=scenario.node))
    return scenario.wait(plain, unschedulable() | scheduled())


@pytest.mark.statement("PS-09")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("kubelet")
def test_stuck_pod_blocks_cpu_and_memory_for_a_plain_pod(scenario: Scenario, difference: Difference) -> None:
    stuck = stuck_pod(scenario)
    if difference("the stuck Pod is deleted"):
        scenario.delete(stuck)

    plain = plain_pod(scenario)

    assert unscheduled()(plain), "the plain Pod fits beside the stuck one"
    assert (unschedulable("Insufficient cpu") & unschedulable("Insufficient memory"))(plain)


@pytest.mark.control("PS-09")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("kubelet")
def test_plain_pod_is_scheduled_at_once_when_the_stuck_pod_is_deleted(scenario: Scenario) -> None:
    stuck = stuck_pod(scenario)
    plain = plain_pod(scenario)
    assert unscheduled()(plain)

    scenario.delete(stuck)

    scenario.wait(plain, scheduled(scenario.node))
    scenario.wait(plain, running())
