"""What keeps a Pod from being tried at all: gates, and schedulers that are not there."""

from harness.explain.messages import last_word
from harness.explain.model import Finding, either, some
from harness.explain.snapshot import Snapshot, event_time, seconds
from harness.kube.predicates import find_condition
from harness.kube.resources import Obj

DEFAULT = "default-scheduler"

#: Seconds in which a scheduler has tried a new Pod, unless it has much to do.
PATIENCE = 5

#: Seconds after which a lease that was not renewed has nobody behind it.
_LEASE = 60


def gates(pod: Obj) -> list[Finding]:
    """The Pod is not to be scheduled before someone removes its gates."""
    names = [each["name"] for each in pod["spec"].get("schedulingGates") or ()]
    if not names:
        return []
    return [
        Finding(
            "scheduling-gates",
            f"the Pod is held back by {'the scheduling gate' if len(names) == 1 else 'scheduling gates'} {some(names)}",
            (f"spec.schedulingGates: {', '.join(names)}",),
            "have the controller that set the gate remove it",
        )
    ]


def unseen(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    """No scheduler has said a word of the Pod: its own is down, or none goes by that name."""
    if last_word(pod).reason:
        return []
    name = pod["spec"].get("schedulerName", DEFAULT)
    created = pod["metadata"]["creationTimestamp"]
    age = snapshot.age(created)
    deeds = _deeds(snapshot)
    silent = (f"the Pod is {seconds(age)} old and has no PodScheduled condition from the scheduler {name}",)
    last = deeds.get(name)
    heard = {other: when for other, when in deeds.items() if when > created}
    if last and last > created:
        return [
            Finding(
                "not-tried-yet",
                f"the scheduler {name} works, but has not tried the Pod yet",
                (*silent, f"it did something else at {last}"),
                "wait: it may have much to do",
            )
        ]
    down = Finding(
        "scheduler-down",
        f"the scheduler {name} does nothing: it has tried no Pod since this one was created",
        (*silent, f"the last that is known of it: {last or 'nothing'}", *_lease(snapshot)),
        "start kube-scheduler, and see its log",
    )
    unknown = Finding(
        "scheduler-unknown",
        f"no scheduler by the name of {name} is known in this cluster",
        (*silent, f"schedulers that have tried Pods: {some(sorted(deeds)) or 'none'}"),
        f"correct schedulerName (the usual one is {DEFAULT}), or start the scheduler {name}",
    )
    if last or name == DEFAULT:
        return [down] if age > PATIENCE else [_young(name, silent)]
    return [unknown] if heard else either(unknown, down)


def _young(name: str, facts: tuple[str, ...]) -> Finding:
    return Finding("not-tried-yet", f"the scheduler {name} has not tried the Pod yet", facts, "wait a moment")


def _deeds(snapshot: Snapshot) -> dict[str, str]:
    """Schedulers by name, and when each last said or did something."""
    deeds: dict[str, str] = {}
    for pod in snapshot.all("Pod"):
        condition = find_condition(pod, "PodScheduled")
        # Of a mirror Pod, which has its node from the start, the kubelet writes the condition.
        mirror = "kubernetes.io/config.mirror" in (pod["metadata"].get("annotations") or {})
        if condition and condition.get("reason") != "SchedulingGated" and not mirror:
            _note(deeds, pod["spec"].get("schedulerName", DEFAULT), condition.get("lastTransitionTime") or "")
    for event in snapshot.all("Event"):
        if event.get("reason") in ("Scheduled", "FailedScheduling"):
            component = event.get("reportingComponent") or (event.get("source") or {}).get("component") or ""
            _note(deeds, component, event_time(event)[:19] + "Z")
    return deeds


def _note(deeds: dict[str, str], name: str, when: str) -> None:
    if name:
        deeds[name] = max(when, deeds.get(name, ""))


def _lease(snapshot: Snapshot) -> tuple[str, ...]:
    for lease in snapshot.all("Lease"):
        if lease["metadata"]["name"] == "kube-scheduler":
            age = snapshot.age(lease["spec"].get("renewTime"))
            return (f"its lease was renewed {seconds(age)} ago" + (": nobody holds it" if age > _LEASE else ""),)
    return ()
