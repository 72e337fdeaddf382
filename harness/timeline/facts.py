"""What happened to one Pod or device, before it is put on an axis."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.kube.resources import Obj
from harness.timeline.lives import Instant, when
from harness.timeline.model import State


@dataclass(frozen=True)
class Fact:
    """Something that happened. With it begins a `state`; None: it goes on with the one before it."""

    instant: Instant
    what: str
    state: State | None = None
    text: str = ""


@dataclass(frozen=True)
class Call:
    """What the kubelet asked a driver to do for a claim; `error` empty where that was done."""

    at: float
    method: str
    claim: str
    error: str = ""


def about(events: Iterable[Obj], obj: Obj) -> list[Obj]:
    """The Events about this very object, by time."""
    own = [each for each in events if (each.get("involvedObject") or {}).get("uid") == obj["metadata"]["uid"]]
    return sorted(own, key=_stamp)


def happened(event: Obj, lower: float = 0.0) -> Instant:
    """When an Event happened first; not before `lower`, where it says no more than the second."""
    return when(_stamp(event), None, lower)


def _stamp(event: Obj) -> str:
    return str(event.get("eventTime") or event.get("firstTimestamp") or event["metadata"]["creationTimestamp"])
