"""A gang whose members wait for binding conditions (XD-55)."""

import pytest

from fake_driver.profiles import fabric
from harness.drivers import Driver
from harness.kube.builders import claim, gang, pod, pod_group, request
from harness.kube.predicates import scheduled, unscheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.binding.arrange import ATTACHED, BINDING_FAILED, FAILED, ONE_POLL, Consumer, held_back, report
from scenarios.binding.test_failure import GIVEN_UP, later_allocation
from scenarios.gang.arrange import says_placed, still_says_placed

pytestmark = pytest.mark.needs("kubelet")


def waiting_gang(scenario: Scenario, driver: Driver) -> tuple[Object, Consumer, Consumer]:
    """A gang of two, of which each waits for a device of its own."""
    group = scenario.create(pod_group("gang", gang(2)))
    made = []
    for name in ("one", "two"):
        wanted = scenario.create(claim(name, request(driver.device_class)))
        made.append(Consumer(scenario.create(pod(name, claims={"gpu": wanted}, pod_group=group)), wanted))
    one, two = (held_back(scenario, member) for member in made)
    says_placed(scenario, group)
    return group, one, two


@pytest.mark.slow
@pytest.mark.statement("XD-55")
def test_member_whose_device_fails_is_tried_again_alone(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(fabric(2), plugin=False)
    group, one, two = waiting_gang(scenario, driver)

    report(driver, two, {FAILED: "False" if difference("no device fails") else "True"})

    scenario.wait_event(two.pod, GIVEN_UP, BINDING_FAILED, timeout=ONE_POLL)
    again = scenario.wait(two.claim, later_allocation(two.claim))
    # The other one has not been called off, and is bound without it.
    assert scenario.get(one.claim)["status"] == one.claim["status"]
    report(driver, one, {ATTACHED: "True"})
    scenario.wait(one.pod, scheduled(scenario.node), timeout=ONE_POLL)
    assert unscheduled()(scenario.get(two.pod))
    still_says_placed(scenario, group)

    report(driver, Consumer(two.pod, again), {ATTACHED: "True"})
    scenario.wait(two.pod, scheduled(scenario.node), timeout=ONE_POLL)


@pytest.mark.slow
@pytest.mark.control("XD-55")
def test_gang_is_bound_when_all_devices_are_attached(scenario: Scenario) -> None:
    driver = scenario.driver(fabric(2), plugin=False)
    _, one, two = waiting_gang(scenario, driver)

    for member in (one, two):
        report(driver, member, {ATTACHED: "True"})

    for member in (one, two):
        scenario.wait(member.pod, scheduled(scenario.node), timeout=ONE_POLL)
        assert GIVEN_UP not in {found.get("reason") for found in scenario.client.events(member.pod)}
