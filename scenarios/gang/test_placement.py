"""Stage two: the group is placed as a whole, as far as minCount goes, or not at all (GS-01, GS-09 to GS-13).

What the AI-conformance programme demands of gang scheduling: placed as a whole here (positive), none of it placed here
and in test_devices (negative), what it held is free again in test_changes and test_all_or_nothing (clean-up).
"""

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import claim, claim_template, pod, request
from harness.kube.predicates import all_of, scheduled, unallocated, unreserved, unschedulable
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.gang.arrange import (
    Gang,
    assert_unbound,
    at_home,
    bound,
    gang_of,
    has_a_word,
    held_for_quorum,
    member,
    none_placed,
    placed,
    room,
    says_placed,
    ungrouped,
)

pytestmark = pytest.mark.needs("bare-nodes")


@pytest.mark.statement("GS-01")
def test_gang_with_room_for_all_is_placed_as_a_whole(scenario: Scenario, difference: Difference) -> None:
    """AI conformance, positive: a gang that has room is placed, all of it."""
    room(scenario, 3 if difference("there is room for three of the four") else 4)

    placed(scenario, gang_of(scenario, "workers", min_count=4, **at_home(scenario)))


@pytest.mark.statement("GS-01")
def test_gang_with_room_for_three_of_four_is_not_placed_at_all(scenario: Scenario, difference: Difference) -> None:
    """AI conformance, negative: a gang that has not enough room is not placed, not even in part."""
    room(scenario, 4 if difference("there is room for all four") else 3)

    made = gang_of(scenario, "workers", min_count=4, **at_home(scenario))

    none_placed(scenario, made, could=3, of=4)


@pytest.mark.control("GS-01")
def test_three_of_the_same_four_pods_without_a_group_are_placed(scenario: Scenario) -> None:
    room(scenario, 3)

    pods = ungrouped(scenario, "workers", 4, **at_home(scenario))

    bound(scenario, "workers", 3)
    scenario.wait(pods[3], unschedulable())


@pytest.mark.statement("GS-09")
@pytest.mark.feature("scheduler.groups-in-one-turn")
def test_places_are_found_together_once_the_quorum_is_there(scenario: Scenario, difference: Difference) -> None:
    nodes = room(scenario, 1, 1, 1, 1)
    apart = difference("the Pods belong to no group")
    made = gang_of(scenario, "workers", min_count=4, count=0)
    group = None if apart else made.group
    pods = [member(scenario, "workers", number, group=group, **at_home(scenario)) for number in range(3)]
    held_for_quorum(scenario, pods)
    before = turns(scenario)

    pods.append(member(scenario, "workers", 3, group=group, **at_home(scenario)))

    found = placed(scenario, Gang(made.group, pods))
    assert {each["spec"]["nodeName"] for each in found} == set(nodes)
    # A later Pod has its turn when the group's last one has been counted.
    scenario.barrier.scheduler(scenario.scheduler_name)
    assert turns(scenario) == before + 1, "the four have not been placed in one turn"


def turns(scenario: Scenario) -> float:
    """How often the scheduler has found places for a group of the scenario's own profile."""
    return scenario.scheduler_metric("scheduler_podgroup_schedule_attempts_total", result="scheduled")


@pytest.mark.control("GS-09")
def test_pods_of_no_group_are_placed_one_by_one(scenario: Scenario) -> None:
    room(scenario, 1, 1, 1, 1)
    for number in range(4):
        # Each has its place before the next one exists.
        scenario.wait(member(scenario, "workers", number, **at_home(scenario)), scheduled())


@pytest.mark.statement("GS-10")
def test_placement_is_final_when_min_count_of_a_larger_group_fit(scenario: Scenario, difference: Difference) -> None:
    room(scenario, 3 if difference("there is room for fewer than minCount") else 6)

    made = gang_of(scenario, "workers", min_count=4, count=8, **at_home(scenario))

    found = placed(scenario, made, 6)
    for each in found:
        if not scheduled()(each):
            scenario.wait(each, unschedulable())


