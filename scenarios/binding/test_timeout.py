"""How long the scheduler waits, where that is a matter of seconds (BC-17, BC-19)."""

import pytest

from fake_driver.attachment import succeed
from fake_driver.profiles import fabric
from harness.kube.predicates import allocated_devices, scheduled, unscheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.binding.arrange import (
    ATTACHED,
    DURATION,
    ONE_POLL,
    PENDING,
    POLL,
    Consumer,
    assert_counted,
    conditions,
    report,
    still_waits,
    time_of,
    waiting,
)
from scenarios.binding.test_failure import GIVEN_UP, later_allocation

#: What the profile short-timeouts sets, in seconds.
SHORT = 7.0

TIMED_OUT = "binding timeout"


@pytest.mark.slow
@pytest.mark.statement("BC-17", "BC-19")
@pytest.mark.profile("short-timeouts")
@pytest.mark.feature("DynamicResourcesArgs.bindingTimeout")
@pytest.mark.needs("kubelet")
def test_after_the_limit_the_claim_is_cleared_and_the_pod_tried_again(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    if difference("the device is attached in time"):
        driver.control.attach(succeed())
    held = waiting(scenario, driver, scheduler_name=scenario.scheduler_name)
    report(driver, held, {"DeviceIsWarm": "True"})

    again = scenario.wait(held.claim, later_allocation(held.claim), timeout=ONE_POLL)
    assert unscheduled()(scenario.get(held.pod))
    assert allocated_devices(again) == allocated_devices(held.claim)
    assert conditions(again) == []

    # Nobody has attached the device so far: the next limit is still some seconds away.
    report(driver, Consumer(held.pod, again), {ATTACHED: "True"})
    scenario.wait(held.pod, scheduled(scenario.node), timeout=ONE_POLL)
    assert [found["type"] for found in conditions(scenario.get(held.claim))] == [ATTACHED]
    assert_counted(scenario, driver, DURATION, 1, status="timeout")

    scenario.wait_event(held.pod, GIVEN_UP, TIMED_OUT)
    scenario.wait_event(held.pod, GIVEN_UP, "deallocation of ResourceClaim completed")
    waited = time_of(scenario, held.pod, GIVEN_UP) - time_of(scenario, held.pod, PENDING)
    assert waited.latest > SHORT - 1, f"the wait was over after {waited.latest:.1f} s"
    assert waited.earliest < 2 * POLL, f"the wait was over only after {waited.earliest:.1f} s"


@pytest.mark.slow
@pytest.mark.control("BC-17", "BC-19")
@pytest.mark.needs("kubelet")
def test_wait_goes_on_beyond_that_where_nothing_is_configured(scenario: Scenario) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    held = waiting(scenario, driver)

    # Each lasts for an interval of 5 s: together they are longer than the other scheduler's limit.
    for _ in range(2):
        still_waits(scenario, held)

    assert GIVEN_UP not in {found.get("reason") for found in scenario.client.events(held.pod)}
