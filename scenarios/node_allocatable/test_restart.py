"""The account of the nodes after a restart of the scheduler (XD-43)."""

import pytest

from fake_driver.profiles import cpu_sockets
from harness.kube.predicates import scheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.node_allocatable.arrange import (
    Consumer,
    allocatable,
    bound,
    consumer,
    demand,
    driver_on,
    footprint,
    large_node,
    left_out,
    ordinary,
    room_is,
)

pytestmark = [
    pytest.mark.exclusive("cluster"),
    pytest.mark.needs("bare-nodes", "restart"),
]


def user_and_waiter(scenario: Scenario, node: str) -> tuple[Consumer, Object]:
    """A bound Pod that has CPUs through its claim, and an ordinary Pod that waits for the whole node."""
    driver = driver_on(scenario, node, cpu_sockets(1))
    user = bound(scenario, consumer(scenario, driver, node, capacity={"cpu": 40}))
    waiter = ordinary(scenario, node, "waiter", {"cpu": allocatable(scenario, node, "cpu")})
    left_out(scenario, waiter, "Insufficient cpu")
    return user, waiter


def stop_scheduler(scenario: Scenario) -> None:
    """Nothing is scheduled until the scheduler is started again."""
    scenario.cluster.stop("kube-scheduler")
    scenario.on_exit(lambda: scenario.cluster.start("kube-scheduler"))


@pytest.mark.statement("XD-43")
def test_restarted_scheduler_counts_as_before(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario)
    user, waiter = user_and_waiter(scenario, node)

    stop_scheduler(scenario)
    if difference("the Pod with the claim is deleted while the scheduler is down"):
        scenario.delete(user.pod)
    scenario.cluster.start("kube-scheduler")

    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu") - demand(user.pod)["cpu"])
    left_out(scenario, scenario.get(waiter), "Insufficient cpu")
    assert footprint(scenario.get(user.pod)) == footprint(user.pod)


@pytest.mark.control("XD-43")
def test_restarted_scheduler_gives_away_what_was_freed_meanwhile(scenario: Scenario) -> None:
    node = large_node(scenario)
    user, waiter = user_and_waiter(scenario, node)

    stop_scheduler(scenario)
    scenario.delete(user.pod)
    scenario.cluster.start("kube-scheduler")

    scenario.wait(waiter, scheduled(node))
