"""Pods of a group (HS-63)."""

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import claim_template, gang, pod, pod_group, request
from harness.kube.predicates import group_error, group_unschedulable, scheduled, unschedulable
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.explain.asked import Case, check, explanation, name_of
from scenarios.preemption import arrange as priorities

pytestmark = pytest.mark.feature("PodGroup.status.conditions")


def missing_group(scenario: Scenario) -> Object:
    return scenario.create(pod("member", pod_group="no-such-group"))


def too_few_members(scenario: Scenario) -> Object:
    group = scenario.create(pod_group("group", gang(3)))
    scenario.create(pod("first", pod_group=group))
    return scenario.create(pod("second", pod_group=group))


def group_with_too_few_members(scenario: Scenario) -> Object:
    too_few_members(scenario)
    return scenario.client.get("PodGroup", "group")


def gated_member(scenario: Scenario) -> Object:
    group = scenario.create(pod_group("group", gang(2)))
    scenario.create(pod("gated", pod_group=group, scheduling_gates=["example.com/quota"]))
    return scenario.create(pod("waiter", pod_group=group))


def no_room_for_a_member(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(1), plugin=False)
    template = scenario.create(claim_template("one", request(driver.device_class)))
    group = scenario.create(pod_group("group", gang(2)))
    members = [scenario.create(pod(f"member-{n}", templates={"gpu": template}, pod_group=group)) for n in range(2)]
    scenario.wait(group, group_unschedulable())
    for member in members:
        scenario.wait(member, unschedulable())
    return scenario.client.get("PodGroup", "group")


def different_priorities(scenario: Scenario) -> Object:
    priorities.classes(scenario)
    group = scenario.create(pod_group("group", gang(2)))
    high = priorities.of(scenario, "high")
    members = [
        scenario.create(pod("usual", pod_group=group)),
        scenario.create(pod("high", pod_group=group, priority_class=high)),
    ]
    scenario.wait(group, group_error())
    return members[0]


def different_schedulers(scenario: Scenario) -> Object:
    group = scenario.create(pod_group("group", gang(2)))
    scenario.create(pod("own", pod_group=group, scheduler_name=scenario.scheduler_name))
    usual = scenario.create(pod("usual", pod_group=group))
    scenario.wait(group, group_error())
    return usual


CASES = [
    Case("group-missing", missing_group, "no-such-group"),
    Case("group-quorum", too_few_members, "2 of 3"),
    Case("group-quorum", group_with_too_few_members, "2 of 3"),
    pytest.param(
        Case("group-member-held", gated_member, "example.com/quota"),
        marks=pytest.mark.feature("PodGroup.held-by-each-of-its-pods"),
    ),
    Case("group-no-room", no_room_for_a_member, "there is no room for 2 Pods"),
    pytest.param(
        Case("group-priorities", different_priorities, "high 3000"),
        marks=pytest.mark.feature("PodGroup.pods-have-its-priority"),
    ),
    pytest.param(
        Case("group-schedulers", different_schedulers, "default-scheduler"),
        marks=pytest.mark.feature("PodGroup.pods-have-one-scheduler"),
    ),
]


@pytest.mark.statement("HS-63")
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_why_a_group_is_not_placed(scenario: Scenario, difference: Difference, case: Case) -> None:
    check(scenario, difference, case)


@pytest.mark.control("HS-63")
def test_nothing_is_wrong_with_a_group_that_is_placed(scenario: Scenario) -> None:
    group = scenario.create(pod_group("group", gang(2)))
    members = [scenario.create(pod(name, pod_group=group)) for name in ("first", "second")]
    for member in members:
        scenario.wait(member, scheduled())

    assert [explanation(scenario, each).causes for each in (group, *members)] == [(), (), ()]
