"""What the scheduler and the kubelet have said of a Pod, in conditions and Events."""

import re
from dataclasses import dataclass

from harness.explain.model import many
from harness.explain.snapshot import Snapshot, event_count, event_time
from harness.kube.predicates import find_condition
from harness.kube.resources import Obj


@dataclass(frozen=True)
class Word:
    """What the scheduler said of its last attempt: `reason` is Unschedulable or SchedulerError, empty for nothing."""

    reason: str = ""
    message: str = ""
    since: str = ""

    def __contains__(self, text: str) -> bool:
        return text in self.message

    @property
    def fact(self) -> str:
        """The word as a fact."""
        return f"PodScheduled=False, {self.reason}, since {self.since}: {short(self.message)}"


def last_word(pod: Obj) -> Word:
    """The scheduler's last word about a Pod that it has not bound."""
    found = find_condition(pod, "PodScheduled")
    if found is None or found["status"] != "False" or found.get("reason") == "SchedulingGated":
        return Word()
    return Word(found.get("reason", ""), found.get("message", ""), found.get("lastTransitionTime", ""))


def saying(snapshot: Snapshot, pod: Obj, reason: str, text: str = "") -> list[Obj]:
    """The Events about the Pod with that reason and text, oldest first."""
    return [e for e in snapshot.events_of(pod) if e.get("reason") == reason and text in (e.get("message") or "")]


def told(events: list[Obj]) -> str:
    """How often, and when last, Events of one sort came."""
    return f"{many(sum(map(event_count, events)), 'time')}, last at {event_time(events[-1])}"


def short(text: str, length: int = 400) -> str:
    """A text in one line, cut where it is too long."""
    line = re.sub(r"\s+", " ", text).strip()
    return line if len(line) <= length else line[: length - 1] + "…"
