"""From objects, Events and what was seen when to lanes on one axis; a pure function."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from harness.evidence import Sighting
from harness.kube.predicates import AllocatedDevice
from harness.kube.resources import Obj
from harness.timeline import pods
from harness.timeline.devices import Device, Seen, devices
from harness.timeline.facts import Call, Fact
from harness.timeline.lives import Life, iso, lives
from harness.timeline.model import Lane, Moment, Source, Span, State, Timeline

#: Lanes of a scenario's picture: so many devices, those to which something happened first, and so many Pods.
DEVICES = PODS = 16
#: Of devices to which nothing happened a few show what there was.
_IDLE = 4
#: Texts of the cluster are cut: the picture shows what happened, not every word of it.
_TEXT = 160


def collect(
    objects: Iterable[Obj] = (), sightings: Iterable[Sighting] = (), calls: Sequence[Call] = (), *,
    start: float | None = None, end: float, pods_shown: int = PODS, devices_shown: int = DEVICES,
) -> Timeline | None:  # fmt: skip
    """The lanes from `start` to `end` (seconds since the epoch; without start: from the first Pod or claim on).

    `objects` are those that exist at the end, `sightings` what was seen before. None where there is nothing to draw.
    """
    kinds: dict[str, list[Life]] = {}
    for life in lives(sightings, objects):
        kinds.setdefault(life.last["kind"], []).append(life)
    events = [life.last for life in kinds.get("Event", ())]
    own, claims = kinds.get("Pod", []), kinds.get("ResourceClaim", [])
    if not own and not claims:
        return None
    seen = Seen(claims, own, kinds.get("ResourceSlice", ()), kinds.get("DeviceTaintRule", ()), events, calls)
    axis = _Axis(min(life.created.at for life in (*own, *claims)) if start is None else start, end)
    found = devices(seen)
    shown = _shown(found, devices_shown)
    return Timeline(
        iso(axis.start),
        round(axis.end - axis.start, 3),
        (
            *(axis.device(key, found[key]) for key in shown),
            *(axis.pod(pod, pods.facts(pod, _of(pod, claims), events)) for pod in own[:pods_shown]),
        ),
        len(found) - len(shown) + len(own[pods_shown:]),
    )


def _of(pod: Life, claims: Iterable[Life]) -> list[Life]:
    """The claims that are, or were, reserved for the Pod."""
    uid = pod.last["metadata"]["uid"]
    return [
        claim
        for claim in claims
        if any(
            consumer.get("uid") == uid
            for version in claim.versions
            for consumer in (version.obj.get("status") or {}).get("reservedFor") or ()
        )
    ]


def _shown(found: dict[AllocatedDevice, Device], most: int) -> list[AllocatedDevice]:
    eventful = [key for key, device in found.items() if device.eventful]
    idle = [key for key, device in found.items() if not device.eventful]
    return sorted([*eventful, *idle[:_IDLE]][:most])


class _Axis:
    """Puts facts on the axis; what is before or after it is put at its end."""

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = max(end, start + 0.001)

    def pod(self, life: Life, facts: Sequence[Fact]) -> Lane:
        """The lane of a Pod."""
        gone = next((fact.instant.at for fact in facts if fact.what == "gone"), self.end)
        return Lane("Pod", life.last["metadata"]["name"], self._spans(facts, gone), self._moments(facts))

    def device(self, key: AllocatedDevice, device: Device) -> Lane:
        """The lane of a device; its taints are beside its states."""
        facts = list(device.facts)
        for name, begin, end in device.taints:
            facts.append(Fact(begin, "tainted", None, name))
            facts += [Fact(end, "taint gone", None, name)] if end else []
        spans = self._spans(device.facts, self.end) + tuple(
            Span(self._place(begin.at), self._place(end.at if end else self.end), State.TAINTED, name)
            for name, begin, end in device.taints
        )
        return Lane("device", "/".join((key.driver, key.pool, key.device)), spans, self._moments(facts))

    def _spans(self, facts: Sequence[Fact], end: float) -> tuple[Span, ...]:
        """Each state lasts until the next one begins, or what it is a state of is no more."""
        changes = [fact for fact in facts if fact.state or fact.what in ("gone", "withdrawn")]
        ends = [*(later.instant.at for _, later in pairwise(changes)), end]
        return tuple(
            Span(self._place(fact.instant.at), self._place(until), fact.state, fact.text[:_TEXT])
            for fact, until in zip(changes, ends, strict=True)
            if fact.state and self._place(until) > self._place(fact.instant.at)
        )

    def _moments(self, facts: Iterable[Fact]) -> tuple[Moment, ...]:
        """What happened before the axis begins is no moment on it: its state stands at the begin."""
        ordered = sorted(facts, key=lambda fact: fact.instant.at)
        return tuple(
            Moment(self._place(fact.instant.at), fact.what, Source(fact.instant.source), fact.text[:_TEXT])
            for fact in ordered
            if self.start - 1 <= fact.instant.at <= self.end + 1
        )

    def _place(self, at: float) -> float:
        return round(min(max(at, self.start), self.end) - self.start, 3)
