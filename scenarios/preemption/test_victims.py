"""Whether a victim's group goes with it is its disruptionMode's to say (PR-04), and its composite's (XD-36)."""

from collections.abc import Sequence

import pytest

from harness.kube.builders import basic, composite_pod_group, gang_of_groups, pod_group, workload_ref
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.preemption.arrange import (
    ALL,
    SINGLE,
    all_bound,
    group_over,
    new,
    new_gang,
    nodes,
    of,
    placed,
    sent_away,
    stay,
)

pytestmark = pytest.mark.needs("bare-nodes")

WORKLOAD = workload_ref("training", "worker")


@pytest.mark.statement("PR-04")
@pytest.mark.feature("PodGroup.spec.disruptionMode")
def test_gang_sends_away_a_group_as_its_mode_says(scenario: Scenario, difference: Difference) -> None:
    where = nodes(scenario, 1, 1, 1, 1)
    single = group_over(scenario, "single", where[:2], SINGLE)
    whole = group_over(scenario, "all", where[2:], SINGLE if difference("both groups go Pod by Pod") else ALL)

    preemptor = new_gang(scenario, "high", [[where[0]], [where[2]]])

    all_bound(scenario, preemptor.members)
    sent_away(scenario, [single[0], *whole], preemptor.group)
    stay(scenario, single[1])


@pytest.mark.statement("PR-04")
@pytest.mark.feature("PodGroup.spec.disruptionMode")
@pytest.mark.feature("PodGroup.disruptionMode-against-single-pods")
def test_single_pod_sends_away_a_group_as_its_mode_says(scenario: Scenario, difference: Difference) -> None:
    where = nodes(scenario, 1, 1, 1, 1)
    single = group_over(scenario, "single", where[:2], SINGLE)
    whole = group_over(scenario, "all", where[2:], SINGLE if difference("both groups go Pod by Pod") else ALL)

    first = new(scenario, "first", "high", where[0])
    second = new(scenario, "second", "high", where[2])

    all_bound(scenario, [first, second])
    sent_away(scenario, [single[0]], first)
    sent_away(scenario, whole, second)
    stay(scenario, single[1])


@pytest.mark.control("PR-04")
@pytest.mark.feature("PodGroup.spec.disruptionMode")
def test_group_without_a_mode_goes_pod_by_pod(scenario: Scenario) -> None:
    where = nodes(scenario, 1, 1)
    near, far = group_over(scenario, "unset", where, None)
    single = scenario.client.complete(pod_group("single", basic(), disruption_mode=SINGLE))
    assert scenario.client.get("PodGroup", "unset")["spec"]["disruptionMode"] == single["spec"]["disruptionMode"]

    preemptor = new_gang(scenario, "high", [[where[0]]])

    all_bound(scenario, preemptor.members)
    sent_away(scenario, [near], preemptor.group)
    stay(scenario, far)


def family_over(scenario: Scenario, where: Sequence[str], mode: Object) -> list[Object]:
    """The Pods of a composite with that disruptionMode: one group, which goes Pod by Pod, on each of these nodes."""
    low = of(scenario, "low")
    scenario.create(composite_pod_group("root", gang_of_groups(1), WORKLOAD, priority_class=low, disruption_mode=mode))
    groups = [
        scenario.create(pod_group(f"child-{number}", basic(), parent="root", workload=WORKLOAD, priority_class=low))
        for number, _ in enumerate(where)
    ]
    return [
        placed(scenario, f"{group['metadata']['name']}-worker", "low", node, group=group)
        for group, node in zip(groups, where, strict=True)
    ]


@pytest.mark.statement("XD-36")
def test_composite_that_goes_as_a_whole_takes_its_children_along(scenario: Scenario, difference: Difference) -> None:
    where = nodes(scenario, 1, 1)
    workers = family_over(scenario, where, SINGLE if difference("the composite's mode is single") else ALL)

    preemptor = new_gang(scenario, "high", [[where[0]]])

    all_bound(scenario, preemptor.members)
    sent_away(scenario, workers, preemptor.group)


@pytest.mark.control("XD-36")
def test_composite_that_goes_one_by_one_loses_one_child(scenario: Scenario) -> None:
    where = nodes(scenario, 1, 1)
    near, far = family_over(scenario, where, SINGLE)

    preemptor = new_gang(scenario, "high", [[where[0]]])

    all_bound(scenario, preemptor.members)
    sent_away(scenario, [near], preemptor.group)
    stay(scenario, far)