@pytest.mark.control("GS-10")
def test_nothing_is_final_when_fewer_than_min_count_of_a_larger_group_fit(scenario: Scenario) -> None:
    room(scenario, 3)

    made = gang_of(scenario, "workers", min_count=4, count=8, **at_home(scenario))

    none_placed(scenario, made, could=3, of=4)


@pytest.mark.statement("GS-11")
@pytest.mark.deviates(
    "GS-11",
    "no Pod is bound, but those that found a place keep it and their devices from others for five minutes",
    where=("1.35",),
)
def test_gang_that_cannot_be_placed_leaves_nodes_and_devices_free(scenario: Scenario, difference: Difference) -> None:
    """AI conformance, negative: what a held gang could have had is there for others."""
    (node,) = room(scenario, 3)
    driver = scenario.driver(gpus(3), nodes=[node], plugin=False)
    template = scenario.create(claim_template("gpu", request(driver.device_class)))
    minimum = 3 if difference("minCount is the number of Pods that fit") else 4

    made = gang_of(scenario, "workers", min_count=minimum, count=4, templates={"gpu": template}, **at_home(scenario))

    group = none_placed(scenario, made, could=3, of=4)
    scenario.waiter.wait_any("ResourceClaim", all_of(unallocated() & unreserved(), 4))
    for number in range(3):
        own = scenario.create(claim(f"single-{number}", request(driver.device_class)))
        single = scenario.create(pod(f"single-{number}", claims={"gpu": own}, **at_home(scenario)))
        # A release that has Pods wait one by one keeps their places for them.
        scenario.wait(single, scheduled(node) if has_a_word(scenario) else unschedulable())
    assert_unbound(scenario, Gang(group, []).selector)


@pytest.mark.control("GS-11")
def test_held_gang_is_placed_as_a_whole_once_there_is_a_fourth_device(scenario: Scenario) -> None:
    (node,) = room(scenario, 4)
    driver = scenario.driver(gpus(3), nodes=[node], plugin=False)
    template = scenario.create(claim_template("gpu", request(driver.device_class)))
    made = gang_of(scenario, "workers", min_count=4, templates={"gpu": template}, **at_home(scenario))
    none_placed(scenario, made, could=3, of=4)

    driver.control.add_device(node, gpus(4).devices[3])

    says_placed(scenario, made.group)
    bound(scenario, "workers", 4)


@pytest.mark.statement("GS-12")
def test_min_count_does_not_bring_the_whole_group_in_at_once(scenario: Scenario, difference: Difference) -> None:
    room(scenario, 5)
    minimum = 8 if difference("minCount is the size of the group") else 4

    made = gang_of(scenario, "workers", min_count=minimum, count=8, **at_home(scenario))

    found = placed(scenario, made, 5)
    for each in found:
        if not scheduled()(each):
            scenario.wait(each, unschedulable())
    bound(scenario, "workers", 5)


@pytest.mark.statement("GS-13")
def test_all_eight_come_together_or_not_at_all_with_a_min_count_of_eight(
    scenario: Scenario, difference: Difference
) -> None:
    room(scenario, 7)
    minimum = 4 if difference("minCount is half the size of the group") else 8
    made = gang_of(scenario, "workers", min_count=minimum, count=8, **at_home(scenario))
    none_placed(scenario, made, could=7, of=8)

    room(scenario, 1)

    says_placed(scenario, made.group)
    bound(scenario, "workers", 8, timeout=30)


@pytest.mark.control("GS-12")
def test_a_min_count_of_eight_keeps_all_eight_out_of_room_for_five(scenario: Scenario) -> None:
    room(scenario, 5)
    made = gang_of(scenario, "workers", min_count=8, **at_home(scenario))
    none_placed(scenario, made, could=5, of=8)


@pytest.mark.control("GS-13")
def test_a_min_count_of_four_lets_seven_of_eight_in(scenario: Scenario) -> None:
    room(scenario, 7)
    made = gang_of(scenario, "workers", min_count=4, count=8, **at_home(scenario))
    placed(scenario, made, 7)
