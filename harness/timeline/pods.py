"""The lane of a Pod."""

from collections.abc import Iterable, Sequence

from harness.kube.predicates import allocation_results, find_condition
from harness.kube.resources import Obj
from harness.timeline.facts import Fact, about, happened
from harness.timeline.lives import Instant, Life, seconds, when, within
from harness.timeline.model import Source, State

#: Reasons of Events that say why a Pod goes, with what the picture calls it.
_DEPARTURES = {"TaintManagerEviction": "evicted", "DeviceTaintManagerEviction": "evicted", "Preempted": "preempted"}


def facts(pod: Life, claims: Sequence[Life], events: Iterable[Obj]) -> list[Fact]:
    """All that is known of a Pod, by time."""
    own = about(events, pod.last)
    second = seconds(pod.last["metadata"]["creationTimestamp"])
    found = _scheduling(pod, claims, own)
    found += _running(pod, max((fact.instant.at for fact in found), default=second))
    found += _departure(pod, own)
    state = State.GATED if _gated(pod.versions[0].obj) else State.PENDING
    return [Fact(_created(pod, found), "created", state), *sorted(found, key=lambda fact: fact.instant.at)]


def _created(pod: Life, later: Iterable[Fact]) -> Instant:
    """The answer to the creation may arrive after the scheduler was done with the Pod."""
    first = min((fact.instant.at for fact in later), default=pod.created.at)
    return pod.created if pod.created.at <= first else Instant(first, Source.OBSERVED)


def bound(pod: Life, events: Iterable[Obj]) -> Instant | None:
    """When the Pod got its node."""
    condition = find_condition(pod.last, "PodScheduled") or {}
    if not pod.last["spec"].get("nodeName"):
        return None
    told = next((event for event in about(events, pod.last) if event.get("reason") == "Scheduled"), None)
    arrived = pod.prompt(lambda obj: obj["spec"].get("nodeName"))
    if told and told.get("eventTime"):
        at = seconds(told["eventTime"])  # the event follows the binding
        return Instant(at, Source.CLUSTER) if arrived is None or at <= arrived else Instant(arrived, Source.OBSERVED)
    if condition.get("status") == "True" and condition.get("lastTransitionTime"):
        return when(condition["lastTransitionTime"], arrived, pod.created.at)
    return pod.created  # whoever made it named the node


def _gated(pod: Obj) -> bool:
    return bool(pod["spec"].get("schedulingGates"))


def _scheduling(pod: Life, claims: Sequence[Life], events: Sequence[Obj]) -> list[Fact]:
    found = []
    if _gated(pod.versions[0].obj) and (free := pod.arrival(lambda obj: not _gated(obj))):
        found.append(Fact(Instant(free, Source.OBSERVED), "gates removed", State.PENDING))
    if refused := _refused(pod):
        found.append(refused)
    end = bound(pod, events)
    found += _waits(pod, claims, end)
    for event in events:
        if event.get("reason") == "FailedScheduling" and "bind" in event.get("message", ""):
            found.append(Fact(happened(event), "binding failed", State.PENDING, event["message"]))
    if end:
        found.append(Fact(end, "bound", State.BOUND, f"to {pod.last['spec']['nodeName']}"))
    return found


def _refused(pod: Life) -> Fact | None:
    """The scheduler's first word that there is no place."""
    for version in pod.versions:
        condition = find_condition(version.obj, "PodScheduled") or {}
        if condition.get("status") == "False" and condition.get("reason") != "SchedulingGated":
            instant = when(condition["lastTransitionTime"], version.prompt, pod.created.at)
            return Fact(instant, "unschedulable", None, condition.get("message", ""))
    return None


def _waits(pod: Life, claims: Sequence[Life], end: Instant | None) -> list[Fact]:
    """A node is chosen and the claims are allocated, but the Pod is bound only when its devices are ready.

    The n-th allocation of each claim belongs to the n-th attempt.
    """
    attempts: dict[int, list[Instant]] = {}
    for claim in claims:
        stamps = dict.fromkeys(stamp for v in claim.versions if (stamp := _waits_for(v.obj, pod.last)))
        for number, stamp in enumerate(stamps):
            versions = [v for v in claim.versions if allocated_at(v.obj) == stamp]
            arrived = min(versions, key=lambda version: version.arrived or 0).prompt
            attempts.setdefault(number, []).append(when(stamp, arrived, pod.created.at))
    begins = [min(instants, key=lambda instant: instant.at) for instants in attempts.values()]
    return [
        Fact(begin, "scheduled", State.WAITING, "waits for its devices")
        for begin in begins
        if end is None or begin.at < end.at
    ]


def _waits_for(claim: Obj, pod: Obj) -> str | None:
    """The allocationTimestamp of a claim that is reserved for the Pod and has devices with binding conditions."""
    conditions = any(result.get("bindingConditions") for result in allocation_results(claim))
    return allocated_at(claim) if conditions and _reserved(claim, pod) else None


def allocated_at(claim: Obj) -> str | None:
    """The allocationTimestamp, None where it has none."""
    stamp = ((claim.get("status") or {}).get("allocation") or {}).get("allocationTimestamp")
    return str(stamp) if stamp else None


def _reserved(claim: Obj, pod: Obj) -> bool:
    consumers = (claim.get("status") or {}).get("reservedFor") or ()
    return any(consumer.get("uid") == pod["metadata"]["uid"] for consumer in consumers)


def _running(pod: Life, lower: float) -> list[Fact]:
    """When all its containers ran, and when the last of them ended."""
    found = []
    started = _containers(pod.last, "startedAt")
    if started:
        arrived = pod.prompt(lambda obj: _containers(obj, "startedAt") == started)
        instant = within(seconds(started), arrived, lower)
        found.append(Fact(instant, "running", State.RUNNING))
        lower = instant.at
    if (ended := _containers(pod.last, "finishedAt")) and (phase := pod.last["status"]["phase"]) != "Running":
        arrived = pod.prompt(lambda obj: _containers(obj, "finishedAt") == ended)
        state = State.FAILED if phase == "Failed" else State.ENDING
        found.append(Fact(within(seconds(ended), arrived, lower), phase.lower(), state))
    return found


def _containers(pod: Obj, key: str) -> str | None:
    """The last of the times of that name, None as long as a container has none."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    states = [state for status in statuses for state in status.get("state", {}).values()]
    times = [str(state[key]) for state in states if state.get(key)]
    return max(times) if times and len(times) == len(pod["spec"]["containers"]) else None


def _departure(pod: Life, events: Sequence[Obj]) -> list[Fact]:
    found = []
    evicted = find_condition(pod.last, "DisruptionTarget")
    if evicted and evicted.get("status") == "True":
        arrived = pod.prompt(lambda obj: find_condition(obj, "DisruptionTarget"))
        what = "preempted" if evicted.get("reason") == "PreemptionByScheduler" else "evicted"
        found.append(Fact(when(evicted["lastTransitionTime"], arrived), what, None, evicted.get("message", "")))
    else:
        told = [event for event in events if event.get("reason") in _DEPARTURES]
        found += [Fact(happened(told[0]), _DEPARTURES[told[0]["reason"]], None, told[0]["message"])] if told else []
    deleted = pod.deleted
    if deleted and deleted.at != pod.gone:
        found.append(Fact(deleted, "deleted", State.ENDING))
    if pod.gone:
        found.append(Fact(Instant(pod.gone, Source.OBSERVED), "gone", None))
    return found
