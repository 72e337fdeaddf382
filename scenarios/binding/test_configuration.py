"""The limit in the scheduler's configuration: its default, the document's example, profiles (BC-16, BC-20, BC-21)."""

import re

import pytest

from fake_driver.profiles import fabric
from harness.kube.predicates import unscheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.binding.arrange import ATTACHED, ONE_POLL, PENDING, POLL, report, still_waits, time_of, waiting
from scenarios.binding.configuration import (
    binding_timeout,
    document_example,
    effective_arguments,
    profile,
    run_scheduler,
)
from scenarios.binding.test_failure import GIVEN_UP
from scenarios.binding.test_timeout import TIMED_OUT

pytestmark = [pytest.mark.needs("kubelet"), pytest.mark.feature("DynamicResourcesArgs.bindingTimeout")]
alone = pytest.mark.exclusive("cluster")
restarts = pytest.mark.needs("restart")


@alone
@restarts
@pytest.mark.slow
@pytest.mark.statement("BC-16")
def test_limit_is_600_seconds_when_nobody_sets_one(scenario: Scenario, difference: Difference) -> None:
    configuration = document_example()
    if not difference("the limit is set, to 7 s"):
        del configuration["profiles"][0]["pluginConfig"]
    else:
        binding_timeout(configuration)["bindingTimeout"] = "7s"

    run_scheduler(scenario, configuration)

    assert effective_arguments(scenario, "default-scheduler")["bindingTimeout"] == "10m0s"
    held = waiting(scenario, scenario.driver(fabric(1), plugin=False))
    for _ in range(2):
        still_waits(scenario, held)


@alone
@restarts
@pytest.mark.slow
@pytest.mark.statement("BC-20")
def test_example_ends_the_wait_after_60_seconds(scenario: Scenario, difference: Difference) -> None:
    configuration = document_example()
    if difference("the limit is 7 s in place of 60 s"):
        binding_timeout(configuration)["bindingTimeout"] = "7s"
    run_scheduler(scenario, configuration)

    held = waiting(scenario, scenario.driver(fabric(1), plugin=False))

    scenario.wait_event(held.pod, GIVEN_UP, TIMED_OUT, timeout=60 + ONE_POLL)
    waited = time_of(scenario, held.pod, GIVEN_UP) - time_of(scenario, held.pod, PENDING)
    assert waited.latest > 60 - 1, f"the wait was over after {waited.latest:.1f} s"
    assert waited.earliest < 60 + POLL, f"the wait was over only after {waited.earliest:.1f} s"
    assert unscheduled()(scenario.get(held.pod))


@alone
@restarts
@pytest.mark.slow
@pytest.mark.statement("BC-21")
def test_each_profile_has_its_own_limit(scenario: Scenario, difference: Difference) -> None:
    configuration = document_example()
    if difference("both profiles have the same limit"):
        binding_timeout(configuration)["bindingTimeout"] = "7s"
    configuration["profiles"].append(profile("hasty", "7s"))
    run_scheduler(scenario, configuration)
    driver = scenario.driver(fabric(2), plugin=False)

    patient, hasty = waiting(scenario, driver, "patient"), waiting(scenario, driver, "hasty", scheduler_name="hasty")

    scenario.wait_event(hasty.pod, GIVEN_UP, TIMED_OUT, timeout=ONE_POLL)
    still_waits(scenario, patient)
    assert GIVEN_UP not in {found.get("reason") for found in scenario.client.events(patient.pod)}


@alone
@restarts
@pytest.mark.slow
@pytest.mark.control("BC-21")
def test_profiles_with_the_same_limit_give_up_alike(scenario: Scenario) -> None:
    configuration = document_example()
    binding_timeout(configuration)["bindingTimeout"] = "7s"
    configuration["profiles"].append(profile("hasty", "7s"))
    run_scheduler(scenario, configuration)
    driver = scenario.driver(fabric(2), plugin=False)

    both = waiting(scenario, driver, "patient"), waiting(scenario, driver, "hasty", scheduler_name="hasty")

    for held in both:
        scenario.wait_event(held.pod, GIVEN_UP, TIMED_OUT, timeout=ONE_POLL)


@alone
@restarts
@pytest.mark.slow
@pytest.mark.statement("BC-17")
def test_limit_counts_from_the_allocation_across_a_restart_of_the_scheduler(
    scenario: Scenario, difference: Difference
) -> None:
    # Restarted after 5 s, the scheduler looks every 5 s. At the fourth look this limit is over, one of its own not yet.
    # Until it is stopped, on a slow machine, it must not be over.
    configuration = document_example()
    binding_timeout(configuration)["bindingTimeout"] = "19500ms"
    run_scheduler(scenario, configuration)
    driver = scenario.driver(fabric(1), plugin=False)
    held = waiting(scenario, driver)
    still_waits(scenario, held)

    scenario.cluster.stop("kube-scheduler")
    if difference("the device is attached while the scheduler is down"):
        report(driver, held, {ATTACHED: "True"})
    scenario.cluster.start("kube-scheduler")

    told = scenario.wait_event(held.pod, GIVEN_UP, TIMED_OUT, timeout=20 + ONE_POLL)
    # It is the claim that is too old; where the wait itself lasts too long, no claim is named.
    assert re.search(rf"claim[ =]{held.claim['metadata']['name']}\b", told["message"]), told["message"]
