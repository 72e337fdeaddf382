"""The wait itself: until every condition of every device is True (BC-01 to BC-04, BC-07, BC-08)."""

from datetime import datetime

import pytest

from fake_driver.attachment import succeed
from fake_driver.profiles import fabric, gpus
from harness.kube.builders import claim, pod, request
from harness.kube.predicates import Predicate, scheduled, unscheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.binding.arrange import (
    ATTACHED,
    BOUND,
    DURATION,
    INITIALIZED,
    ONE_POLL,
    PENDING,
    Consumer,
    assert_counted,
    conditions,
    consumer,
    held_back,
    report,
    report_each,
    still_waits,
    time_of,
    unlike_pair,
    waiting,
)
from scenarios.binding.controller import apply, set_on_pod, written

#: How many allocations a scheduler profile has waited for, by the outcome.
ALLOCATIONS = "scheduler_dra_bindingconditions_allocations_total"


@pytest.mark.statement("BC-01")
@pytest.mark.needs("kubelet")
def test_pod_is_held_back_until_its_device_is_attached(scenario: Scenario, difference: Difference) -> None:
    without = difference("the device has no binding conditions")
    driver = scenario.driver(gpus(1) if without else fabric(1), plugin=False)

    held = waiting(scenario, driver)
    assert unscheduled()(scenario.get(held.pod)), "the Pod was bound before its device was attached"

    report(driver, held, {ATTACHED: "True"})
    scenario.wait(held.pod, scheduled(scenario.node), timeout=ONE_POLL)


@pytest.mark.control("BC-01", "BC-04")
@pytest.mark.needs("kubelet")
def test_pod_is_bound_at_once_when_its_device_has_no_conditions(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1), plugin=False)
    driver.control.attach(succeed())

    bound = consumer(scenario, driver)

    scenario.wait(bound.pod, scheduled(scenario.node), timeout=ONE_POLL)
    assert conditions(scenario.get(bound.claim)) == []


def nominated(node: str) -> Predicate[Object]:
    return Predicate(f"nominated for {node}", lambda found: found["status"].get("nominatedNodeName") == node)


@pytest.mark.statement("BC-02")
@pytest.mark.needs("kubelet")
def test_scheduler_waits_in_prebind_and_goes_on_with_other_pods(scenario: Scenario, difference: Difference) -> None:
    without = difference("the device has no binding conditions")
    driver = scenario.driver(gpus(1) if without else fabric(1), plugin=False)

    held = waiting(scenario, driver, scheduler_name=scenario.scheduler_name)
    if scenario.release.has("NominatedNodeNameForExpectation.default"):
        scenario.wait(held.pod, nominated(scenario.node))
    other = scenario.create(pod("other", scheduler_name=scenario.scheduler_name))
    scenario.wait(other, scheduled())
    assert unscheduled()(scenario.get(held.pod)), "the wait was over before another Pod was placed"
    assert_counted(scenario, driver, DURATION, 0)

    report(driver, held, {ATTACHED: "True"})
    scenario.wait(held.pod, scheduled(scenario.node), timeout=ONE_POLL)
    assert_counted(scenario, driver, DURATION, 1, status="success")
    assert_counted(scenario, driver, ALLOCATIONS, 1, status="success")


@pytest.mark.control("BC-02")
@pytest.mark.needs("kubelet")
def test_no_wait_is_told_of_without_conditions(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1), plugin=False)

    bound = consumer(scenario, driver, scheduler_name=scenario.scheduler_name)

    scenario.wait_event(bound.pod, BOUND)
    # Both events come from one recorder, in order.
    assert PENDING not in {found.get("reason") for found in scenario.client.events(bound.pod)}
    assert_counted(scenario, driver, DURATION, 0)


def pod_with_two_claims(scenario: Scenario, device_class: str) -> tuple[Consumer, Consumer]:
    """A Pod with two claims, as a consumer of each."""
    first, second = (scenario.create(claim(name, request(device_class))) for name in ("first", "second"))
    both = scenario.create(pod("consumer", claims={"first": first, "second": second}))
    return Consumer(both, first), Consumer(both, second)


