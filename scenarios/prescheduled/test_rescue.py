"""How such Pods come about without a node name, and who rescues which of them (PS-03, PS-04, PS-06 to PS-08)."""

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import claim_template, pod, request
from harness.kube.predicates import allocated, reserved_for, running, scheduled, unallocated, unreserved
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.prescheduled.stuck import (
    NEXT_TRY,
    held_back,
    not_allowed,
    running_holder,
    unallocated_claim,
    writers_of_status,
)

#: The scheduler profile of kind-configs/scheduler.yaml whose plugin DynamicResources is disabled.
WITHOUT_DRA = "without-dynamic-resources"


@pytest.mark.statement("PS-06")
@pytest.mark.needs("kubelet")
def test_pod_hangs_that_a_scheduler_without_dra_has_bound(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    wanted = unallocated_claim(scenario, driver.device_class)
    scheduler = None if difference("a scheduler with the plugin DynamicResources binds the Pod") else WITHOUT_DRA

    consumer = scenario.create(pod("consumer", claims={"gpu": wanted}, scheduler_name=scheduler, on=scenario.node))

    scenario.wait(consumer, scheduled(scenario.node))
    assert unallocated()(scenario.get(wanted)), "the claim was allocated before the Pod was bound"
    held_back(scenario, consumer, not_allowed(consumer, wanted))


@pytest.mark.control("PS-06")
@pytest.mark.needs("kubelet")
def test_pod_runs_that_a_scheduler_with_dra_has_bound(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    wanted = unallocated_claim(scenario, driver.device_class)

    consumer = scenario.create(pod("consumer", claims={"gpu": wanted}, on=scenario.node))

    scenario.wait(consumer, scheduled(scenario.node))
    assert (allocated() & reserved_for(consumer))(scenario.get(wanted))
    scenario.wait(consumer, running())


@pytest.mark.statement("PS-07")
@pytest.mark.control("PS-04")
@pytest.mark.needs("kubelet")
def test_controller_manager_reserves_an_allocated_claim_for_the_pod(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    shared = unallocated_claim(scenario, driver.device_class)
    if not difference("the claim has not been allocated for another Pod"):
        holder = running_holder(scenario, shared)
        assert reserved_for(holder)(scenario.get(shared))

    late = scenario.create(pod("late", claims={"gpu": shared}, node_name=scenario.node))

    reserved = scenario.wait(shared, reserved_for(late), timeout=15)
    assert writers_of_status(reserved) == {"kube-scheduler", "kube-controller-manager"}
    scenario.wait(late, running(), timeout=NEXT_TRY)


@pytest.mark.statement("PS-08")
@pytest.mark.control("PS-07")
@pytest.mark.needs("kubelet")
def test_controller_manager_does_not_allocate_a_claim_for_the_pod(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    template = scenario.create(claim_template("template", request(driver.device_class)))
    wanted = unallocated_claim(scenario, driver.device_class)
    consumer = scenario.create(pod("consumer", claims={"gpu": wanted}, node_name=scenario.node))
    held_back(scenario, consumer, not_allowed(consumer, wanted))

    if difference("a Pod with the same claim goes through the scheduler"):
        running_holder(scenario, wanted)
    scenario.barrier.claim_controller(template)

    found = scenario.get(wanted)
    assert unallocated()(found), "the claim is allocated"
    assert unreserved()(found)


@pytest.mark.control("PS-03", "PS-08")
@pytest.mark.needs("kubelet")
def test_stuck_pod_is_rescued_once_another_pod_has_its_claim_allocated(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    wanted = unallocated_claim(scenario, driver.device_class)
    stuck = scenario.create(pod("stuck", claims={"gpu": wanted}, node_name=scenario.node))
    held_back(scenario, stuck, not_allowed(stuck, wanted))

    running_holder(scenario, wanted)

    scenario.wait(wanted, reserved_for(stuck))
    scenario.wait(stuck, running(), timeout=NEXT_TRY)
    driver.prepared(wanted)
