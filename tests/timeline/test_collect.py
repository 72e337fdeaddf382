"""From objects to lanes."""

import pytest

from harness.evidence import Sighting
from harness.timeline import Call, Lane, Source, State, Timeline, collect
from harness.timeline.collect import DEVICES, PODS
from tests.timeline.arrange import ZERO, claim, condition, event, micro, pod, published, rule, seen, stamp

CLUSTER, OBSERVED = Source.CLUSTER, Source.OBSERVED


def timeline(*found: Sighting, calls: tuple[Call, ...] = (), end: float = 20) -> Timeline:
    drawn = collect(sightings=found, calls=calls, start=ZERO, end=ZERO + end)
    assert drawn
    return drawn


def lane(drawn: Timeline | None, name: str) -> Lane:
    assert drawn
    return next(each for each in drawn.lanes if each.name.endswith(name))


def states(of: Lane) -> list[tuple[State, float, float]]:
    return [(span.state, span.start, span.end) for span in of.spans]


def moments(of: Lane) -> list[tuple[str, float, Source]]:
    return [(moment.what, moment.at, moment.source) for moment in of.moments]


def test_nothing_to_draw() -> None:
    assert collect([published(1, {"name": "gpu-0"})], end=ZERO + 2) is None


def test_pod_by_the_clusters_own_times() -> None:
    scheduled = condition("PodScheduled", "True", 3)
    drawn = collect([pod("p", 1, scheduled, node="n", started=5)], end=ZERO + 9)
    assert drawn
    assert drawn.start == "2026-03-02T09:14:01+00:00"
    assert states(lane(drawn, "p")) == [(State.PENDING, 0, 2), (State.BOUND, 2, 4), (State.RUNNING, 4, 8)]
    assert {moment.source for moment in lane(drawn, "p").moments} == {CLUSTER}


def test_arrival_tells_where_in_the_second_it_was() -> None:
    early = pod("p", 1)
    late = pod("p", 1, condition("PodScheduled", "True", 2), node="n", version=2)
    assert moments(lane(timeline(seen(1.2, early), seen(2.4, late)), "p")) == [
        ("created", 1.2, OBSERVED),
        ("bound", 2.4, OBSERVED),
    ]


def test_late_arrival_tells_nothing() -> None:
    late = pod("p", 1, condition("PodScheduled", "True", 2), node="n")
    assert moments(lane(timeline(seen(7.5, late)), "p")) == [("created", 1, CLUSTER), ("bound", 2, CLUSTER)]


def test_what_was_only_read_may_have_happened_before() -> None:
    late = pod("p", 1, condition("PodScheduled", "True", 2), node="n", version=2)
    drawn = timeline(seen(1.2, pod("p", 1)), seen(2.4, late, read=True))
    assert moments(lane(drawn, "p")) == [("created", 1.2, OBSERVED), ("bound", 2, CLUSTER)]


def test_scheduler_event_is_finer_than_a_condition() -> None:
    bound = pod("p", 1, condition("PodScheduled", "True", 2), node="n")
    drawn = timeline(seen(7.5, bound), seen(7.6, event("p", "Scheduled", 2.345)))
    assert ("bound", 2.345, CLUSTER) in moments(lane(drawn, "p"))


def test_gated_then_free() -> None:
    drawn = timeline(seen(1.1, pod("p", 1, gates=True)), seen(4.5, pod("p", 1, version=2)))
    assert states(lane(drawn, "p")) == [(State.GATED, 1.1, 4.5), (State.PENDING, 4.5, 20)]


def test_pod_waits_for_its_device_and_the_device_is_attached() -> None:
    held = claim("c", 1, 2, "p", binding=True, version=2)
    ready = claim("c", 1, 2, "p", condition("Attached", "True", 5), binding=True, version=3)
    bound = pod("p", 1, condition("PodScheduled", "True", 6), node="n", version=4)
    drawn = timeline(
        seen(1.1, pod("p", 1)), seen(1.2, claim("c", 1)), seen(2.3, held), seen(5.4, ready), seen(6.5, bound)
    )
    assert states(lane(drawn, "p")) == [(State.PENDING, 1.1, 2.3), (State.WAITING, 2.3, 6.5), (State.BOUND, 6.5, 20)]
    assert states(lane(drawn, "gpu-0")) == [(State.ALLOCATED, 2.3, 5.4), (State.ATTACHED, 5.4, 20)]


