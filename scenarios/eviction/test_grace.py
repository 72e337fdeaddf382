"""How long a Pod may stay on a tainted device, and from when that time counts (EV-07 to EV-10)."""

import time

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import device_taint, device_taint_rule, runs_for
from harness.kube.predicates import condition, find_condition, gone, running, scheduled, succeeded, terminating
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.eviction.arrange import (
    SLACK,
    UNHEALTHY,
    evicted_after,
    eviction_barrier,
    run_on_gpu,
    taint,
    tolerating,
    whole_second,
)


@pytest.mark.statement("EV-07")
@pytest.mark.needs("kubelet")
@pytest.mark.feature("ResourceClaim.status.allocation.devices.results.tolerations")
def test_time_of_deletion_depends_on_the_toleration(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    patience = 0 if difference("both Pods tolerate the taint for no time") else 4
    hasty, first = run_on_gpu(scenario, driver, "hasty")
    patient, second = run_on_gpu(scenario, driver, "patient", tolerating(patience))

    begun = whole_second()
    tainted = taint(scenario, driver, first, second)

    assert evicted_after(scenario, hasty, tainted) < SLACK
    assert begun + 4 <= tainted + evicted_after(scenario, patient, tainted, tolerated=patience) < tainted + 4 + SLACK


@pytest.mark.control("EV-07")
@pytest.mark.needs("kubelet")
def test_pods_of_equal_tolerations_go_at_the_same_time(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2))
    one, first = run_on_gpu(scenario, driver, "one", tolerating(0))
    other, second = run_on_gpu(scenario, driver, "other", tolerating(0))

    tainted = taint(scenario, driver, first, second)

    assert evicted_after(scenario, one, tainted) < SLACK
    assert evicted_after(scenario, other, tainted) < SLACK


@pytest.mark.statement("EV-08")
@pytest.mark.needs("kubelet")
@pytest.mark.feature("DeviceTaintRule.status")
def test_pod_holds_out_for_its_toleration_seconds(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    seconds = None if difference("the toleration has no time") else 5
    worker, _ = run_on_gpu(scenario, driver, tolerations=tolerating(seconds))

    before = time.time()
    rule = scenario.create(
        device_taint_rule(scenario.namespace, device_taint(UNHEALTHY, "NoExecute"), driver=driver.name)
    )
    scenario.wait(
        rule,
        condition("EvictionInProgress", "True", "PodsPendingEviction", "1 pod needs to be evicted in 1 namespace."),
        timeout=15,
    )
    assert (running() & ~terminating())(scenario.get(worker))

    assert 4 <= evicted_after(scenario, worker, before, tolerated=5) < 5 + SLACK


@pytest.mark.control("EV-08")
@pytest.mark.needs("kubelet")
@pytest.mark.feature("ResourceClaim.status.allocation.devices.results.tolerations")
def test_toleration_without_a_time_holds_for_ever(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2))
    worker, device = run_on_gpu(scenario, driver, tolerations=tolerating(None))

    taint(scenario, driver, device)
    eviction_barrier(scenario, driver)

    assert (running() & ~terminating())(scenario.get(worker))


@pytest.mark.statement("EV-09")
@pytest.mark.needs("kubelet")
@pytest.mark.feature("ResourceClaim.status.allocation.devices.results.tolerations")
def test_time_counts_from_the_taint_and_not_from_the_pods_coming(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    age = 0 if difference("the taint is as new as the Pod") else 12
    taint(scenario, driver, "gpu-0", added=time.time() - age)

    worker, _ = run_on_gpu(scenario, driver, tolerations=tolerating(18), until=scheduled())
    came = time.time()

    assert evicted_after(scenario, worker, came, tolerated=18 - age) < 18 - 12 + SLACK


@pytest.mark.control("EV-09")
@pytest.mark.needs("kubelet")
@pytest.mark.feature("ResourceClaim.status.allocation.devices.results.tolerations")
def test_time_starts_again_with_a_renewed_taint(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    worker, device = run_on_gpu(scenario, driver, tolerations=tolerating(7))
    taint(scenario, driver, device, added=time.time() - 4)

    begun = whole_second()
    renewed = taint(scenario, driver, device, added=begun)

    assert begun + 7 <= renewed + evicted_after(scenario, worker, renewed, tolerated=7) < renewed + 7 + SLACK


@pytest.mark.statement("EV-10")
@pytest.mark.needs("kubelet")
@pytest.mark.feature("ResourceClaim.status.allocation.devices.results.tolerations")
def test_pod_that_gets_out_in_time_is_not_evicted(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    # A kubelet may take seconds to tell that a Pod runs, and again that it has ended.
    needed = 60 if difference("the Pod does not end within its time") else 5
    saver, first = run_on_gpu(scenario, driver, "saver", tolerating(16), command=runs_for(needed))
    stayer, second = run_on_gpu(scenario, driver, "stayer", tolerating(16))

    taint(scenario, driver, first, second)

    saved = scenario.wait(saver, succeeded(), timeout=20)
    scenario.wait(stayer, gone())  # the time of both is over
    assert find_condition(saved, "DisruptionTarget") is None
    assert not terminating()(scenario.get(saver))


@pytest.mark.control("EV-10")
@pytest.mark.needs("kubelet")
@pytest.mark.feature("ResourceClaim.status.allocation.devices.results.tolerations")
def test_pod_that_stays_is_evicted_at_the_end_of_its_time(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    stayer, device = run_on_gpu(scenario, driver, "stayer", tolerating(3))

    begun = whole_second()
    tainted = taint(scenario, driver, device)

    assert begun + 3 <= tainted + evicted_after(scenario, stayer, tainted, tolerated=3) < tainted + 3 + SLACK
