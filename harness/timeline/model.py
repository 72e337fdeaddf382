"""What a time axis shows: a lane per Pod and per device, with spans of time in a state and moments."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Literal

Json = dict[str, Any]

Kind = Literal["Pod", "device"]


class Source(StrEnum):
    """Where the time of a moment comes from."""

    #: A timestamp in an object, which most often is in whole seconds.
    CLUSTER = "cluster"
    #: When the harness got to know: the arrival of a version of the object, or a call to the driver.
    OBSERVED = "observed"


class State(StrEnum):
    """What a Pod or a device is in for a span of time."""

    # Pods
    GATED = "gated"
    PENDING = "pending"
    WAITING = "waiting"
    BOUND = "bound"
    RUNNING = "running"
    ENDING = "ending"
    # devices
    PUBLISHED = "published"
    ALLOCATED = "allocated"
    ATTACHED = "attached"
    PREPARED = "prepared"
    # both
    FAILED = "failed"
    #: Beside every other state of a device.
    TAINTED = "tainted"


@dataclass(frozen=True)
class Moment:
    """Something that happened, `at` seconds after the axis begins; `text` says more of it."""

    at: float
    what: str
    source: Source
    text: str = ""


@dataclass(frozen=True)
class Span:
    """A state from `start` to `end`, in seconds after the axis begins; `text` says more of it."""

    start: float
    end: float
    state: State
    text: str = ""


@dataclass(frozen=True)
class Lane:
    """One Pod or device; spans and moments by time."""

    kind: Kind
    name: str
    spans: tuple[Span, ...] = ()
    moments: tuple[Moment, ...] = ()


@dataclass(frozen=True)
class Timeline:
    """Lanes on one axis. `start` in ISO 8601, `length` in seconds; `omitted`: devices and Pods that have no lane."""

    start: str
    length: float
    lanes: tuple[Lane, ...]
    omitted: int = 0

    def to_json(self) -> Json:
        """A JSON object from which `from_json` makes an equal timeline."""
        return asdict(self, dict_factory=_plain)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Timeline":
        """The inverse of `to_json`. Raises KeyError, TypeError or ValueError where the data is something else."""
        lanes = tuple(
            Lane(
                lane["kind"],
                lane["name"],
                tuple(Span(**{**span, "state": State(span["state"])}) for span in lane["spans"]),
                tuple(Moment(**{**moment, "source": Source(moment["source"])}) for moment in lane["moments"]),
            )
            for lane in data["lanes"]
        )
        return cls(**{**data, "lanes": lanes})


def _plain(items: list[tuple[str, Any]]) -> Json:
    """Workers of pytest send plain strings only."""
    return {key: str(value) if isinstance(value, StrEnum) else value for key, value in items}
