"""A Pod that is on a node before its claim is ready: the kubelet does not run it, nor give up (PS-02 to PS-05)."""

import pytest

from fake_driver.profiles import gpus
from harness.drivers import PREPARE
from harness.kube.builders import pod
from harness.kube.predicates import (
    not_reserved_for,
    pending,
    reserved_for,
    running,
    unallocated,
    unreserved,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.prescheduled.stuck import (
    NEXT_TRY,
    failures,
    held_back,
    not_allowed,
    running_holder,
    unallocated_claim,
)


@pytest.mark.statement("PS-02")
@pytest.mark.needs("kubelet")
def test_pod_does_not_run_while_its_claim_does_not_exist(scenario: Scenario, difference: Difference) -> None:
    claims = {} if difference("the Pod has no claims") else {"gpu": "missing"}

    consumer = scenario.create(pod("consumer", claims=claims, node_name=scenario.node))

    held_back(scenario, consumer, "fetch ResourceClaim missing")


@pytest.mark.statement("PS-02")
@pytest.mark.needs("kubelet")
def test_pod_does_not_run_while_its_claim_is_not_generated(scenario: Scenario, difference: Difference) -> None:
    templates = {} if difference("the Pod has no claims") else {"gpu": "missing"}

    consumer = scenario.create(pod("consumer", templates=templates, node_name=scenario.node))

    scenario.wait_event(consumer, "FailedResourceClaimCreation", '"missing" not found', timeout=15)
    held_back(scenario, consumer, "ResourceClaim not created yet")


@pytest.mark.control("PS-02")
@pytest.mark.needs("kubelet")
def test_pod_without_claims_runs_on_the_node_it_names(scenario: Scenario) -> None:
    consumer = scenario.create(pod("consumer", node_name=scenario.node))

    assert scenario.wait(consumer, running())["spec"]["nodeName"] == scenario.node


@pytest.mark.statement("PS-03")
@pytest.mark.needs("kubelet")
def test_pod_does_not_run_while_its_claim_is_not_allocated(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    wanted = unallocated_claim(scenario, driver.device_class)
    if difference("another Pod has had the claim allocated on the node"):
        running_holder(scenario, wanted)

    consumer = scenario.create(pod("consumer", claims={"gpu": wanted}, node_name=scenario.node))

    held_back(scenario, consumer, not_allowed(consumer, wanted))
    found = scenario.get(wanted)
    assert unallocated()(found), "the claim got allocated although no scheduler has looked at the Pod"
    assert unreserved()(found)
    assert driver.calls(PREPARE) == []


@pytest.mark.statement("PS-04")
@pytest.mark.control("PS-07")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("kubelet", "restart")
def test_pod_does_not_run_while_its_claim_is_not_reserved_for_it(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    shared = unallocated_claim(scenario, driver.device_class)
    holder = running_holder(scenario, shared)
    if not difference("kube-controller-manager is running"):
        scenario.cluster.stop("kube-controller-manager")
        scenario.on_exit(lambda: scenario.cluster.start("kube-controller-manager"))

    late = scenario.create(pod("late", claims={"gpu": shared}, node_name=scenario.node))

    held_back(scenario, late, not_allowed(late, shared))
    scenario.barrier.kubelet(scenario.node)
    assert (reserved_for(holder) & not_reserved_for(late))(scenario.get(shared)), "somebody has reserved the claim"
    assert pending()(scenario.get(late))


@pytest.mark.statement("PS-05")
@pytest.mark.needs("kubelet")
def test_kubelet_runs_the_same_pod_once_its_claim_is_allocated_and_reserved(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(gpus(1))
    wanted = unallocated_claim(scenario, driver.device_class)
    stuck = scenario.create(pod("stuck", claims={"gpu": wanted}, node_name=scenario.node))
    failures(scenario, stuck, 2)

    if not difference("nobody has the claim allocated"):
        running_holder(scenario, wanted)

    # The wait is about this very Pod: one that was created anew would not count.
    scenario.wait(stuck, running(), timeout=NEXT_TRY)
    assert reserved_for(stuck)(scenario.get(wanted))


@pytest.mark.control("PS-05")
@pytest.mark.needs("kubelet")
def test_pod_that_never_restarts_stays_pending_through_failed_tries(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    wanted = unallocated_claim(scenario, driver.device_class)
    stuck = scenario.create(pod("stuck", claims={"gpu": wanted}, node_name=scenario.node, restart_policy="Never"))

    failures(scenario, stuck, 2)

    assert pending()(scenario.get(stuck))
    assert unallocated()(scenario.get(wanted))