def test_binding_that_fails() -> None:
    broken = claim("c", 1, 2, "p", condition("Broken", "True", 4), binding=True)
    drawn = timeline(seen(1.1, pod("p", 1)), seen(4.4, broken))
    assert states(lane(drawn, "gpu-0"))[-1] == (State.FAILED, 4.4, 20)


def test_each_attempt_waits_again() -> None:
    again = claim("c", 1, 7, "p", binding=True, device="gpu-1", version=3)
    drawn = timeline(
        seen(1.1, pod("p", 1)),
        seen(2.3, claim("c", 1, 2, "p", binding=True, version=2)),
        seen(5.1, event("p", "FailedScheduling", 5, "binding device failed")),
        seen(7.2, again),
    )
    assert [state for state, _, _ in states(lane(drawn, "p"))] == ["pending", "waiting", "pending", "waiting"]


def test_kubelet_prepares_after_binding() -> None:
    bound = pod("p", 1, condition("PodScheduled", "True", 4), node="n")
    failed = {**event("p", "FailedPrepareDynamicResources", 4), "eventTime": None, "firstTimestamp": stamp(4)}
    drawn = timeline(seen(4.4, bound), seen(4.5, claim("c", 1, 2, "p")), seen(5, failed))
    assert ("prepare failed", 4.4, CLUSTER) in moments(lane(drawn, "gpu-0"))


def test_device_is_allocated_before_its_pod_is_bound() -> None:
    late = claim("c", 1, 2, "p")
    bound = pod("p", 1, condition("PodScheduled", "True", 2), node="n")
    drawn = timeline(seen(2.9, late), seen(2.8, bound), seen(3, event("p", "Scheduled", 2.4)))
    assert ("allocated", 2.4, CLUSTER) in moments(lane(drawn, "gpu-0"))


def test_creation_is_first_even_if_its_answer_was_late() -> None:
    bound = pod("p", 1, condition("PodScheduled", "True", 1), node="n", version=2)
    drawn = timeline(seen(1.5, pod("p", 1)), seen(1.9, bound), seen(2, event("p", "Scheduled", 1.4)))
    assert moments(lane(drawn, "p")) == [("created", 1.4, OBSERVED), ("bound", 1.4, CLUSTER)]
    assert states(lane(drawn, "p")) == [(State.BOUND, 1.4, 20)]


def test_refusal_that_was_only_read_is_not_before_the_creation() -> None:
    refused = pod("p", 1, condition("PodScheduled", "False", 1, "Unschedulable"), version=2)
    drawn = timeline(seen(1.5, pod("p", 1)), seen(1.9, refused, read=True))
    assert moments(lane(drawn, "p")) == [("created", 1.5, OBSERVED), ("unschedulable", 1.5, CLUSTER)]


def test_allocation_that_is_taken_back() -> None:
    drawn = timeline(seen(2.5, claim("c", 1, 2, version=2)), seen(7.5, claim("c", 1, version=3)))
    assert states(lane(drawn, "gpu-0")) == [(State.ALLOCATED, 2.5, 7.5), (State.PUBLISHED, 7.5, 20)]


