"""Groups of Pods, the room they find, and what the scheduler says of a group that it holds."""

import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple

from harness.clusters.protocol import BareNode
from harness.drivers import Driver
from harness.kube import metrics
from harness.kube.builders import gang, on_node, pod, pod_group
from harness.kube.predicates import (
    Predicate,
    all_of,
    allocated_devices,
    count_of,
    find_condition,
    find_group_condition,
    group_unschedulable,
    initially_scheduled,
    scheduled,
    tried,
    unschedulable,
)
from harness.plugin.scenario import LABEL, Object, Scenario

#: The label by which the Pods of a group (or of the same job without a group) are found.
JOB = "job"

#: Seconds for what Kubernetes does at once; long enough for a busy machine, short for a scenario that must fail.
SOON = 15.0

#: What every Pod of a scenario with `room` asks for.
ONE_SLOT = {"cpu": 1}


class Gang(NamedTuple):
    """A PodGroup and its Pods."""

    group: Object
    pods: list[Object]

    @property
    def selector(self) -> str:
        """Selects the Pods of the group."""
        return f"{JOB}={self.group['metadata']['name']}"


def room(scenario: Scenario, *slots: int, racks: Sequence[str] = ()) -> tuple[str, ...]:
    """Nodes of the scenario's own with so many slots each, known to the scheduler; a Pod `at_home` takes one.

    With `racks` each node has the label `rack_key` with the value at its place.
    """
    labels: list[dict[str, str]] = [{rack_key(scenario): rack} for rack in racks] or [{} for _ in slots]
    nodes = (
        BareNode(f"node-{secrets.token_hex(3)}", {"cpu": str(count), "memory": "64Gi", "pods": "500"}, rack)
        for count, rack in zip(slots, labels, strict=True)
    )
    names = scenario.bare_nodes(*nodes)
    probes = [scenario.create(pod(f"probe-{secrets.token_hex(3)}", affinity=on_node(name))) for name in names]
    for name, probe in zip(names, probes, strict=True):
        scenario.wait(probe, scheduled(name))
    return names


def rack_key(scenario: Scenario) -> str:
    """A label of nodes that no other scenario uses."""
    return f"{scenario.namespace}/rack"


def at_home(scenario: Scenario) -> dict[str, Any]:
    """Options of a Pod that takes one slot of the scenario's own room."""
    return {"requests": ONE_SLOT, "node_selector": {LABEL: scenario.namespace}}


def member(scenario: Scenario, job: str, number: int, *, group: str | Object | None = None, **options: Any) -> Object:
    """One Pod of a job, in the scenario's own scheduler profile; of no group unless one is given."""
    options.setdefault("scheduler_name", scenario.scheduler_name)
    return scenario.create(pod(f"{job}-{number}", pod_group=group, labels={JOB: job}, **options))


def members(scenario: Scenario, group: Object, numbers: Sequence[int], **options: Any) -> list[Object]:
    """Pods of a group, one after the other."""
    name = group["metadata"]["name"]
    return [member(scenario, name, number, group=group, **options) for number in numbers]


def gang_of(scenario: Scenario, name: str, *, min_count: int, count: int | None = None, **options: Any) -> Gang:
    """A gang and its Pods, `min_count` of them unless told; the options are those of a Pod."""
    group = scenario.create(pod_group(name, gang(min_count)))
    return Gang(group, members(scenario, group, range(min_count if count is None else count), **options))


def set_min_count(scenario: Scenario, group: Object, count: int) -> Object:
    """The group with another minCount, as stored."""
    scenario.note(f"minCount {count}")
    return scenario.client.patch(group, {"spec": {"schedulingPolicy": gang(count)}})


def ungrouped(scenario: Scenario, name: str, count: int, **options: Any) -> list[Object]:
    """The same Pods without a group."""
    return [member(scenario, name, number, **options) for number in range(count)]


