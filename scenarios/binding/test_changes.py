"""What changes while a Pod waits, or after: conditions that go back, Pods that share or go (BC-01 to BC-03, BC-07)."""

import pytest

from fake_driver.profiles import fabric
from harness.kube.builders import pod
from harness.kube.predicates import Predicate, any_of, reserved_for, scheduled, unallocated, unreserved
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.binding.arrange import (
    ATTACHED,
    ONE_POLL,
    PENDING,
    Consumer,
    consumer,
    held_back,
    report,
    still_waits,
    waiting,
)
from scenarios.binding.test_failure import GIVEN_UP
from scenarios.binding.test_timeout import TIMED_OUT

pytestmark = pytest.mark.needs("kubelet")


@pytest.mark.statement("BC-07")
def test_condition_that_goes_back_before_the_next_look_does_not_count(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    held = waiting(scenario, driver)

    report(driver, held, {ATTACHED: "True"})
    if not difference("the condition stays True"):
        report(driver, held, {ATTACHED: "False"})

    still_waits(scenario, held)


@pytest.mark.slow
@pytest.mark.statement("BC-07")
def test_condition_that_goes_back_after_the_binding_changes_nothing(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    held = waiting(scenario, driver)
    report(driver, held, {ATTACHED: "Unknown" if difference("the condition was never True") else "True"})
    scenario.wait(held.pod, scheduled(scenario.node), timeout=ONE_POLL)

    report(driver, held, {ATTACHED: "False"})

    scenario.barrier.scheduler_saw_claims()
    assert scheduled(scenario.node)(scenario.get(held.pod))
    now = scenario.get(held.claim)
    assert now["status"]["allocation"] == held.claim["status"]["allocation"]
    assert reserved_for(held.pod)(now)


@pytest.mark.statement("BC-01", "BC-03")
def test_two_pods_wait_for_the_one_claim_they_share(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    first = waiting(scenario, driver)
    second = held_back(scenario, Consumer(scenario.create(pod("second", claims={"gpu": first.claim})), first.claim))
    assert reserved_for(first.pod)(second.claim)

    report(driver, first, {ATTACHED: "False" if difference("the condition is False") else "True"})

    for held in (first, second):
        scenario.wait(held.pod, scheduled(scenario.node), timeout=ONE_POLL)


@pytest.mark.slow
@pytest.mark.profile("short-timeouts")
@pytest.mark.feature("DynamicResourcesArgs.bindingTimeout", "scheduler.keeps-device-of-deleted-waiting-pod")
@pytest.mark.statement("BC-02")
def test_scheduler_goes_on_waiting_for_a_deleted_pod_and_keeps_its_device(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    held = waiting(scenario, driver)
    if difference("the wait is over before the Pod is deleted"):
        report(driver, held, {ATTACHED: "True"})
        scenario.wait(held.pod, scheduled(scenario.node), timeout=ONE_POLL)

    scenario.delete(held.pod)

    # For everybody who looks at the API the device is free,
    now = scenario.wait(held.claim, unreserved() & unallocated(), timeout=ONE_POLL)
    assert "devices" not in now["status"]
    # but the scheduler does not give it away before the limit of the wait,
    outsider = consumer(scenario, driver, "outsider")
    assert GIVEN_UP in scenario.waiter.wait_reasons(outsider.pod, PENDING, GIVEN_UP)
    scenario.wait_event(held.pod, GIVEN_UP, TIMED_OUT, timeout=ONE_POLL)
    # and when it does at last, nobody is told: it takes a later Pod, or something else that happens, to find out.
    latecomer = consumer(scenario, driver, "latecomer")
    next_ones = {made.pod["metadata"]["name"] for made in (outsider, latecomer)}
    given = Predicate[Object](
        f"the device is given to {' or '.join(sorted(next_ones))}",
        lambda found: found.get("reason") == PENDING and found["involvedObject"]["name"] in next_ones,
    )
    scenario.waiter.wait_any("Event", any_of(given))
