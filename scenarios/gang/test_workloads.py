"""Jobs that bring their own groups, and groups that stay within a rack (XD-25, XD-28)."""

import pytest

from harness.kube.builders import gang, job, pod, pod_group
from harness.kube.predicates import (
    Predicate,
    all_of,
    count_of,
    group_unschedulable,
    initially_scheduled,
    scheduled,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.gang.arrange import (
    Gang,
    assert_unbound,
    at_home,
    bound,
    member,
    members,
    placed,
    rack_key,
    room,
    short_of_room,
    told,
)

pytestmark = pytest.mark.needs("bare-nodes")

#: The label that the Job controller puts on its Pods.
JOB_NAME = "batch.kubernetes.io/job-name"


def owned_by(owner: Object) -> Predicate[Object]:
    """One of the object's owners is this very one."""
    uid = owner["metadata"]["uid"]
    return Predicate(
        f"owned by {owner['metadata']['name']}",
        lambda obj: uid in [each["uid"] for each in obj["metadata"].get("ownerReferences", ())],
    )


def own(scenario: Scenario, kind: str, made: Object) -> Object:
    """The one object of that kind that the Job has made for itself."""
    return scenario.waiter.wait_any(kind, all_of(owned_by(made), 1))[0]


def job_of_four(scenario: Scenario, scheduling: Object | None) -> Object:
    """A Job of four Pods that take a slot each."""
    return scenario.create(job("train", pod("train", **at_home(scenario)), completions=4, scheduling=scheduling))


@pytest.mark.statement("XD-25")
@pytest.mark.feature("Job.spec.scheduling")
def test_job_makes_its_own_gang_and_keeps_it_up_to_date(scenario: Scenario, difference: Difference) -> None:
    room(scenario, 3)
    as_gang: Object | None = None if difference("the Job asks for no gang") else {"schedulingPolicy": {"gang": {}}}

    train = job_of_four(scenario, as_gang)

    workload = own(scenario, "Workload", train)
    group = own(scenario, "PodGroup", train)
    assert group["spec"]["schedulingPolicy"] == gang(4)
    assert group["spec"]["workloadRef"]["workloadName"] == workload["metadata"]["name"]
    for reason in ("WorkloadCreated", "PodGroupCreated"):
        scenario.wait_event(train, reason)
    scenario.wait(group, short_of_room(scenario, could=3, of=4))
    pods, _ = scenario.client.list("Pod", label_selector=f"{JOB_NAME}=train")
    assert [each["spec"]["schedulingGroup"]["podGroupName"] for each in pods] == [group["metadata"]["name"]] * 4
    assert_unbound(scenario, f"{JOB_NAME}=train")

    scenario.client.patch(train, {"spec": {"scheduling": {"schedulingPolicy": {"gang": {"minCount": 3}}}}})

    scenario.waiter.wait_any("Pod", count_of(scheduled(), 3), label_selector=f"{JOB_NAME}=train")
    scenario.delete(train)
    scenario.waiter.wait_gone(group)
    scenario.waiter.wait_gone(workload)


@pytest.mark.control("XD-25")
@pytest.mark.feature("Job.spec.scheduling")
def test_job_without_a_wish_gets_a_basic_group(scenario: Scenario) -> None:
    room(scenario, 3)

    train = job_of_four(scenario, None)

    assert own(scenario, "PodGroup", train)["spec"]["schedulingPolicy"] == {"basic": {}}
    scenario.waiter.wait_any("Pod", count_of(scheduled(), 3), label_selector=f"{JOB_NAME}=train")


@pytest.mark.statement("XD-25")
@pytest.mark.feature("PodGroup.spec.workloadRef")
def test_group_of_a_workload_that_does_not_exist_is_placed_all_the_same(
    scenario: Scenario, difference: Difference
) -> None:
    room(scenario, 2)
    group = pod_group("workers", gang(2), workload={"workloadName": "nowhere", "templateName": "worker"})
    if not difference("the group does not exist either"):
        scenario.create(group)

    for number in range(2):
        member(scenario, "workers", number, group="workers", **at_home(scenario))

    bound(scenario, "workers", 2, timeout=10)
    assert scenario.client.find("Workload", "nowhere") is None


def in_one_rack(scenario: Scenario, *, constrained: bool = True) -> Gang:
    """A gang of two that is to stay within one rack."""
    key = rack_key(scenario) if constrained else None
    group = scenario.create(pod_group("workers", gang(2), topology_key=key))
    return Gang(group, members(scenario, group, range(2), **at_home(scenario)))


@pytest.mark.statement("XD-28")
def test_gang_with_a_topology_constraint_stays_within_one_rack(scenario: Scenario, difference: Difference) -> None:
    roomy = room(scenario, 1, 1, 1, 1, racks=["left", "right", "right", "far"])

    found = placed(scenario, in_one_rack(scenario))
    assert {each["spec"]["nodeName"] for each in found} == set(roomy[1:3])

    # What is left has room for two, but not in one rack.
    constrained = not difference("the group has no topology constraint")
    key = rack_key(scenario) if constrained else None
    group = scenario.create(pod_group("others", gang(2), topology_key=key))
    others = Gang(group, members(scenario, group, range(2), **at_home(scenario)))
    held = group_unschedulable("0/3 placements are available")
    outcome = scenario.wait(group, held | initially_scheduled())
    assert held(outcome), "the group was placed over two racks"
    assert_unbound(scenario, others.selector)
    scenario.held("others", "resources", told(scenario, group))


@pytest.mark.control("XD-28")
def test_gang_without_a_topology_constraint_goes_over_racks(scenario: Scenario) -> None:
    nodes = room(scenario, 1, 1, racks=["left", "right"])

    found = placed(scenario, in_one_rack(scenario, constrained=False))

    assert {each["spec"]["nodeName"] for each in found} == set(nodes)