def holds_of(driver: Driver) -> Predicate[Object]:
    """The claim has a device of the driver."""
    return Predicate(
        f"allocated from {driver.name}",
        lambda claim: any(each.driver == driver.name for each in allocated_devices(claim)),
    )


def says_counts(scenario: Scenario) -> bool:
    """Whether the release tells of a group without a place how many of its Pods would have one."""
    return scenario.release.has("PodGroup.status.conditions.message.counts")


# -- outcomes ----------------------------------------------------------------------------------------------------------


def has_a_word(scenario: Scenario) -> bool:
    """Whether groups have a condition that tells of their place; where they have none their Pods tell."""
    return scenario.release.has("PodGroup.status.conditions")


def says_placed(scenario: Scenario, group: Object) -> None:
    """Wait until the group says that it has its place, if its release lets it speak."""
    if has_a_word(scenario):
        scenario.wait(group, initially_scheduled())


def still_says_placed(scenario: Scenario, group: Object) -> None:
    """What the group once said of its place is not taken back."""
    if has_a_word(scenario):
        assert initially_scheduled()(scenario.get(group)), f"taken back: {told(scenario, group)}"


def placed(scenario: Scenario, made: Gang, count: int | None = None) -> list[Object]:
    """The Pods once so many of them (all, unless told) are bound; where all are, the group says that it is placed.

    Where some stay out the scheduler tries them again at once, and may not know yet what it has just said of the group:
    the condition can then go back to False for ever (schedule_one_podgroup.go compares with its informer).
    """
    if count is None and has_a_word(scenario):
        outcome = initially_scheduled()
        if says_counts(scenario):
            outcome |= group_unschedulable("cannot be satisfied")
        scenario.wait(made.group, outcome)
        assert initially_scheduled()(scenario.get(made.group)), f"not placed: {told(scenario, made.group)}"
    wanted = len(made.pods) if count is None else count
    return scenario.waiter.wait_any("Pod", count_of(scheduled(), wanted), SOON, label_selector=made.selector)


def bound(scenario: Scenario, job: str, count: int, timeout: float = SOON) -> list[Object]:
    """The Pods of a job once exactly so many of them are bound."""
    return scenario.waiter.wait_any("Pod", count_of(scheduled(), count), timeout, label_selector=f"{JOB}={job}")


def short_of_room(scenario: Scenario, *, could: int, of: int) -> Predicate[Object]:
    """The scheduler finds a place for only `could` of the `of` that the gang needs, and says so as its release does."""
    return group_unschedulable(
        f"minCount ({of}) cannot be satisfied: {could} scheduled" if says_counts(scenario) else None
    )


def gave_up_its_place() -> Predicate[Object]:
    """There was a place for the Pod, as 1.36 tells of a gang that is not placed: it was to wait for the others."""
    return unschedulable("plugins asked to wait")


def waits_for_room(scenario: Scenario, made: Gang, *, could: int, of: int) -> Object:
    """The scheduler has tried all Pods and found places for only `could` of the `of` that the gang needs.

    By the group's word and, where that has no numbers, by so many Pods that had a place and could not keep it; where
    there is no word by those for which nothing was left, while the others hold their places in the scheduler's own
    books. Returns the group.
    """
    group = made.group
    if has_a_word(scenario):
        says = short_of_room(scenario, could=could, of=of)
        group = scenario.wait(group, says | initially_scheduled())
        assert says(group), f"the group was placed: {told(scenario, group)}"
        scenario.waiter.wait_any("Pod", all_of(unschedulable(), len(made.pods)), label_selector=made.selector)
        if not says_counts(scenario):
            scenario.waiter.wait_any("Pod", count_of(gave_up_its_place(), could), SOON, label_selector=made.selector)
    else:
        left = count_of(unschedulable(), len(made.pods) - could)
        scenario.waiter.wait_any("Pod", left, SOON, label_selector=made.selector)
    return group


