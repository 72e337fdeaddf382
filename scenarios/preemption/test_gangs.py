"""A gang of higher priority preempts as one, over the whole cluster (PR-02, PR-03), within limits (XD-34, XD-35)."""

import pytest

from harness.kube import ApiError
from harness.kube.builders import gang, pod_group
from harness.kube.predicates import group_unschedulable, initially_scheduled, unschedulable, unscheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.gang.arrange import told
from scenarios.preemption.arrange import (
    Gang,
    all_bound,
    classes,
    left_without_place,
    new,
    new_gang,
    nodes,
    of,
    placed,
    sent_away,
    stay,
)

pytestmark = [pytest.mark.feature("PodGroup.spec.disruptionMode"), pytest.mark.needs("bare-nodes")]


def all_placed(scenario: Scenario, preemptor: Gang) -> None:
    """Every Pod of the gang is bound, and the group says so."""
    all_bound(scenario, preemptor.members)
    scenario.wait(preemptor.group, initially_scheduled())


def none_placed(scenario: Scenario, preemptor: Gang) -> None:
    """The scheduler has thought of preemption, and leaves the whole gang without a place."""
    outcome = scenario.wait(preemptor.group, left_without_place(scenario) | initially_scheduled())
    assert not initially_scheduled()(outcome), "the gang was placed"
    for member in preemptor.members:
        assert unscheduled()(scenario.get(member)), f"{member['metadata']['name']} was bound"
    scenario.held(preemptor.group["metadata"]["name"], "resources", told(scenario, preemptor.group))


@pytest.mark.statement("PR-02")
def test_gang_preempts_as_one(scenario: Scenario, difference: Difference) -> None:
    (node,) = nodes(scenario, 2)
    victims = [placed(scenario, f"low-{number}", "low", node) for number in range(2)]

    priority = "low" if difference("the gang has no higher priority") else "high"
    preemptor = new_gang(scenario, priority, [[node], [node]])

    all_placed(scenario, preemptor)
    sent_away(scenario, victims, preemptor.group)


@pytest.mark.control("PR-02")
def test_gang_that_cannot_be_placed_even_so_preempts_nobody(scenario: Scenario) -> None:
    (node,) = nodes(scenario, 2)
    holders = [placed(scenario, f"low-{number}", "low", node) for number in range(2)]

    none_placed(scenario, new_gang(scenario, "high", [[node], [node], [node]]))

    stay(scenario, *holders)


@pytest.mark.statement("PR-03")
def test_victims_are_found_on_every_node_that_the_gang_needs(scenario: Scenario, difference: Difference) -> None:
    left, right = nodes(scenario, 2, 2)
    stronger = [placed(scenario, f"high-{number}", "high", node) for number, node in enumerate((left, right))]
    spared = difference("nobody on one of the nodes has a lower priority")
    victims = [
        placed(scenario, "left", "low", left),
        placed(scenario, "right", "middle" if spared else "low", right),
    ]

    preemptor = new_gang(scenario, "middle", [[left, right], [left, right]])

    all_placed(scenario, preemptor)
    sent_away(scenario, victims, preemptor.group)
    stay(scenario, *stronger)
    assert {scenario.get(member)["spec"]["nodeName"] for member in preemptor.members} == {left, right}


@pytest.mark.control("PR-03")
def test_single_pods_preempt_where_they_can_though_the_whole_does_not_fit(scenario: Scenario) -> None:
    left, right = nodes(scenario, 1, 1)
    victim = placed(scenario, "left", "low", left)
    spared = placed(scenario, "right", "middle", right)

    first = placed(scenario, "first", "middle", left, right)
    second = new(scenario, "second", "middle", left, right)

    sent_away(scenario, [victim], first)
    scenario.wait(second, unschedulable("preemption: "))
    stay(scenario, spared)


@pytest.mark.statement("XD-34")
def test_gang_takes_places_for_all_its_pods_not_only_for_min_count(scenario: Scenario, difference: Difference) -> None:
    (node,) = nodes(scenario, 4)
    victims = [placed(scenario, f"low-{number}", "low", node) for number in range(4)]

    members = 2 if difference("it has no more Pods than minCount") else 4
    preemptor = new_gang(scenario, "high", [[node]] * members, min_count=2)

    all_placed(scenario, preemptor)
    sent_away(scenario, victims, preemptor.group)


@pytest.mark.control("XD-34")
def test_gang_without_further_pods_takes_two_places(scenario: Scenario) -> None:
    (node,) = nodes(scenario, 4)
    holders = [placed(scenario, f"low-{number}", "low", node) for number in range(4)]

    preemptor = new_gang(scenario, "high", [[node], [node]], min_count=2)

    all_placed(scenario, preemptor)
    left = [holder for holder in holders if scenario.client.find(holder)]
    assert len(left) == 2
    stay(scenario, *left)


@pytest.mark.statement("XD-35")
def test_gang_that_never_preempts_waits(scenario: Scenario, difference: Difference) -> None:
    (node,) = nodes(scenario, 2)
    holders = [placed(scenario, f"low-{number}", "low", node) for number in range(2)]

    priority = "high" if difference("its class does not say Never") else "patient"
    preemptor = new_gang(scenario, priority, [[node], [node]])

    none_placed(scenario, preemptor)
    never = group_unschedulable("not eligible due to preemptionPolicy=Never")
    outcome = scenario.wait(preemptor.group, never | initially_scheduled())
    assert never(outcome), "the gang was placed"
    stay(scenario, *holders)


@pytest.mark.control("XD-35")
def test_gang_that_never_preempts_is_placed_once_there_is_room(scenario: Scenario) -> None:
    (node,) = nodes(scenario, 2)
    holders = [placed(scenario, f"low-{number}", "low", node) for number in range(2)]
    preemptor = new_gang(scenario, "patient", [[node], [node]])
    none_placed(scenario, preemptor)

    for holder in holders:
        scenario.delete(holder)

    all_placed(scenario, preemptor)


@pytest.mark.control("XD-35")
def test_group_does_not_take_never_from_its_class(scenario: Scenario) -> None:
    classes(scenario)

    with pytest.raises(ApiError) as refusal:
        scenario.create(pod_group("silent", gang(1), priority_class=of(scenario, "patient")))

    assert "computed Never from the given PriorityClass" in refusal.value.message, refusal.value
