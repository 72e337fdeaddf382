import pytest

from harness.kube import predicates as p
from harness.kube.resources import Obj
from tests.kube.fakes import a_pod

CLAIM: Obj = {
    "kind": "ResourceClaim",
    "metadata": {"name": "c", "uid": "9"},
    "status": {
        "allocation": {
            "devices": {
                "results": [
                    {"request": "gpu/big", "driver": "d", "pool": "n", "device": "gpu-0"},
                    {"request": "nic", "driver": "e", "pool": "n", "device": "nic-0"},
                ]
            }
        },
        "reservedFor": [{"name": "p", "uid": "1", "resource": "pods"}],
    },
}
EMPTY_CLAIM: Obj = {"kind": "ResourceClaim", "metadata": {"name": "c", "uid": "9"}}


def unscheduled_pod(reason: str, message: str) -> Obj:
    pod = a_pod()
    pod["status"]["conditions"] = [
        {"type": "PodScheduled", "status": "False", "reason": reason, "message": message},
    ]
    return pod


def test_scheduled_looks_at_the_node() -> None:
    assert p.scheduled()(a_pod(nodeName="n1"))
    assert p.scheduled("n1")(a_pod(nodeName="n1"))
    assert not p.scheduled("n2")(a_pod(nodeName="n1"))
    assert not p.scheduled()(a_pod())
    assert p.unscheduled()(a_pod())


def test_unschedulable_and_scheduling_error_are_told_apart() -> None:
    refused = unscheduled_pod("Unschedulable", "0/3 nodes are available: cannot allocate all claims.")
    assert p.unschedulable("cannot allocate")(refused)
    assert not p.unschedulable("something else")(refused)
    assert not p.scheduling_error()(refused)
    assert p.scheduling_error()(unscheduled_pod("SchedulerError", "boom"))
    assert p.tried()(refused)
    assert not p.tried()(a_pod())


@pytest.mark.parametrize("predicate", [p.scheduled(), ~p.scheduled(), p.exists(), p.exists() | p.pending()])
def test_nothing_is_true_of_an_absent_object(predicate: p.Predicate[Obj]) -> None:
    assert not predicate(None)


def test_gone_is_true_of_an_absent_object_only_and_composes() -> None:
    assert p.gone()(None)
    assert not p.gone()(a_pod())
    assert (p.gone() | p.scheduled())(None)
    assert not (p.gone() & p.scheduled())(None)
    assert (~p.gone())(a_pod())


def test_composition_reads_as_a_sentence() -> None:
    both = p.pending() & ~p.scheduled()
    assert str(both) == "pending and not (scheduled)"
    assert both(a_pod())
    assert not both(a_pod(nodeName="n"))


def test_allocation_and_reservation_of_a_claim() -> None:
    assert p.allocated()(CLAIM)
    assert p.unallocated()(EMPTY_CLAIM)
    assert p.reserved_for(a_pod(uid="1"))(CLAIM)
    assert p.not_reserved_for(a_pod(uid="2"))(CLAIM)
    assert p.unreserved()(EMPTY_CLAIM)
    assert p.allocated_devices(CLAIM) == [("d", "n", "gpu-0"), ("e", "n", "nic-0")]
    assert p.allocated_devices(CLAIM, "gpu/big") == [("d", "n", "gpu-0")]
    assert p.allocated_devices(EMPTY_CLAIM) == []


def test_an_allocation_without_devices_is_an_allocation() -> None:
    assert p.allocated()({"metadata": {}, "status": {"allocation": {}}})


def test_an_event_is_known_by_reason_and_text() -> None:
    event = {"reason": "FailedScheduling", "message": "0/3 nodes are available"}
    assert p.event("FailedScheduling", "nodes")(event)
    assert not p.event("FailedScheduling", "other")(event)
    assert not p.event("Scheduled")(event)


def test_sets_are_counted() -> None:
    pods = [a_pod("a", nodeName="n"), a_pod("b")]
    assert p.any_of(p.scheduled())(pods)
    assert p.count_of(p.scheduled(), 1)(pods)
    assert not p.all_of(p.scheduled(), 2)(pods)
    assert not p.all_of(p.exists(), 3)(pods)
