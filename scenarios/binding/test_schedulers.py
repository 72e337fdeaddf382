"""Two scheduler processes, each with its own limit and its own memory (XD-50)."""

from pathlib import Path

import pytest

from fake_driver.profiles import fabric
from harness.kube.predicates import unallocated, unreserved, unschedulable, unscheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.binding.arrange import ONE_POLL, PENDING, consumer, held_back, still_waits, waiting
from scenarios.binding.scheduler import second_scheduler
from scenarios.binding.test_failure import GIVEN_UP
from scenarios.binding.test_timeout import TIMED_OUT

pytestmark = [pytest.mark.needs("kubelet", "restart"), pytest.mark.feature("DynamicResourcesArgs.bindingTimeout")]

NO_DEVICE = unschedulable("cannot allocate all claims")


@pytest.mark.statement("XD-50")
def test_device_is_taken_for_the_other_scheduler_as_the_api_says(
    scenario: Scenario, difference: Difference, tmp_path: Path
) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    same = difference("the other Pod is of the same scheduler")
    with second_scheduler(scenario, tmp_path, "600s") as second:
        held = waiting(scenario, driver, scheduler_name=second)
        if not same:
            scenario.barrier.scheduler_saw_claims()
        outsider = consumer(scenario, driver, "outsider", scheduler_name=second if same else None)
        scenario.wait(outsider.pod, NO_DEVICE)

        scenario.delete(held.pod)

        scenario.wait(held.claim, unreserved() & unallocated())
        held_back(scenario, outsider)


@pytest.mark.control("XD-50")
@pytest.mark.feature("scheduler.keeps-device-of-deleted-waiting-pod")
def test_device_stays_taken_within_one_scheduler(scenario: Scenario) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    held = waiting(scenario, driver)

    scenario.delete(held.pod)
    scenario.wait(held.claim, unreserved() & unallocated())
    scenario.barrier.scheduler_saw_claims()

    outsider = consumer(scenario, driver, "outsider")
    assert GIVEN_UP in scenario.waiter.wait_reasons(outsider.pod, PENDING, GIVEN_UP)


@pytest.mark.slow
@pytest.mark.statement("XD-50")
def test_each_scheduler_has_its_own_limit(scenario: Scenario, difference: Difference, tmp_path: Path) -> None:
    driver = scenario.driver(fabric(2), plugin=False)
    limit = "600s" if difference("both schedulers have the same limit") else "7s"
    with second_scheduler(scenario, tmp_path, limit) as second:
        patient, hasty = waiting(scenario, driver, "patient"), waiting(scenario, driver, "hasty", scheduler_name=second)

        scenario.wait_event(hasty.pod, GIVEN_UP, TIMED_OUT, timeout=ONE_POLL)

        assert unscheduled()(scenario.get(patient.pod))
        assert GIVEN_UP not in {found.get("reason") for found in scenario.client.events(patient.pod)}


@pytest.mark.slow
@pytest.mark.control("XD-50")
def test_with_one_limit_for_both_both_wait_on(scenario: Scenario, tmp_path: Path) -> None:
    driver = scenario.driver(fabric(2), plugin=False)
    with second_scheduler(scenario, tmp_path, "600s") as second:
        usual, other = waiting(scenario, driver, "usual"), waiting(scenario, driver, "other", scheduler_name=second)

        # Each lasts for an interval of 5 s: together they are longer than the limit of a hasty scheduler.
        still_waits(scenario, usual)
        still_waits(scenario, other)
