"""The scheduler is restarted while it holds gangs and while one is half bound (XD-26)."""

from collections.abc import Sequence

import pytest

from fake_driver.profiles import fabric
from harness.kube.builders import claim, gang, pod_group, request
from harness.kube.predicates import allocated, scheduled, unscheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.binding.arrange import ATTACHED, ONE_POLL, PENDING, Consumer, report
from scenarios.gang.arrange import (
    assert_unbound,
    at_home,
    bound,
    gang_of,
    groups_seen,
    held_for_quorum,
    member,
    members,
    no_trace,
    none_placed,
    room,
    says_placed,
    waiting_for_groups,
)


@pytest.mark.statement("XD-26")
@pytest.mark.control("XD-26")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("restart", "bare-nodes")
def test_restarted_scheduler_places_no_part_of_a_gang_and_ends_what_it_began(
    scenario: Scenario, difference: Difference
) -> None:
    """The control is beside it, so that one restart serves both: what is completed meanwhile is placed."""
    (node,) = room(scenario, 3)
    lacks_pods = gang_of(scenario, "lacks-pods", min_count=3, count=2, **at_home(scenario))
    held_for_quorum(scenario, lacks_pods.pods)
    lacks_room = gang_of(scenario, "lacks-room", min_count=4, **at_home(scenario))
    none_placed(scenario, lacks_room, could=3, of=4)
    # In another scheduler profile: not all releases count them apart from those whose group is there.
    other = "default-scheduler"
    early = [
        member(scenario, "early", number, group="early", scheduler_name=other, **at_home(scenario))
        for number in range(3)
    ]
    held_without_group(scenario, early)
    completed = gang_of(scenario, "completed", min_count=3, count=2, scheduler_name=other)
    # Of this gang one Pod is bound, and the other waits for its device.
    driver = scenario.driver(fabric(1), nodes=[node], plugin=False)
    half = scenario.create(pod_group("half", gang(2)))
    wanted = scenario.create(claim("half", request(driver.device_class)))
    waiter = Consumer(member(scenario, "half", 0, group=half, claims={"gpu": wanted}), wanted)
    scenario.wait(member(scenario, "half", 1, group=half), scheduled())
    scenario.wait_event(waiter.pod, PENDING)

    scenario.cluster.stop("kube-scheduler")
    scenario.on_exit(lambda: scenario.cluster.start("kube-scheduler"))
    if difference("the missing Pod is created meanwhile"):
        members(scenario, lacks_pods.group, [2], **at_home(scenario))
    members(scenario, completed.group, [2], scheduler_name=other)
    no_trace(scenario, completed.pods)
    scenario.cluster.start("kube-scheduler")

    bound(scenario, "completed", 3, timeout=30)
    groups_seen(scenario)
    held_for_quorum(scenario, lacks_pods.pods)
    held_without_group(scenario, early)
    assert_unbound(scenario, lacks_room.selector)
    half_bound = Consumer(scenario.get(waiter.pod), scenario.wait(wanted, allocated()))
    assert unscheduled()(half_bound.pod)
    report(driver, half_bound, {ATTACHED: "True"})
    scenario.wait(waiter.pod, scheduled(node), timeout=2 * ONE_POLL)

    room(scenario, 7)
    scenario.create(pod_group("early", gang(3)))
    bound(scenario, "early", 3, timeout=30)
    members(scenario, lacks_pods.group, [2], **at_home(scenario))
    bound(scenario, "lacks-pods", 3, timeout=30)
    bound(scenario, "lacks-room", 4, timeout=60)
    says_placed(scenario, lacks_room.group)


def held_without_group(scenario: Scenario, pods: Sequence[Object]) -> None:
    """The scheduler has not tried the Pods, whose group does not exist, and counts them as waiting for it."""
    no_trace(scenario, pods)
    if scenario.release.has("scheduler.counts-pods-without-group"):
        waiting_for_groups(scenario, len(pods))
