"""What a wait can wait for: small named questions about an object, composing with `&`, `|` and `~`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from harness.kube.resources import Obj

State = TypeVar("State")


@dataclass(frozen=True)
class Predicate(Generic[State]):
    """A question with a name. An object that does not exist is None; the answer then is `on_absent`.

    So neither `scheduled()` nor `~scheduled()` is true of a Pod that is gone: nothing can be said of it.
    """

    text: str
    test: Callable[[State], bool]
    on_absent: bool = False

    def __call__(self, state: State | None) -> bool:
        """Whether it is so."""
        return self.on_absent if state is None else self.test(state)

    def __str__(self) -> str:
        return self.text

    def __and__(self, other: "Predicate[State]") -> "Predicate[State]":
        return Predicate(
            f"{self} and {other}", lambda state: self(state) and other(state), self.on_absent and other.on_absent
        )

    def __or__(self, other: "Predicate[State]") -> "Predicate[State]":
        return Predicate(
            f"({self} or {other})", lambda state: self(state) or other(state), self.on_absent or other.on_absent
        )

    def __invert__(self) -> "Predicate[State]":
        return Predicate(f"not ({self})", lambda state: not self(state))


# --- any object -----------------------------------------------------------------------------------------------------


def gone() -> Predicate[Obj]:
    """The object does not exist (or another one took its name)."""
    return Predicate("gone", lambda _: False, on_absent=True)


def exists() -> Predicate[Obj]:
    """The object exists."""
    return Predicate("exists", lambda _: True)


def terminating() -> Predicate[Obj]:
    """Its deletion has been asked for."""
    return Predicate("terminating", lambda obj: "deletionTimestamp" in obj["metadata"])


def condition(
    type: str, status: str | None = None, reason: str | None = None, message_contains: str | None = None
) -> Predicate[Obj]:
    """`status.conditions` has this one; what is None may be anything."""

    def test(obj: Obj) -> bool:
        found = find_condition(obj, type)
        return (
            found is not None
            and status in (None, found.get("status"))
            and reason in (None, found.get("reason"))
            and (message_contains is None or message_contains in found.get("message", ""))
        )

    wanted = [f"condition {type}"]
    wanted += [f"={status}"] if status else []
    wanted += [f" reason {reason}"] if reason else []
    wanted += [f" saying {message_contains!r}"] if message_contains else []
    return Predicate("".join(wanted), test)


def find_condition(obj: Obj, type: str) -> Obj | None:
    """The condition of that type, None if the object has none."""
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return next((found for found in conditions if found["type"] == type), None)


# --- Pods -----------------------------------------------------------------------------------------------------------


def scheduled(node: str | None = None) -> Predicate[Obj]:
    """The Pod is bound to a node (to that one)."""

    def test(pod: Obj) -> bool:
        bound = pod["spec"].get("nodeName")
        return bool(bound) and node in (None, bound)

    return Predicate(f"scheduled to {node}" if node else "scheduled", test)


def unscheduled() -> Predicate[Obj]:
    """The Pod exists and is bound to no node."""
    return Predicate("unscheduled", lambda pod: not pod["spec"].get("nodeName"))


def unschedulable(text: str | None = None) -> Predicate[Obj]:
    """The scheduler tried and found no place: PodScheduled False, reason Unschedulable (saying `text`)."""
    return condition("PodScheduled", "False", "Unschedulable", text)


def scheduling_error(text: str | None = None) -> Predicate[Obj]:
    """The scheduler's attempt ended in an error: PodScheduled False, reason SchedulerError (saying `text`)."""
    return condition("PodScheduled", "False", "SchedulerError", text)


def tried() -> Predicate[Obj]:
    """The scheduler has left its first trace on the Pod: bound, or a PodScheduled condition."""
    return Predicate("tried by the scheduler", lambda pod: scheduled()(pod) or condition("PodScheduled")(pod))


def _phase(phase: str) -> Predicate[Obj]:
    return Predicate(phase.lower(), lambda pod: (pod.get("status") or {}).get("phase") == phase)


def pending() -> Predicate[Obj]:
    """Phase Pending."""
    return _phase("Pending")


def running() -> Predicate[Obj]:
    """Phase Running."""
    return _phase("Running")


def succeeded() -> Predicate[Obj]:
    """Phase Succeeded."""
    return _phase("Succeeded")


def failed() -> Predicate[Obj]:
    """Phase Failed."""
    return _phase("Failed")


def ready() -> Predicate[Obj]:
    """Condition Ready is True (Pods and Nodes)."""
    return condition("Ready", "True")


def claim_generated(pod_claim: str) -> Predicate[Obj]:
    """The Pod's status names the ResourceClaim generated for this entry of `spec.resourceClaims`."""
    return Predicate(f"claim generated for {pod_claim!r}", lambda pod: generated_claim_name(pod, pod_claim) is not None)


def generated_claim_name(pod: Obj, pod_claim: str) -> str | None:
    """Name of the ResourceClaim generated for an entry of the Pod's `spec.resourceClaims`, None while there is none."""
    statuses = (pod.get("status") or {}).get("resourceClaimStatuses") or ()
    return next((entry.get("resourceClaimName") for entry in statuses if entry["name"] == pod_claim), None)


