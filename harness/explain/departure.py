"""Pods on their way out, or gone: evicted by a device taint, preempted, or deleted by someone."""

import re
from collections.abc import Sequence

from harness.explain.claims import present
from harness.explain.inventory import inventory
from harness.explain.messages import short
from harness.explain.model import Finding, some
from harness.explain.placement import tolerates
from harness.explain.snapshot import Snapshot, event_time
from harness.kube.predicates import find_condition
from harness.kube.resources import Obj, reference

_EVICTION_EVENT = "DeviceTaintManagerEviction"
_PREEMPTION_EVENT = "Preempted"


def departing(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    """Why a Pod that still exists is to go."""
    said = find_condition(pod, "DisruptionTarget")
    events = snapshot.events_of(pod)
    reason = (said or {}).get("reason")
    if reason == "DeletionByDeviceTaintManager":
        return [_evicted(snapshot, pod, events)]
    if reason == "PreemptionByScheduler":
        return [_preempted(snapshot, events, (said or {}).get("message", ""))]
    if said and said["status"] == "True":
        return [Finding("disrupted", f"the Pod is to go: {said.get('message', '')}", (f"DisruptionTarget, {reason}",))]
    return []


def departed(snapshot: Snapshot, events: Sequence[Obj]) -> list[Finding]:
    """Why a Pod that does not exist any more is gone, from the Events it left."""
    for event in reversed(events):
        if event.get("reason") == _EVICTION_EVENT and "Marking" in event.get("message", ""):
            return [_evicted(snapshot, None, events)]
        if event.get("reason") == _PREEMPTION_EVENT:
            return [_preempted(snapshot, events, "")]
    if events:
        last = events[-1]
        return [
            Finding(
                "deleted",
                "the Pod existed and is gone; nothing tells who deleted it",
                (f"last event, at {event_time(last)}: {last.get('reason')}: {short(last.get('message', ''))}",),
                "the audit log of the API server names who deleted it",
            )
        ]
    return []


def _evicted(snapshot: Snapshot, pod: Obj | None, events: Sequence[Obj]) -> Finding:
    taints = _evicting(snapshot, pod)
    whose = some(taints, 3) or "a taint that is not there any more"
    told = [each for each in events if each.get("reason") == _EVICTION_EVENT]
    facts = [f"event at {event_time(each)}: {each['message']}" for each in told[-1:]]
    facts += ["DisruptionTarget, DeletionByDeviceTaintManager"] if pod else []
    facts += [f"NoExecute taint {taint}" for taint in taints]
    guess = "" if pod else " (the Pod and its devices are gone: a NoExecute taint that is there now)"
    return Finding(
        "evicted-by-taint",
        f"evicted because of a device taint with effect NoExecute: {whose}{guess if taints else ''}",
        tuple(facts),
        "remove the taint (of a rule: delete it), or tolerate it in a new claim's request",
    )


def _evicting(snapshot: Snapshot, pod: Obj | None) -> list[str]:
    """NoExecute taints of the Pod's devices, as far as it is still known which these are."""
    own = [claim["metadata"]["uid"] for claim in present(snapshot, pod)] if pod else None
    found = []
    for device in inventory(snapshot).devices:
        holds = [hold for hold in device.holds if own is not None and hold.claim["metadata"]["uid"] in own]
        if own is not None and not holds:
            continue
        for taint in device.taints:
            tolerations = [each for hold in holds for each in hold.result.get("tolerations") or ()]
            for_ever = any(
                each.get("effect") == "NoExecute" and each.get("tolerationSeconds") is None
                and tolerates(each, taint.spec) for each in tolerations
            )  # fmt: skip
            if taint.spec["effect"] == "NoExecute" and not for_ever:
                found.append(f"{taint} of {device}")
    return found


def _preempted(snapshot: Snapshot, events: Sequence[Obj], message: str) -> Finding:
    told = [each for each in events if each.get("reason") == _PREEMPTION_EVENT]
    text = told[-1]["message"] if told else message
    uid = re.search(r"[Pp]reempted by (?:pod|podgroup) ([0-9a-f-]{36})", text)
    who = next(
        (
            f"{reference(each)}, priority {each['spec'].get('priority', 0)}"
            for kind in ("Pod", "PodGroup")
            for each in snapshot.all(kind)
            if uid and each["metadata"]["uid"] == uid[1]
        ),
        f"uid {uid[1]}, which is gone" if uid else "a higher priority",
    )
    return Finding(
        "preempted",
        f"preempted by {who}",
        tuple(f"event at {event_time(each)}: {each['message']}" for each in told[-1:]) or (message,),
        "give the Pod at least that priority, or add room for both",
    )
