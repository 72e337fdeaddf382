"""Pods whose devices are not ready (HS-62)."""

import pytest

from fake_driver.attachment import never
from fake_driver.profiles import fabric
from harness.explain import render
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.binding.arrange import BINDING_FAILED, FAILED, ONE_POLL, report, waiting
from scenarios.binding.test_failure import GIVEN_UP
from scenarios.binding.test_timeout import TIMED_OUT
from scenarios.explain.asked import OTHER, Case, check, explanation, healthy, name_of


def condition_is_awaited(scenario: Scenario) -> Object:
    return waiting(scenario, scenario.driver(fabric(1), plugin=False)).pod


def claim_whose_condition_is_awaited(scenario: Scenario) -> Object:
    return waiting(scenario, scenario.driver(fabric(1), plugin=False)).claim


CASES = [
    Case("binding-conditions", condition_is_awaited, "DeviceAttached"),
    Case("binding-conditions", claim_whose_condition_is_awaited, "timeout of 600 s"),
]


@pytest.mark.statement("HS-62")
@pytest.mark.needs("kubelet")
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_which_condition_a_pod_waits_for(scenario: Scenario, difference: Difference, case: Case) -> None:
    check(scenario, difference, case)


@pytest.mark.statement("HS-62")
@pytest.mark.needs("kubelet")
def test_that_and_why_binding_has_failed(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    held = waiting(scenario, driver)
    report(driver, held, {FAILED: "True"}, reason="NoPower", message="the switch is dark")
    scenario.wait_event(held.pod, GIVEN_UP, BINDING_FAILED, timeout=ONE_POLL)

    found = explanation(scenario, healthy(scenario) if difference(OTHER) else held.pod)

    # The scheduler tries again by itself: the Pod may wait anew by now, or be about to.
    assert "binding-failed" in found.causes, render.text(found)
    assert set(found.causes) <= {"binding-failed", "binding-conditions"}, render.text(found)
    assert "the switch is dark" in render.text(found)


@pytest.mark.slow
@pytest.mark.statement("HS-62")
@pytest.mark.profile("short-timeouts")
@pytest.mark.feature("DynamicResourcesArgs.bindingTimeout")
@pytest.mark.needs("kubelet")
def test_that_binding_has_timed_out(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    driver.control.attach(never())
    held = waiting(scenario, driver)
    scenario.wait_event(held.pod, GIVEN_UP, TIMED_OUT, timeout=ONE_POLL)

    found = explanation(scenario, healthy(scenario) if difference(OTHER) else held.pod)

    assert "binding-timeout" in found.causes, render.text(found)
    assert set(found.causes) <= {"binding-timeout", "binding-conditions"}, render.text(found)
    assert "1 time, last at" in render.text(found)