# --- ResourceClaims -------------------------------------------------------------------------------------------------


class AllocatedDevice(NamedTuple):
    """One device of an allocation, by its full name."""

    driver: str
    pool: str
    device: str


def allocated() -> Predicate[Obj]:
    """The claim has an allocation."""
    return Predicate("allocated", _is_allocated)


def unallocated() -> Predicate[Obj]:
    """The claim exists and has no allocation."""
    return Predicate("unallocated", lambda claim: not _is_allocated(claim))


def reserved_for(consumer: Obj) -> Predicate[Obj]:
    """`status.reservedFor` names this very Pod (or PodGroup)."""
    meta = consumer["metadata"]
    return Predicate(f"reserved for {meta['name']}", lambda claim: meta["uid"] in _consumers(claim))


def not_reserved_for(consumer: Obj) -> Predicate[Obj]:
    """The claim exists and `status.reservedFor` does not name this Pod (or PodGroup)."""
    meta = consumer["metadata"]
    return Predicate(f"not reserved for {meta['name']}", lambda claim: meta["uid"] not in _consumers(claim))


def unreserved() -> Predicate[Obj]:
    """The claim exists and nobody has reserved it."""
    return Predicate("unreserved", lambda claim: not _consumers(claim))


def allocated_devices(claim: Obj, request: str | None = None) -> list[AllocatedDevice]:
    """The devices of the allocation in its own order (of one request `r`, or of a subrequest `r/s`)."""
    return [
        AllocatedDevice(result["driver"], result["pool"], result["device"])
        for result in allocation_results(claim)
        if request in (None, result["request"])
    ]


def allocation_results(claim: Obj) -> list[Obj]:
    """`status.allocation.devices.results` as it is, empty without an allocation."""
    allocation = (claim.get("status") or {}).get("allocation") or {}
    results: list[Obj] = (allocation.get("devices") or {}).get("results") or []
    return results


def _is_allocated(claim: Obj) -> bool:
    # An allocation without devices is one too, so only its presence counts.
    return (claim.get("status") or {}).get("allocation") is not None


def _consumers(claim: Obj) -> set[str]:
    return {consumer["uid"] for consumer in (claim.get("status") or {}).get("reservedFor") or ()}


# --- PodGroups ------------------------------------------------------------------------------------------------------


#: How releases call the condition that says whether a group has its place, newest first.
_GROUP_CONDITIONS = ("PodGroupInitiallyScheduled", "PodGroupScheduled")


def initially_scheduled() -> Predicate[Obj]:
    """The group has been placed: PodGroupInitiallyScheduled True, which never goes back (1.36: PodGroupScheduled)."""
    return group_condition("True", "Scheduled")


def group_unschedulable(text: str | None = None) -> Predicate[Obj]:
    """The group was considered and has no place: PodGroupInitiallyScheduled False, Unschedulable (saying `text`)."""
    return group_condition("False", "Unschedulable", text)


def group_error(text: str | None = None) -> Predicate[Obj]:
    """The group could not be considered: PodGroupInitiallyScheduled False, SchedulerError (saying `text`)."""
    return group_condition("False", "SchedulerError", text)


def group_condition(
    status: str | None = None, reason: str | None = None, message_contains: str | None = None
) -> Predicate[Obj]:
    """The group says whether it has its place, under the name that its release has for it; None may be anything."""
    newer, older = (condition(name, status, reason, message_contains) for name in _GROUP_CONDITIONS)
    return Predicate(str(newer), lambda group: newer(group) or older(group))


def find_group_condition(group: Obj) -> Obj | None:
    """What the group says of its place, None when it has not been considered."""
    return next((found for name in _GROUP_CONDITIONS if (found := find_condition(group, name))), None)


# --- Events ---------------------------------------------------------------------------------------------------------


def event(reason: str | None = None, contains: str | None = None) -> Predicate[Obj]:
    """An Event with this reason whose text contains `contains`."""
    wanted = [f"event {reason}" if reason else "event"]
    wanted += [f"saying {contains!r}"] if contains else []
    return Predicate(
        " ".join(wanted),
        lambda found: reason in (None, found.get("reason")) and (contains or "") in (found.get("message") or ""),
    )


# --- sets of objects ------------------------------------------------------------------------------------------------


def any_of(predicate: Predicate[Obj]) -> Predicate[Sequence[Obj]]:
    """At least one object of the set is so."""
    return Predicate(f"any: {predicate}", lambda objs: any(predicate(obj) for obj in objs))


def all_of(predicate: Predicate[Obj], count: int) -> Predicate[Sequence[Obj]]:
    """The set has exactly `count` objects and all are so."""
    return Predicate(
        f"all {count}: {predicate}", lambda objs: len(objs) == count and all(predicate(obj) for obj in objs)
    )


def count_of(predicate: Predicate[Obj], count: int) -> Predicate[Sequence[Obj]]:
    """Exactly `count` objects of the set are so."""
    return Predicate(f"exactly {count}: {predicate}", lambda objs: sum(predicate(obj) for obj in objs) == count)
