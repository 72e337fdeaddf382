"""What became of each object: its versions in the order in which they arrived, and the times that tell of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from harness.evidence import Sighting
from harness.kube.resources import Obj
from harness.timeline.model import Source


@dataclass(frozen=True)
class Instant:
    """A time in seconds since the epoch, and where it comes from."""

    at: float
    source: Source


@dataclass(frozen=True)
class Version:
    """One version of an object. `arrived`: it was known then; None where only its timestamps tell.

    `prompt`: when it came as soon as it was; None where it was only read at some time later.
    """

    obj: Obj
    arrived: float | None
    prompt: float | None


@dataclass(frozen=True)
class Life:
    """One object. `gone` is when the harness saw that it does not exist any more."""

    versions: Sequence[Version]
    gone: float | None

    @property
    def last(self) -> Obj:
        """The last version that is known."""
        return self.versions[-1].obj

    @property
    def created(self) -> Instant:
        """When it was created."""
        return when(self.last["metadata"]["creationTimestamp"], self.versions[0].prompt)

    def arrival(self, predicate: Callable[[Obj], object]) -> float | None:
        """When the predicate was known to be true of a version."""
        arrivals = (v.arrived for v in self.versions if v.arrived is not None and predicate(v.obj))
        return min(arrivals, default=None)

    def prompt(self, predicate: Callable[[Obj], object]) -> float | None:
        """When the predicate became true, where that was watched."""
        first = self.arrival(predicate)
        return next((v.prompt for v in self.versions if v.arrived == first and v.prompt), None)

    @property
    def deleted(self) -> Instant | None:
        """When its deletion was asked for, or where that was not seen, when it was seen to be gone."""
        going = next((v.obj["metadata"] for v in self.versions if "deletionTimestamp" in v.obj["metadata"]), None)
        if going is None:
            return Instant(self.gone, Source.OBSERVED) if self.gone else None
        asked = seconds(going["deletionTimestamp"]) - (going.get("deletionGracePeriodSeconds") or 0)
        return within(asked, self.prompt(lambda obj: "deletionTimestamp" in obj["metadata"]))


def lives(sightings: Iterable[Sighting], objects: Iterable[Obj]) -> list[Life]:
    """The life of every object that was seen, or is there at the end, by creation."""
    found: dict[str, tuple[list[Version], list[float]]] = {}
    for seen in sightings:
        versions, gone = found.setdefault(seen.obj["metadata"]["uid"], ([], []))
        if seen.gone:
            gone.append(seen.at)
        versions.append(Version(seen.obj, seen.at, None if seen.read else seen.at))
    for obj in objects:
        found.setdefault(obj["metadata"]["uid"], ([], []))[0].append(Version(obj, None, None))
    made = [Life(_in_order(versions), min(gone, default=None)) for versions, gone in found.values()]
    return sorted(made, key=lambda life: (life.created.at, life.last["metadata"]["name"]))


def _in_order(versions: list[Version]) -> list[Version]:
    """Two watches may bring an older version later: what arrived first counts, in the order of what happened."""
    return sorted(versions, key=lambda version: int(version.obj["metadata"].get("resourceVersion") or 0))


def seconds(stamp: str) -> float:
    """A time of the API's in seconds since the epoch."""
    return datetime.fromisoformat(stamp).timestamp()


def when(stamp: str, arrived: float | None, lower: float = 0.0) -> Instant:
    """The time of something by its timestamp, or by its arrival where that tells where in the second it was."""
    if "." in stamp:
        return Instant(seconds(stamp), Source.CLUSTER)
    return within(seconds(stamp), arrived, lower)


def within(second: float, arrived: float | None, lower: float = 0.0) -> Instant:
    """As `when`, of a time in whole seconds. It did not happen before `lower`, which is something that came first."""
    if arrived is not None and second <= arrived < second + 1:
        return Instant(arrived, Source.OBSERVED)
    return Instant(max(second, lower) if lower < second + 1 else second, Source.CLUSTER)


def iso(at: float) -> str:
    """Seconds since the epoch, as the API writes times."""
    return (datetime.fromisoformat("1970-01-01T00:00:00+00:00") + timedelta(seconds=round(at, 3))).isoformat()