def test_eviction() -> None:
    evicted = condition("DisruptionTarget", "True", 5, "DeletionByDeviceTaintManager", "taint broken")
    going = pod(
        "p", 1, evicted, node="n", started=2, version=2,
        deletionTimestamp=stamp(12), deletionGracePeriodSeconds=7,
    )  # fmt: skip
    drawn = timeline(
        seen(2.5, pod("p", 1, node="n", started=2)),
        seen(2.6, claim("c", 1, 2, "p")),
        seen(2.7, published(1, {"name": "gpu-0"}, {"name": "gpu-1"})),
        seen(4.25, rule(4, device="gpu-0")),
        seen(5.5, going),
        seen(8.5, going, gone=True),
    )
    assert states(lane(drawn, "p"))[-2:] == [(State.RUNNING, 2.5, 5.5), (State.ENDING, 5.5, 8.5)]
    assert [what for what, _, _ in moments(lane(drawn, "p"))][-3:] == ["evicted", "deleted", "gone"]
    assert (State.TAINTED, 4.25, 20) in states(lane(drawn, "gpu-0"))
    assert not any(state is State.TAINTED for state, _, _ in states(lane(drawn, "gpu-1")))


def test_taint_that_the_driver_takes_back() -> None:
    taint = {"key": "hot", "value": "yes", "effect": "NoSchedule", "timeAdded": stamp(3)}
    changed = [{"time": stamp(6), "manager": "driver"}]
    drawn = timeline(
        seen(1.1, claim("c", 1)),
        seen(2.0, published(1, {"name": "gpu-0"})),
        seen(3.3, published(1, {"name": "gpu-0", "taints": [taint]}, version=2)),
        seen(6.6, published(1, {"name": "gpu-0"}, version=3, managedFields=changed)),
    )
    assert (State.TAINTED, 3.3, 6.6) in states(lane(drawn, "gpu-0"))


def test_driver_calls_tell_of_preparation() -> None:
    drawn = timeline(
        seen(2.5, claim("c", 1, 2, "p")),
        seen(9.5, claim("c", 1, 2, "p"), gone=True),
        calls=(
            Call(ZERO + 3, "NodePrepareResources", "uid-c", "no such device"),
            Call(ZERO + 4, "NodePrepareResources", "uid-c"),
            Call(ZERO + 9, "NodeUnprepareResources", "uid-c"),
            Call(ZERO + 5, "NodePrepareResources", "uid-other"),
        ),
    )
    assert states(lane(drawn, "gpu-0")) == [
        (State.ALLOCATED, 2.5, 3),
        (State.FAILED, 3, 4),
        (State.PREPARED, 4, 9),
        (State.ALLOCATED, 9, 9.5),
        (State.PUBLISHED, 9.5, 20),
    ]


def test_without_calls_the_kubelets_condition_tells() -> None:
    ready = condition("PodReadyToStartContainers", "True", 4)
    drawn = collect([pod("p", 1, ready, node="n"), claim("c", 1, 2, "p")], end=ZERO + 9)
    assert ("prepared", 3, CLUSTER) in moments(lane(drawn, "gpu-0"))


def test_devices_of_which_nothing_is_to_tell_are_left_out() -> None:
    many = [{"name": f"gpu-{number}"} for number in range(100)]
    drawn = timeline(seen(1.1, claim("c", 1, 2, "p", device="gpu-99")), seen(1.5, published(1, *many)))
    assert len(drawn.lanes) <= DEVICES
    assert drawn.omitted == 100 - len(drawn.lanes)
    assert lane(drawn, "gpu-99")


@pytest.mark.parametrize("far", [stamp(59), micro(59.5)])
def test_times_that_are_wrong_stay_on_the_axis(far: str) -> None:
    taint = {"key": "k", "effect": "NoSchedule", "timeAdded": far}
    drawn = timeline(seen(1.1, claim("c", 1)), seen(2, published(1, {"name": "gpu-0", "taints": [taint]})))
    assert all(0 <= edge <= 20 for each in drawn.lanes for span in each.spans for edge in (span.start, span.end))


def test_json_is_an_inverse() -> None:
    drawn = timeline(seen(1.1, pod("p", 1)), seen(2.6, claim("c", 1, 2, "p")))
    assert Timeline.from_json(drawn.to_json()) == drawn


def test_crowd_of_pods_is_cut() -> None:
    drawn = collect([pod(f"p{number}", 1) for number in range(PODS + 5)], end=ZERO + 9)
    assert drawn
    assert (len(drawn.lanes), drawn.omitted) == (PODS, 5)
