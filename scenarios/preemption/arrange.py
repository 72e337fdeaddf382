"""Nodes that are full, Pods of three priorities, and who has to go.

The nodes are the scenario's own and have no kubelet: a Pod without grace is gone as soon as it is deleted. Every
priority is above that of other scenarios' Pods: none of those can preempt here, and what they hold is of no use here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.clusters.protocol import BareNode
from harness.kube import ApiError
from harness.kube.builders import basic, gang, on_node, pod, pod_group, priority_class
from harness.kube.predicates import Predicate, group_unschedulable, scheduled, terminating
from harness.plugin.scenario import TIMEOUT, Object, Scenario

#: The classes of a scenario. Patient Pods have the high priority, too, but never preempt.
PRIORITIES = {"patient": 3000, "low": 1000, "middle": 2000, "high": 3000}

#: How the Pods of a group can be preempted: each for itself, or all together.
SINGLE: Object = {"single": {}}
ALL: Object = {"all": {}}

FORBIDDEN = 403

#: How long the scheduler may take for what it does at once.
AT_ONCE = 15


@dataclass(frozen=True)
class Gang:
    """A group and its Pods."""

    group: Object
    members: Sequence[Object]


def classes(scenario: Scenario) -> None:
    """The classes of the scenario's Pods; the API server knows them when this returns."""
    for name, value in PRIORITIES.items():
        scenario.create(priority_class(of(scenario, name), value, preemption_policy=policy_of(name)))
    # Admission looks them up in a cache of its own, which is told of the last of them last.
    last = of(scenario, name)
    scenario.waiter.poll(lambda: refusal(scenario, last), lambda text: not text, "the API server knows the classes")


def policy_of(priority: str) -> str | None:
    """The preemptionPolicy of a class and, because the API server does not copy it, of its groups."""
    return "Never" if priority == "patient" else None


def refusal(scenario: Scenario, priority_class: str) -> str:
    """Why the API server would not take a Pod of that class, empty where it would."""
    try:
        scenario.client.create(pod("probe", priority_class=priority_class), dry_run=True)
    except ApiError as error:
        if error.status != FORBIDDEN:
            raise
        return error.message
    return ""


def of(scenario: Scenario, priority: str) -> str:
    """The name of the scenario's own class of that priority."""
    return f"{scenario.namespace}-{priority}"


def nodes(scenario: Scenario, *cpus: int) -> tuple[str, ...]:
    """Nodes of the scenario's own for so many of its Pods each, and the classes of these."""
    classes(scenario)
    return scenario.bare_nodes(
        *(
            BareNode(f"node-{number}", {"cpu": str(count), "memory": "8Gi", "pods": "20"})
            for number, count in enumerate(cpus)
        )
    )


def new(
    scenario: Scenario, name: str, priority: str, *where: str, group: Object | None = None, gates: Sequence[str] = ()
) -> Object:
    """A Pod of that priority for one cpu of one of these nodes."""
    return scenario.create(
        pod(
            name,
            requests={"cpu": 1},
            priority_class=of(scenario, priority),
            pod_group=group,
            affinity=on_node(*where),
            scheduling_gates=gates,
            scheduler_name=scenario.scheduler_name,
        )
    )


def placed(scenario: Scenario, name: str, priority: str, *where: str, group: Object | None = None) -> Object:
    """As `new`, and it has its place."""
    return scenario.wait(new(scenario, name, priority, *where, group=group), scheduled())


def new_gang(scenario: Scenario, priority: str, where: Sequence[Sequence[str]], min_count: int | None = None) -> Gang:
    """A gang of that priority whose Pods are considered at once: one for each entry of `where`, its possible nodes."""
    group = scenario.create(
        pod_group(
            "gang",
            gang(min_count or len(where)),
            priority_class=of(scenario, priority),
            preemption_policy=policy_of(priority),
        )
    )
    first, *others = where
    # One gated Pod holds its whole group back: were it not for that, minCount of the Pods could go ahead of the others.
    gated = new(scenario, "member-0", priority, *first, group=group, gates=["dra-e2e/others"])
    members = [
        new(scenario, f"member-{number}", priority, *names, group=group) for number, names in enumerate(others, 1)
    ]
    scenario.client.patch(gated, {"spec": {"schedulingGates": None}})
    return Gang(group, [gated, *members])


def group_over(scenario: Scenario, name: str, where: Sequence[str], mode: Object | None) -> list[Object]:
    """The Pods of a group of low priority with that disruptionMode, one on each of these nodes."""
    group = scenario.create(pod_group(name, basic(), priority_class=of(scenario, "low"), disruption_mode=mode))
    return [placed(scenario, f"{name}-{number}", "low", node, group=group) for number, node in enumerate(where)]


def ending(scenario: Scenario, victim: Object) -> Object:
    """The Pod as it was when it went. Raises AssertionError when it does not go."""
    meta = victim["metadata"]
    changes = scenario.client.watch(
        "Pod",
        resource_version=meta["resourceVersion"],
        timeout=TIMEOUT,
        field_selector=f"metadata.name={meta['name']}",
    )
    last: Object | None = next((change["object"] for change in changes if change["type"] == "DELETED"), None)
    assert last is not None, f"{meta['name']} is still there"
    return last


def all_bound(scenario: Scenario, pods: Sequence[Object]) -> None:
    """Each of these Pods has its place."""
    for each in pods:
        scenario.wait(each, scheduled(), timeout=AT_ONCE)


def sent_away(scenario: Scenario, victims: Sequence[Object], preemptor: Object) -> None:
    """These Pods are gone, to make place for this Pod or group as a whole, whose Pods have their places.

    So the scheduler has asked for every deletion: until then it lets no preemptor back in (isRunningPreemption in
    executor.go).
    """
    stay_on = [each["metadata"]["name"] for each in victims if not leaves(scenario, each)]
    assert not stay_on, f"not sent away: {', '.join(stay_on)}"
    for victim in victims:
        by = f"Preempted by {preemptor['kind'].lower()} {preemptor['metadata']['uid']}"
        scenario.wait_event(victim, "Preempted", by, timeout=AT_ONCE)
        scenario.waiter.wait_gone(victim, timeout=AT_ONCE)


def leaves(scenario: Scenario, each: Object) -> bool:
    """Whether the Pod is gone, or about to go."""
    current = scenario.client.find(each)
    return current is None or terminating()(current)


def left_without_place(scenario: Scenario) -> Predicate[Object]:
    """The scheduler has thought of preemption (not all releases say so), and leaves the group without a place."""
    says = scenario.release.has("PodGroup.status.conditions.message.preemption")
    return group_unschedulable("pod group preemption: " if says else None)


def stay(scenario: Scenario, *pods: Object) -> None:
    """None of these Pods has been sent away."""
    for each in pods:
        assert not leaves(scenario, each), f"{each['metadata']['name']} is being deleted, or gone"
