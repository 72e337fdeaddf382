"""Stage one: Pods are kept back until their group is there and enough of them exist (GS-04, GS-06 to GS-08)."""

import pytest

from harness.kube.builders import gang, namespace, pod_group
from harness.kube.predicates import count_of, exists, find_group_condition, scheduled, unschedulable
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.gang.arrange import (
    SOON,
    Gang,
    at_home,
    bound,
    gang_of,
    groups_seen,
    has_a_word,
    held_for_quorum,
    kept_back,
    member,
    members,
    no_trace,
    placed,
    room,
    short_of_room,
    ungrouped,
)

pytestmark = pytest.mark.needs("bare-nodes")


@pytest.mark.statement("GS-04")
@pytest.mark.feature("Pod.spec.schedulingGroup")
def test_pod_counts_for_the_group_that_it_names(scenario: Scenario, difference: Difference) -> None:
    room(scenario, 2)
    made = gang_of(scenario, "workers", min_count=2, count=1, **at_home(scenario))
    assert made.pods[0]["spec"].get("schedulingGroup") == {"podGroupName": "workers"}
    held_for_quorum(scenario, made.pods)

    named = "others" if difference("the second Pod names another group") else "workers"
    member(scenario, "workers", 1, group=named, **at_home(scenario))

    bound(scenario, "workers", 2)


@pytest.mark.control("GS-04")
@pytest.mark.feature("Pod.spec.schedulingGroup")
def test_pods_of_another_group_or_namespace_do_not_count(scenario: Scenario) -> None:
    room(scenario, 4)
    elsewhere = f"{scenario.namespace}-2"
    scenario.create(namespace(elsewhere))
    account = {"kind": "ServiceAccount", "metadata": {"name": "default", "namespace": elsewhere}}
    scenario.wait(account, exists())  # before that no Pod is taken there
    made = gang_of(scenario, "workers", min_count=2, count=1, **at_home(scenario))
    scenario.create(pod_group("others", gang(2)))

    other = member(scenario, "others", 0, group="others", **at_home(scenario))
    stranger = member(scenario, "stranger", 0, group="workers", namespace=elsewhere, **at_home(scenario))

    groups_seen(scenario)
    no_trace(scenario, [*made.pods, other, stranger])
    member(scenario, "workers", 1, group="workers", **at_home(scenario))
    bound(scenario, "workers", 2)
    no_trace(scenario, [other, stranger])


@pytest.mark.statement("GS-06")
def test_pods_wait_untried_until_their_group_exists(scenario: Scenario, difference: Difference) -> None:
    room(scenario, 3)
    if difference("the group is there first"):
        scenario.create(pod_group("workers", gang(3)))
    pods = [member(scenario, "workers", number, group="workers", **at_home(scenario)) for number in range(3)]

    if scenario.release.has("scheduler.counts-pods-without-group"):
        # Not for others of their group, as below the quorum; what they wait for is counted in XD-26, with nobody else.
        groups_seen(scenario)
        no_trace(scenario, pods)
        kept_back(scenario, 0)
        no_trace(scenario, pods)
    else:
        held_for_quorum(scenario, pods)

    group = scenario.create(pod_group("workers", gang(3)))
    placed(scenario, Gang(group, pods))


@pytest.mark.control("GS-06")
def test_pods_of_a_group_that_exists_wait_only_for_each_other(scenario: Scenario) -> None:
    room(scenario, 3)
    placed(scenario, gang_of(scenario, "workers", min_count=3, **at_home(scenario)))


@pytest.mark.statement("GS-07")
def test_pods_wait_untried_until_min_count_of_them_exist(scenario: Scenario, difference: Difference) -> None:
    room(scenario, 8)
    minimum = 3 if difference("minCount is the number of Pods that there are") else 4
    made = gang_of(scenario, "workers", min_count=minimum, count=3, **at_home(scenario))
    held_for_quorum(scenario, made.pods)

    fourth = members(scenario, made.group, [3], **at_home(scenario))

    placed(scenario, Gang(made.group, [*made.pods, *fourth]))


@pytest.mark.control("GS-07")
def test_three_pods_are_enough_for_a_min_count_of_three(scenario: Scenario) -> None:
    room(scenario, 8)
    placed(scenario, gang_of(scenario, "workers", min_count=3, **at_home(scenario)))


@pytest.mark.statement("GS-08")
def test_pod_that_fits_nowhere_counts_for_the_quorum(scenario: Scenario, difference: Difference) -> None:
    room(scenario, 3)
    made = gang_of(scenario, "workers", min_count=3, count=2, **at_home(scenario))
    if not difference("the Pod that fits nowhere is not there"):
        members(scenario, made.group, [2], node_selector={"example.com/nowhere": ""})

    if has_a_word(scenario):
        scenario.wait(made.group, short_of_room(scenario, could=2, of=3), SOON)
    else:  # it is tried, which it would not be before the quorum, and so are the others
        scenario.waiter.wait_any("Pod", count_of(unschedulable(), 1), SOON, label_selector=made.selector)


@pytest.mark.control("GS-08")
def test_below_the_quorum_nothing_is_tried(scenario: Scenario) -> None:
    room(scenario, 3)
    made = gang_of(scenario, "workers", min_count=3, count=2, **at_home(scenario))

    held_for_quorum(scenario, made.pods)

    assert find_group_condition(scenario.get(made.group)) is None
    # There is room: the same Pods without a group are placed.
    for each in ungrouped(scenario, "free", 2, **at_home(scenario)):
        scenario.wait(each, scheduled())
