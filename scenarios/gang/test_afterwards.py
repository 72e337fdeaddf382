"""After the first placement: minCount is a mark for the next one, not a promise (GS-14 to GS-16)."""

from collections.abc import Sequence

import pytest

from harness.kube.builders import gang
from harness.kube.predicates import count_of, running, scheduled, unschedulable
from harness.kube.refusals import refused
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.gang.arrange import (
    SOON,
    Gang,
    at_home,
    bound,
    gang_of,
    groups_seen,
    has_a_word,
    held_for_quorum,
    member,
    members,
    placed,
    room,
    says_counts,
    set_min_count,
    still_says_placed,
)

pytestmark = pytest.mark.needs("bare-nodes")


def remain(scenario: Scenario, pods: Sequence[Object]) -> None:
    """These very Pods are where they were, and nobody has asked for their deletion."""
    for each in pods:
        now = scenario.get(each)
        assert now["metadata"]["uid"] == each["metadata"]["uid"]
        assert "deletionTimestamp" not in now["metadata"]
        assert scheduled()(now)


def evict(scenario: Scenario, victim: Object) -> None:
    """Evict through the API, and wait until the Pod is gone."""
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": victim["metadata"]["name"]}}
    path = f"{scenario.client.collection('Pod')}/{victim['metadata']['name']}/eviction"
    scenario.client.raw("POST", path, body=body)
    scenario.waiter.wait_gone(victim)


@pytest.mark.statement("GS-14")
@pytest.mark.needs("kubelet")
def test_the_others_run_on_when_one_pod_of_a_placed_gang_goes(scenario: Scenario, difference: Difference) -> None:
    never_complete = difference("the shortfall is there before the first placement")
    made = gang_of(scenario, "workers", min_count=4, count=3 if never_complete else 4)
    if not never_complete:
        scenario.wait(made.pods[3], running())
        scenario.delete(made.pods[3])

    others = [scenario.wait(each, running(), SOON) for each in made.pods[:3]]

    groups_seen(scenario)
    scenario.barrier.kubelet(others[0]["spec"]["nodeName"])
    remain(scenario, others)
    assert all(running()(scenario.get(each)) for each in others)
    # What was true once is not taken back.
    still_says_placed(scenario, made.group)


@pytest.mark.control("GS-14")
def test_the_same_shortfall_before_the_first_placement_places_none(scenario: Scenario) -> None:
    room(scenario, 4)

    made = gang_of(scenario, "workers", min_count=4, count=3, **at_home(scenario))

    held_for_quorum(scenario, made.pods)


@pytest.mark.statement("GS-15")
@pytest.mark.feature("PodGroup.spec.minCount.mutable")
def test_raising_min_count_or_losing_pods_removes_nobody(scenario: Scenario, difference: Difference) -> None:
    room(scenario, 6)
    made = gang_of(scenario, "workers", min_count=4, count=0)
    if difference("minCount is raised before the first placement"):
        set_min_count(scenario, made.group, 6)
    made = Gang(made.group, members(scenario, made.group, range(4), **at_home(scenario)))
    bound(scenario, "workers", 4)

    assert set_min_count(scenario, made.group, 6)["spec"]["schedulingPolicy"] == gang(6)
    groups_seen(scenario)
    remain(scenario, made.pods)
    evict(scenario, made.pods[3])
    scenario.delete(made.pods[2])

    groups_seen(scenario)
    remain(scenario, made.pods[:2])
    still_says_placed(scenario, made.group)


@pytest.mark.control("GS-15")
@pytest.mark.feature("PodGroup.spec.minCount.mutable")
def test_policy_of_a_group_cannot_become_another_one(scenario: Scenario) -> None:
    room(scenario, 2)
    made = gang_of(scenario, "workers", min_count=2, **at_home(scenario))
    placed(scenario, made)

    to_basic: Object = {"spec": {"schedulingPolicy": {"gang": None, "basic": {}}}}
    refused(lambda: scenario.client.patch(made.group, to_basic), "spec.schedulingPolicy.basic")
    assert set_min_count(scenario, made.group, 1)["spec"]["schedulingPolicy"] == gang(1)


@pytest.mark.statement("GS-16")
def test_new_pods_wait_until_with_those_placed_they_are_min_count(scenario: Scenario, difference: Difference) -> None:
    room(scenario, 8)
    made = gang_of(scenario, "workers", min_count=4, **at_home(scenario))
    placed(scenario, made)
    for gone in made.pods[3:] if difference("three Pods are still there") else made.pods[2:]:
        scenario.delete(gone)
    groups_seen(scenario)

    held_for_quorum(scenario, members(scenario, made.group, [4], **at_home(scenario)))

    members(scenario, made.group, [5], **at_home(scenario))
    bound(scenario, "workers", 4)


@pytest.mark.statement("GS-16")
def test_new_pods_wait_until_places_for_min_count_are_found(scenario: Scenario, difference: Difference) -> None:
    room(scenario, 4)
    made = gang_of(scenario, "workers", min_count=4, **at_home(scenario))
    placed(scenario, made)
    for gone in made.pods[2:]:
        scenario.delete(gone)
    if not difference("the room of those who left is free"):
        scenario.wait(member(scenario, "other", 0, **at_home(scenario)), scheduled())

    new = members(scenario, made.group, [4, 5], **at_home(scenario))

    # There is a slot for one of the two, and three are not enough.
    if not has_a_word(scenario):
        scenario.waiter.wait_any("Pod", count_of(unschedulable(), 1), SOON, label_selector=made.selector)
        groups_seen(scenario)
        bound(scenario, "workers", 2)
        return
    says = unschedulable(
        "minCount (4) cannot be satisfied: 3 scheduled, 0 remaining" if says_counts(scenario) else None
    )
    outcome = scenario.wait(new[0], says | scheduled())
    assert says(outcome), "the Pod was bound"
    scenario.wait(new[1], unschedulable())
    bound(scenario, "workers", 2)
    still_says_placed(scenario, made.group)


@pytest.mark.control("GS-16")
def test_new_pod_is_placed_at_once_when_it_completes_min_count(scenario: Scenario) -> None:
    room(scenario, 8)
    made = gang_of(scenario, "workers", min_count=4, **at_home(scenario))
    placed(scenario, made)
    scenario.delete(made.pods[3])

    (new,) = members(scenario, made.group, [4], **at_home(scenario))

    scenario.wait(new, scheduled())
