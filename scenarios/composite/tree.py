"""A tree of pod groups whose workers take one GPU each, and so many GPUs that are free."""

from collections.abc import Sequence
from dataclasses import dataclass

from fake_driver.profiles import gpus
from harness.kube.builders import (
    claim,
    composite_pod_group,
    gang,
    gang_of_groups,
    pod,
    pod_group,
    request,
    workload_ref,
)
from harness.kube.predicates import (
    condition,
    group_unschedulable,
    initially_scheduled,
    scheduled,
    tried,
    unallocated,
    unscheduled,
)
from harness.plugin.scenario import Object, Scenario
from scenarios.gang.arrange import kept_back, told

#: Nobody looks for the Workload that a group's reference names; here the scenario plays the controller that made both.
WORKLOAD = workload_ref("training", "worker")

#: How many workers a child has, unless it lacks one.
WORKERS = 2


@dataclass(frozen=True)
class Child:
    """A pod group below a composite, and its workers."""

    group: Object
    workers: Sequence[Object]


def free_gpus(scenario: Scenario, count: int, *children: str) -> tuple[Object, Object]:
    """So many GPUs are free, and each worker of these children has its claim for one.

    The scheduler knows it: it has given the other GPUs to this Pod with this claim, which came last. So no worker is
    ever kept back for its claim. One that was would be counted so for as long as another one of its group waits for the
    quorum: events of claims are then no reason to look again (moveEntitiesToActiveOrBackoffQueue of 1.37.2).
    """
    driver = scenario.driver(gpus(8), plugin=False)
    for name in children:
        for number in range(WORKERS):
            scenario.create(claim(f"{name}-{number}", request(driver.device_class)))
    taken = scenario.create(claim("taken", request(driver.device_class, count=8 - count)))
    return scenario.wait(scenario.create(pod("holder", claims={"gpus": taken})), scheduled()), taken


def composite(scenario: Scenario, name: str, min_group_count: int, parent: str | None = None) -> Object:
    """A composite that wants so many of its children placed at once."""
    return scenario.create(composite_pod_group(name, gang_of_groups(min_group_count), WORKLOAD, parent=parent))


def child(scenario: Scenario, name: str, parent: str | None, *, workers: int = WORKERS) -> Child:
    """A gang of two below the composite of that name (None: a gang on its own), with so many workers."""
    reference = WORKLOAD if parent else None
    group = scenario.create(pod_group(name, gang(WORKERS), parent=parent, workload=reference))
    return Child(group, [worker(scenario, group, number) for number in range(workers)])


def worker(scenario: Scenario, group: Object, number: int) -> Object:
    """A Pod of the group that needs one GPU, by a claim of its own name."""
    name = f"{group['metadata']['name']}-{number}"
    return scenario.create(pod(name, pod_group=group, claims={"gpu": name}, scheduler_name=scenario.scheduler_name))


def placed(scenario: Scenario, *children: Child) -> None:
    """All workers of these groups are bound.

    What the groups say is no proof: the scheduler writes it in the background, and the word of an attempt that failed
    may overwrite that of the later one that did not (seen once in some forty trees of 1.37.2).
    """
    for each in children:
        for member in each.workers:
            scenario.wait(member, scheduled(), timeout=15)


def refused(scenario: Scenario, *children: Child) -> None:
    """The scheduler finds one GPU too few for these groups: no worker is bound and no device allocated for one."""
    says = group_unschedulable("minCount (2) cannot be satisfied: 1 scheduled")  # there is one GPU for the last child
    for each in children:
        outcome = scenario.wait(each.group, says | initially_scheduled())
        assert says(outcome), f"{each.group['metadata']['name']} was placed"
    for each in children:
        without_place(scenario, each.workers)
        scenario.held(each.group["metadata"]["name"], "resources", told(scenario, each.group))


def held(scenario: Scenario, *children: Child) -> None:
    """The scheduler keeps every worker of these groups from its queue of Pods to be tried: not one was."""
    workers = [member for each in children for member in each.workers]
    scenario.barrier.scheduler(scenario.scheduler_name)
    kept_back(scenario, len(workers))
    untouched(scenario, *children)
    for each in children:
        what = f"{len(each.workers)} of {len(workers)} Pods kept back by GangScheduling, none tried"
        scenario.held(each.group["metadata"]["name"], "quorum", what)


def untouched(scenario: Scenario, *children: Child) -> None:
    """The scheduler has not tried any of these groups or of their workers."""
    for each in children:
        without_place(scenario, each.workers)
        names = [member["metadata"]["name"] for member in each.workers if tried()(scenario.get(member))]
        assert not names, f"the scheduler tried {names}"
        assert not condition("PodGroupInitiallyScheduled")(scenario.get(each.group)), "the scheduler tried the group"


def without_place(scenario: Scenario, workers: Sequence[Object]) -> None:
    """None of these Pods has a node or a device."""
    for member in workers:
        name = member["metadata"]["name"]
        assert unscheduled()(scenario.get(member)), f"{name} is bound"
        assert unallocated()(scenario.client.get("ResourceClaim", name)), f"the claim of {name} is allocated"
