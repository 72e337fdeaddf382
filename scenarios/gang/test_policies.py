"""The two policies of a group (GS-17, GS-18)."""

import pytest

from harness.kube.builders import basic, gang, pod_group
from harness.kube.predicates import scheduled, unschedulable
from harness.kube.refusals import refused
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.gang.arrange import (
    SOON,
    at_home,
    bound,
    gang_of,
    group_of,
    member,
    members,
    none_placed,
    room,
    says_placed,
)

pytestmark = pytest.mark.needs("bare-nodes")


@pytest.mark.statement("GS-17")
def test_pods_of_a_basic_group_are_placed_one_by_one(scenario: Scenario, difference: Difference) -> None:
    room(scenario, 2)
    policy = gang(3) if difference("the policy is gang, with a minCount of three") else basic()
    group = scenario.create(pod_group("workers", policy))

    pods = members(scenario, group, range(3), **at_home(scenario))

    found = bound(scenario, "workers", 2)
    assert len(found) == len(pods)
    (left,) = (each for each in found if not scheduled()(each))
    scenario.wait(left, unschedulable("Insufficient cpu"))


@pytest.mark.control("GS-17")
def test_pods_of_a_gang_in_the_same_place_are_not(scenario: Scenario) -> None:
    room(scenario, 2)
    none_placed(scenario, gang_of(scenario, "workers", min_count=3, **at_home(scenario)), could=2, of=3)


@pytest.mark.statement("GS-18")
def test_first_pod_of_a_basic_group_waits_for_nobody(scenario: Scenario, difference: Difference) -> None:
    room(scenario, 2)
    policy = gang(2) if difference("the policy is gang, with a minCount of two") else basic()
    group = scenario.create(pod_group("workers", policy))

    first = member(scenario, "workers", 0, group=group, **at_home(scenario))

    placed = scenario.wait(first, scheduled(), SOON)
    assert group_of(placed) == "workers"
    says_placed(scenario, group)
    scenario.wait(member(scenario, "workers", 1, group=group, **at_home(scenario)), scheduled())


@pytest.mark.control("GS-18")
def test_group_needs_one_policy_and_no_more(scenario: Scenario) -> None:
    in_workload = scenario.release.has("Workload.spec.podGroups")
    field = "spec.podGroups[0].policy" if in_workload else "spec.schedulingPolicy"
    for policy in ({}, {**basic(), **gang(2)}):
        group = pod_group("workers", policy)
        group["spec"]["schedulingPolicy"] = policy
        refused(lambda group=group: scenario.create(group), field)  # type: ignore[misc]
    scenario.create(pod_group("workers", basic()))