@pytest.mark.slow
@pytest.mark.statement("BC-03")
@pytest.mark.needs("kubelet")
def test_one_device_or_claim_that_is_not_ready_holds_the_pod_back(scenario: Scenario, difference: Difference) -> None:
    without = difference("the devices have no binding conditions")
    driver = scenario.driver(gpus(4) if without else fabric(4), plugin=False)
    other_driver = scenario.driver(gpus(2) if without else unlike_pair(), plugin=False)
    alike = waiting(scenario, driver, "alike", count=2)
    unlike = waiting(scenario, other_driver, "unlike", count=2)
    first, second = (held_back(scenario, half) for half in pod_with_two_claims(scenario, driver.device_class))

    report_each(driver, alike, {ATTACHED: "True"}, {ATTACHED: "False"})
    report_each(other_driver, unlike, {ATTACHED: "True"}, {INITIALIZED: "False"})
    report(driver, first, {ATTACHED: "True"})
    still_waits(scenario, alike, unlike, first, second)

    report_each(driver, alike, {ATTACHED: "True"}, {ATTACHED: "True"})
    report_each(other_driver, unlike, {ATTACHED: "True"}, {INITIALIZED: "True"})
    report(driver, second, {ATTACHED: "True"})
    for held in (alike, unlike, first):
        scenario.wait(held.pod, scheduled(scenario.node), timeout=ONE_POLL)


@pytest.mark.control("BC-03")
@pytest.mark.needs("kubelet")
def test_several_devices_without_conditions_hold_nothing_back(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(4), plugin=False)

    two_devices = consumer(scenario, driver, "two-devices", count=2)
    first, _ = pod_with_two_claims(scenario, driver.device_class)

    scenario.wait(two_devices.pod, scheduled(scenario.node))
    scenario.wait(first.pod, scheduled(scenario.node))


@pytest.mark.statement("BC-04")
@pytest.mark.needs("kubelet")
def test_binding_is_never_premature(scenario: Scenario, difference: Difference) -> None:
    without = difference("the device has no binding conditions")
    driver = scenario.driver(gpus(1) if without else fabric(1), plugin=False)
    driver.control.attach(succeed(delay=2.0))

    made = consumer(scenario, driver)

    scenario.wait(made.pod, scheduled(), timeout=ONE_POLL)
    reported = conditions(scenario.get(made.claim))
    assert [(found["type"], found["status"]) for found in reported] == [(ATTACHED, "True")]
    attached = datetime.fromisoformat(reported[0]["lastTransitionTime"]).timestamp()
    assert time_of(scenario, made.pod, BOUND).latest > attached > time_of(scenario, made.pod, PENDING).earliest


@pytest.mark.statement("BC-07", "BC-08")
@pytest.mark.needs("kubelet")
def test_pod_is_bound_when_all_listed_types_are_true(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(fabric(1, conditions=[ATTACHED, INITIALIZED]), plugin=False)
    other_driver = scenario.driver(unlike_pair(), plugin=False)
    held, unlike = waiting(scenario, driver), waiting(scenario, other_driver, "unlike", count=2)
    last = "False" if difference("a listed type is False") else "True"

    report(driver, held, {ATTACHED: "True"})
    report(driver, held, {INITIALIZED: last})
    report_each(other_driver, unlike, {ATTACHED: "True"}, {INITIALIZED: last})

    for made in (held, unlike):
        scenario.wait(made.pod, scheduled(scenario.node), timeout=ONE_POLL)


@pytest.mark.control("BC-03", "BC-07", "BC-08", "BC-14", "BC-15", "XD-56")
@pytest.mark.needs("kubelet")
def test_pod_is_held_back_while_a_listed_type_is_false_unknown_missing_or_elsewhere(scenario: Scenario) -> None:
    other_driver = scenario.driver(unlike_pair(), plugin=False)
    crossed = waiting(scenario, other_driver, "crossed", count=2)
    driver = scenario.driver(fabric(5, conditions=[ATTACHED, INITIALIZED]), plugin=False)
    names = ("false", "unknown", "missing", "of-a-later-generation", "on-pod")
    false, unknown, missing, later, on_pod = (waiting(scenario, driver, name) for name in names)

    report(driver, false, {ATTACHED: "True", INITIALIZED: "False"})
    report(driver, unknown, {ATTACHED: "True", INITIALIZED: "Unknown"})
    report(driver, missing, {ATTACHED: "True", "DeviceIsWarm": "True"})
    newest = written(INITIALIZED, status="False", observedGeneration=99)
    apply(scenario.client, driver, later.claim, written(ATTACHED), newest)

    # What one device of a claim waits for is nothing to the other.
    report_each(other_driver, crossed, {INITIALIZED: "True"}, {ATTACHED: "True"})
    set_on_pod(scenario, on_pod.pod, written(ATTACHED), written(INITIALIZED))

    still_waits(scenario, false, unknown, missing, later, on_pod, crossed)
    # And nobody takes them from there into the claim.
    assert conditions(scenario.get(on_pod.claim)) == []