def none_placed(scenario: Scenario, made: Gang, *, could: int, of: int) -> Object:
    """The scheduler has found a place for only `could` of the `of` that the gang needs, and has bound none.

    Its message tells how many it could have placed, so it knows of all the room there is. Returns the group.
    """
    group = waits_for_room(scenario, made, could=could, of=of)
    if not has_a_word(scenario):
        groups_seen(scenario)  # another turn has passed
    assert_unbound(scenario, made.selector)
    scenario.held(made.group["metadata"]["name"], "resources", told(scenario, made.group))
    return group


def assert_unbound(scenario: Scenario, selector: str) -> None:
    """No Pod of the job has a node."""
    found, _ = scenario.client.list("Pod", label_selector=selector)
    bound = [each["metadata"]["name"] for each in found if scheduled()(each)]
    assert found, f"there are no Pods {selector}"
    assert not bound, f"bound: {', '.join(bound)}"


def groups_seen(scenario: Scenario) -> None:
    """The scheduler has been told of every PodGroup and Pod created before, and has had its first turn with them.

    A later gang of one Pod is placed: groups and Pods come through one watch each, in order, and groups of one
    priority have their turns in order too.
    """
    name = f"twin-{secrets.token_hex(3)}"
    twin = scenario.create(pod_group(name, gang(1)))
    scenario.wait(member(scenario, name, 0, group=twin), scheduled())
    # What was bound in an earlier turn is bound now, too: another turn has passed.
    scenario.barrier.scheduler(scenario.scheduler_name)


def no_trace(scenario: Scenario, held: Sequence[Object]) -> None:
    """The scheduler has never tried the Pods: no node, no condition, no event."""
    for each in held:
        now = scenario.get(each)
        assert not tried()(now), f"{now['metadata']['name']} has been tried: {find_condition(now, 'PodScheduled')}"
        assert scenario.client.events(now) == []


def held_for_quorum(scenario: Scenario, held: Sequence[Object]) -> None:
    """The scheduler keeps the Pods back until more of their gang exist, and has never tried them.

    They show nothing by themselves: a later gang has had its turn, and the scheduler's own count of what the plugin
    GangScheduling keeps back is theirs.
    """
    groups_seen(scenario)
    no_trace(scenario, held)
    kept_back(scenario, len(held))
    no_trace(scenario, held)
    scenario.held(str(group_of(held[0])), "quorum", f"{len(held)} Pods kept back by GangScheduling, none tried")


def kept_back(scenario: Scenario, count: int) -> None:
    """Wait until the plugin GangScheduling keeps back so many Pods of the scenario's own scheduler profile.

    1.35 counts a Pod anew whenever it looks at it, and never subtracts it: there the Pods' lack of any trace must do.
    """
    if not scenario.release.has("scheduler_unschedulable_pods.counts-a-pod-once"):
        return
    scenario.waiter.poll(
        lambda: scenario.scheduler_metric("scheduler_unschedulable_pods", plugin="GangScheduling"),
        lambda found: found == count,
        f"GangScheduling keeps back {count} Pods of {scenario.scheduler_name}",
        SOON,
    )


def waiting_for_groups(scenario: Scenario, count: int) -> None:
    """Wait until so many Pods wait for groups that do not exist: of the whole cluster, which must be the scenario's."""

    def read() -> float:
        return metrics.value(scenario.cluster.metrics("kube-scheduler"), "scheduler_pending_pods", queue="incomplete")

    scenario.waiter.poll(read, lambda found: found == count, f"{count} Pods wait for groups", SOON)


def told(scenario: Scenario, group: Object) -> str:
    """What the group's condition says at the moment."""
    found = find_group_condition(scenario.get(group))
    return f"{found['reason']}: {found['message']}" if found else "nothing"


def group_of(member: Object) -> str | None:
    """The name of the group that the Pod, as stored, belongs to."""
    spec = member["spec"]
    name: str | None = (spec.get("schedulingGroup") or {}).get("podGroupName") or (spec.get("workloadRef") or {}).get(
        "podGroup"
    )
    return name
