"""The attaching fails: the scheduler gives up and begins again (BC-09, BC-10, BC-18)."""

import pytest

from fake_driver.attachment import fail, never, succeed
from fake_driver.inventory import Taint
from fake_driver.profiles import fabric
from harness.kube.predicates import Predicate, allocated_devices, allocation_results, scheduled, unscheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.binding.arrange import (
    ATTACHED,
    BINDING_FAILED,
    DURATION,
    FAILED,
    ONE_POLL,
    OVERHEATED,
    assert_counted,
    conditions,
    report,
    report_each,
    still_waits,
    unlike_pair,
    waiting,
)

GIVEN_UP = "FailedScheduling"


def later_allocation(than: Object) -> Predicate[Object]:
    """The claim has been allocated anew."""
    before = than["status"]["allocation"]
    return Predicate(
        "allocated anew",
        lambda claim: bool(allocation_results(claim)) and claim["status"]["allocation"] != before,
    )


@pytest.mark.statement("BC-09", "BC-10")
@pytest.mark.needs("kubelet")
def test_true_failure_condition_ends_the_attempt_whether_or_not_another_device_is_ready(
    scenario: Scenario, difference: Difference
) -> None:
    driver, other_driver = (scenario.driver(pool, plugin=False) for pool in (fabric(1), unlike_pair()))
    held = waiting(scenario, driver, scheduler_name=scenario.scheduler_name)
    half = waiting(scenario, other_driver, "half", count=2)

    status = "False" if difference("the failure condition is False") else "True"
    report(driver, held, {FAILED: status}, reason="NoPower", message="the switch is dark")
    report_each(other_driver, half, {ATTACHED: "True"}, {OVERHEATED: status})

    told = scenario.wait_event(held.pod, GIVEN_UP, BINDING_FAILED, timeout=ONE_POLL)
    assert 'reason=NoPower, message="the switch is dark"' in told["message"]
    assert unscheduled()(scenario.get(held.pod))
    assert_counted(scenario, driver, DURATION, 1, status="failure")
    told = scenario.wait_event(half.pod, GIVEN_UP, BINDING_FAILED, timeout=ONE_POLL)
    assert 'message="gpu-1"' in told["message"], told["message"]
    # Nothing is left of the one that was ready: both are to be attached anew.
    again = scenario.wait(half.claim, later_allocation(half.claim))
    assert conditions(again) == []


@pytest.mark.control("BC-09", "BC-10", "BC-16", "BC-18")
@pytest.mark.needs("kubelet")
def test_false_or_unlisted_failure_conditions_let_the_wait_go_on(scenario: Scenario) -> None:
    driver = scenario.driver(fabric(2, failures=[FAILED, OVERHEATED]), plugin=False)
    other_driver = scenario.driver(unlike_pair(), plugin=False)
    false, unlisted = (waiting(scenario, driver, name) for name in ("false", "unlisted"))
    crossed = waiting(scenario, other_driver, "crossed", count=2)

    report(driver, false, {FAILED: "False", OVERHEATED: "False"})
    report(driver, unlisted, {"DeviceIsUgly": "True"})
    # Each has failed in a way that only the other one lists.
    report_each(other_driver, crossed, {ATTACHED: "True", OVERHEATED: "True"}, {FAILED: "True"})

    still_waits(scenario, false, unlisted, crossed)
    for held in (false, unlisted, crossed):
        assert GIVEN_UP not in {found.get("reason") for found in scenario.client.events(held.pod)}


@pytest.mark.slow
@pytest.mark.statement("BC-10", "BC-18")
@pytest.mark.needs("kubelet")
def test_one_of_two_failure_conditions_sends_the_pod_to_another_device(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(fabric(2, failures=[FAILED, OVERHEATED]), plugin=False)
    driver.control.attach(succeed(), device="gpu-1")
    held = waiting(scenario, driver)
    assert [found.device for found in allocated_devices(held.claim)] == ["gpu-0"]
    # First fit would choose the same device again.
    driver.control.update_device(scenario.node, "gpu-0", taints=[Taint("example.com/dark", "NoSchedule")])

    status = "False" if difference("no failure condition is True") else "True"
    report(driver, held, {FAILED: "False", OVERHEATED: status})

    scenario.wait_event(held.pod, GIVEN_UP, BINDING_FAILED, timeout=ONE_POLL)
    again = scenario.wait(held.claim, later_allocation(held.claim))
    assert [found.device for found in allocated_devices(again)] == ["gpu-1"]
    scenario.wait(held.pod, scheduled(scenario.node), timeout=ONE_POLL)
    entries = scenario.get(held.claim)["status"]["devices"]
    assert [entry["device"] for entry in entries] == ["gpu-1"], "the failed device is still in the claim's status"


@pytest.mark.slow
@pytest.mark.statement("BC-18")
@pytest.mark.needs("kubelet")
def test_the_same_device_is_taken_again_when_nothing_speaks_against_it(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(fabric(2), plugin=False)
    driver.control.attach(never() if difference("the attaching does not fail") else fail("once"))
    held = waiting(scenario, driver)

    scenario.wait_event(held.pod, GIVEN_UP, BINDING_FAILED, timeout=ONE_POLL)
    # Before the claim is allocated again the Pod is in its backoff, for a second at least.
    driver.control.attach(succeed())

    again = scenario.wait(held.claim, later_allocation(held.claim))
    assert allocated_devices(again) == allocated_devices(held.claim)
    scenario.wait(held.pod, scheduled(scenario.node), timeout=ONE_POLL)
    assert {found["type"] for found in conditions(scenario.get(held.claim))} == {ATTACHED}


@pytest.mark.statement("BC-10")
@pytest.mark.deviates("BC-10", "a failure is not looked at while an earlier device of the claim is not ready")
@pytest.mark.slow
@pytest.mark.needs("kubelet")
def test_failure_of_a_later_device_stays_unseen_while_an_earlier_one_is_not_ready(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(fabric(2), plugin=False)
    held = waiting(scenario, driver, count=2)
    earlier, later = (
        (result["pool"], result["device"]) for result in held.claim["status"]["allocation"]["devices"]["results"]
    )

    driver.control.report(held.claim, *later, {FAILED: "True"})
    if difference("the earlier device is ready"):
        driver.control.report(held.claim, *earlier, {ATTACHED: "True"})
    still_waits(scenario, held)

    driver.control.report(held.claim, *earlier, {ATTACHED: "True"})
    scenario.wait_event(held.pod, GIVEN_UP, BINDING_FAILED, timeout=ONE_POLL)
