"""Pods at their node, on their way out, and gone (HS-65)."""

import pytest

from fake_driver.inventory import Taint
from fake_driver.profiles import gpus
from harness.kube.builders import claim, pod, request
from harness.kube.predicates import Predicate, failed, gone, running, scheduled, terminating
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.beyond.consumers import ask
from scenarios.explain.asked import Case, check, name_of
from scenarios.preemption import arrange as priorities
from scenarios.prescheduled.stuck import NOT_PREPARED
from scenarios.taint.outcomes import TOLD

LOST = Taint("example.com/lost", "NoExecute")


def bound_without_a_reservation(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(1))
    wanted = scenario.create(claim("wanted", request(driver.device_class)))
    return scenario.create(pod("waiter", claims={"gpu": wanted}, node_name=scenario.node))


def driver_is_not_registered(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(1), plugin=False)
    waiter, _ = ask(scenario, "waiter", request(driver.device_class))
    scenario.wait_event(waiter, NOT_PREPARED, "is not registered")
    return scenario.get(waiter)


def driver_fails_to_prepare(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(1))
    driver.control.fail_prepare("the GPU fell off the bus")
    scenario.on_exit(driver.control.clear_faults)
    waiter, _ = ask(scenario, "waiter", request(driver.device_class))
    scenario.wait_event(waiter, NOT_PREPARED, "fell off the bus")
    return scenario.get(waiter)


def driver_fails_to_unprepare(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(1))
    driver.control.fail_unprepare("busy")
    scenario.on_exit(driver.control.clear_faults)
    user, held = ask(scenario, "user", request(driver.device_class), grace_seconds=1)
    scenario.wait(user, running())
    scenario.client.delete(user)
    driver.asked("NodeUnprepareResources", held)
    ended = Predicate[Object]("ended", lambda p: "terminated" in p["status"]["containerStatuses"][0]["state"])
    return scenario.wait(user, ended)


def kubelet_refuses(scenario: Scenario) -> Object:
    waiter = scenario.create(pod("waiter", requests={"cpu": 1000}, node_name=scenario.node))
    return scenario.wait(waiter, failed())


def evicted_and_still_there(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(1))
    held = scenario.create(claim("user", request(driver.device_class)))
    user = scenario.create(pod("user", claims={"gpu": held}, command=["sh", "-c", "trap '' TERM; sleep infinity"],
                               grace_seconds=600))  # fmt: skip
    scenario.wait(user, running())
    driver.control.update_device(scenario.node, "gpu-0", taints=[LOST])
    return scenario.wait(user, terminating())


def evicted_and_gone(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(1), plugin=False)
    user, _ = ask(scenario, "user", request(driver.device_class))
    scenario.wait(user, scheduled())
    driver.control.update_device(scenario.node, "gpu-0", taints=[LOST])
    scenario.wait(user, gone())
    scenario.wait_event(user, "DeviceTaintManagerEviction")
    return user


def preempted_and_gone(scenario: Scenario) -> Object:
    (node,) = priorities.nodes(scenario, 1)
    victim = priorities.new(scenario, "victim", "low", node)
    scenario.wait(victim, scheduled())
    winner = priorities.new(scenario, "winner", "high", node)
    scenario.wait(winner, scheduled())
    scenario.wait(victim, gone())
    scenario.wait_event(victim, "Preempted")
    return victim


CASES = [
    Case("prescheduled", bound_without_a_reservation, "is not allocated"),
    Case("driver-not-registered", driver_is_not_registered, "is not registered"),
    Case("prepare-failed", driver_fails_to_prepare, "the GPU fell off the bus"),
    Case("unprepare-pending", driver_fails_to_unprepare, "all containers are terminated"),
    Case("kubelet-refused", kubelet_refuses, "OutOfcpu"),
    Case("evicted-by-taint", evicted_and_still_there, "example.com/lost:NoExecute"),
    # Where the controller does not tell, nothing is left that would name the cause.
    pytest.param(
        Case("evicted-by-taint", evicted_and_gone, "does not exist any more"), marks=pytest.mark.feature(TOLD)
    ),
    Case("preempted", preempted_and_gone, "winner"),
]


@pytest.mark.statement("HS-65")
@pytest.mark.needs("kubelet", "bare-nodes")
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_why_a_pod_does_not_run_or_is_gone(scenario: Scenario, difference: Difference, case: Case) -> None:
    check(scenario, difference, case)
