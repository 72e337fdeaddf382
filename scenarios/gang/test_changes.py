"""A group that changes, goes, or does not fit its Pods (XD-22 to XD-24, XD-29)."""

from typing import Any

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import basic, claim, claim_template, gang, pod_group, priority_class, request
from harness.kube.predicates import (
    Predicate,
    count_of,
    exists,
    group_error,
    initially_scheduled,
    running,
    scheduling_error,
    terminating,
    unscheduled,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.gang.arrange import (
    SOON,
    Gang,
    assert_unbound,
    at_home,
    bound,
    gang_of,
    groups_seen,
    held_for_quorum,
    holds_of,
    member,
    members,
    no_trace,
    none_placed,
    placed,
    room,
    says_placed,
    set_min_count,
)
from scenarios.preemption.arrange import refusal
from scenarios.taint.seen import slices_seen

pytestmark = pytest.mark.needs("bare-nodes")

PROTECTION = "scheduling.k8s.io/podgroup-protection"


@pytest.mark.statement("XD-22")
@pytest.mark.feature("PodGroup.spec.minCount.mutable")
def test_lowering_min_count_lets_those_in_that_lack_others(scenario: Scenario, difference: Difference) -> None:
    room(scenario, 4)
    made = gang_of(scenario, "workers", min_count=4, count=3, **at_home(scenario))
    held_for_quorum(scenario, made.pods)

    set_min_count(scenario, made.group, 5 if difference("minCount is raised") else 3)

    bound(scenario, "workers", 3)
    says_placed(scenario, made.group)


@pytest.mark.statement("XD-22")
@pytest.mark.feature("PodGroup.spec.minCount.mutable")
def test_lowering_min_count_lets_those_in_that_fit(scenario: Scenario, difference: Difference) -> None:
    room(scenario, 3)
    made = gang_of(scenario, "workers", min_count=4, **at_home(scenario))
    none_placed(scenario, made, could=3, of=4)

    set_min_count(scenario, made.group, 5 if difference("minCount is raised") else 3)

    # The group's own word says nothing here: the fourth Pod, tried again, may turn it back to False (`placed`).
    bound(scenario, "workers", 3)


@pytest.mark.control("XD-22")
@pytest.mark.feature("PodGroup.spec.minCount.mutable")
def test_raising_min_count_before_the_quorum_asks_for_more_pods(scenario: Scenario) -> None:
    room(scenario, 4)
    made = gang_of(scenario, "workers", min_count=2, count=1, **at_home(scenario))
    held_for_quorum(scenario, made.pods)

    set_min_count(scenario, made.group, 3)
    groups_seen(scenario)
    pods = made.pods + members(scenario, made.group, [1], **at_home(scenario))
    held_for_quorum(scenario, pods)

    pods += members(scenario, made.group, [2], **at_home(scenario))
    placed(scenario, Gang(made.group, pods))


def protected() -> Predicate[Object]:
    """A finalizer keeps the group, whose deletion has been asked for."""
    kept = Predicate[Object](f"kept by {PROTECTION}", lambda group: PROTECTION in group["metadata"]["finalizers"])
    return terminating() & kept


def two_with_gpus(scenario: Scenario, group: Object, template: Object, **options: Any) -> Gang:
    """Two Pods of a group with a GPU each."""
    return Gang(group, members(scenario, group, range(2), templates={"gpu": template}, **options))


@pytest.mark.parametrize("fits", [True, False], ids=["running", "pending"])
@pytest.mark.needs("kubelet")
@pytest.mark.statement("XD-23")
@pytest.mark.feature("PodGroup.status.conditions")
def test_deleted_group_stays_as_long_as_it_has_pods(scenario: Scenario, difference: Difference, fits: bool) -> None:
    """AI conformance, clean-up: group and Pods go, and the next gang has the devices."""
    driver = scenario.driver(gpus(2 if fits else 1))
    slices_seen(scenario)
    template = scenario.create(claim_template("gpu", request(driver.device_class)))
    made = Gang(scenario.create(pod_group("workers", gang(2))), [])
    if not difference("the group has no Pods"):
        made = two_with_gpus(scenario, made.group, template)
        if fits:
            for each in placed(scenario, made):
                scenario.wait(each, running())
        else:
            none_placed(scenario, made, could=1, of=2)

    scenario.client.delete(made.group)

    scenario.wait(made.group, protected())
    # One worker takes the finalizers off, one group after the other: a later group without Pods is gone.
    scenario.delete(scenario.create(pod_group("twin", gang(2))))
    scenario.wait(made.group, protected())
    for each in made.pods:
        now = scenario.get(each)
        assert not terminating()(now)
        assert (running() if fits else unscheduled())(now)
        scenario.delete(each)
    scenario.waiter.wait_gone(made.group)
    if fits:
        # Were a device still held, the next gang's first turn would find too few.
        scenario.waiter.wait_any("ResourceClaim", count_of(holds_of(driver), 0))
        placed(scenario, two_with_gpus(scenario, scenario.create(pod_group("next", gang(2))), template))


@pytest.mark.control("XD-23")
@pytest.mark.feature("PodGroup.status.conditions")
def test_deleted_group_without_pods_is_gone(scenario: Scenario) -> None:
    group = scenario.create(pod_group("workers", gang(2)))
    assert PROTECTION in group["metadata"]["finalizers"]

    scenario.delete(group)


def priority_of_ten(scenario: Scenario) -> str:
    """The name of a PriorityClass that the API server knows."""
    name = str(scenario.create(priority_class(scenario.namespace, 10))["metadata"]["name"])
    scenario.waiter.poll(lambda: refusal(scenario, name), lambda text: not text, "the API server knows the class")
    return name


@pytest.mark.statement("XD-24")
@pytest.mark.feature("PodGroup.pods-have-its-priority")
def test_pods_of_another_priority_than_their_group_are_not_placed(scenario: Scenario, difference: Difference) -> None:
    room(scenario, 2)
    name = priority_of_ten(scenario)
    both = difference("group and Pods are of one priority")
    group = scenario.create(pod_group("workers", gang(2), priority_class=name if both else None))

    pods = [
        member(scenario, "workers", 0, group=group, priority_class=name if both else None, **at_home(scenario)),
        member(scenario, "workers", 1, group=group, priority_class=name, **at_home(scenario)),
    ]

    scenario.wait(group, group_error("the same priority as the pod group's priority") | initially_scheduled())
    scenario.wait(group, group_error("got 10 and 0"), SOON)
    for each in pods:
        scenario.wait(each, scheduling_error("the same priority as the pod group's priority"))
    assert_unbound(scenario, Gang(group, pods).selector)


@pytest.mark.control("XD-24")
@pytest.mark.feature("PodGroup.spec.disruptionMode")
def test_pods_of_the_priority_of_their_group_are_placed(scenario: Scenario) -> None:
    room(scenario, 2)
    name = priority_of_ten(scenario)
    group = scenario.create(pod_group("workers", gang(2), priority_class=name))
    assert group["spec"]["priority"] == 10

    placed(scenario, Gang(group, members(scenario, group, range(2), priority_class=name, **at_home(scenario))))


@pytest.mark.parametrize("policy", [gang(2), basic()], ids=["gang", "basic"])
@pytest.mark.feature("PodGroup.held-by-each-of-its-pods")
@pytest.mark.statement("XD-29")
def test_pod_with_a_scheduling_gate_holds_its_whole_group(
    scenario: Scenario, difference: Difference, policy: Object
) -> None:
    room(scenario, 3)
    group = scenario.create(pod_group("workers", policy))
    gates = [] if difference("the Pod has no scheduling gate") else ["example.com/later"]
    gated = member(scenario, "workers", 0, group=group, scheduling_gates=gates, **at_home(scenario))

    hold_others(scenario, group, gated)

    scenario.client.patch(gated, {"spec": {"schedulingGates": []}})
    bound(scenario, "workers", 3, timeout=30)


@pytest.mark.statement("XD-29")
@pytest.mark.feature("PodGroup.held-by-each-of-its-pods")
def test_pod_without_its_claim_holds_its_whole_group(scenario: Scenario, difference: Difference) -> None:
    (node,) = room(scenario, 3)
    driver = scenario.driver(gpus(1), nodes=[node], plugin=False)
    late = claim("late", request(driver.device_class))
    if difference("the claim is there"):
        scenario.create(late)
    group = scenario.create(pod_group("workers", gang(2)))
    lacking = member(scenario, "workers", 0, group=group, claims={"gpu": "late"}, **at_home(scenario))

    hold_others(scenario, group, lacking)

    scenario.create(late)
    bound(scenario, "workers", 3, timeout=30)


def hold_others(scenario: Scenario, group: Object, holder: Object) -> None:
    """Two more Pods of the group, which would be enough, are not tried because of this one."""
    others = members(scenario, group, range(1, 3), **at_home(scenario))
    groups_seen(scenario)
    no_trace(scenario, others)
    assert unscheduled()(scenario.get(holder))


@pytest.mark.control("XD-29")
def test_pods_that_are_there_before_the_gated_one_are_placed(scenario: Scenario) -> None:
    room(scenario, 3)
    made = gang_of(scenario, "workers", min_count=2, **at_home(scenario))
    placed(scenario, made)

    (gated,) = members(scenario, made.group, [2], scheduling_gates=["example.com/later"], **at_home(scenario))

    groups_seen(scenario)
    assert unscheduled()(scenario.wait(gated, exists()))
    bound(scenario, "workers", 2)
