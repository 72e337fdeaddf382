"""The timeline of a scenario: what was done and what was observed, each with its time."""

import time
from dataclasses import asdict, dataclass
from typing import Any, Literal

#: What a gang waits for: more of its own Pods, or room for as many as it needs.
Lack = Literal["quorum", "resources"]


@dataclass(frozen=True)
class Observation:
    """One line of the timeline. `at` is in seconds since the scenario began.

    Where the line is a measurement, `measure` names what was measured and `seconds` is how long it took. Where it tells
    of a gang that is held back, `object` is the gang and `lacks` what it waits for.
    """

    at: float
    text: str
    object: str = ""
    measure: str = ""
    seconds: float | None = None
    lacks: Lack | Literal[""] = ""


class Recorder:
    """Collects what a scenario does and sees; the waits of `harness.kube` report to it as their observer."""

    def __init__(self) -> None:
        self.started = time.time()
        self._zero = time.monotonic()
        self.timeline: list[Observation] = []

    def note(self, text: str, obj: dict[str, Any] | None = None) -> None:
        """Add a line to the timeline."""
        self.timeline.append(Observation(round(time.monotonic() - self._zero, 3), text, name_of(obj) if obj else ""))

    def observed(self, text: str, obj: dict[str, Any] | None = None, seconds: float | None = None) -> None:
        """Add what a wait saw, and after how many seconds of waiting."""
        self.note(text if seconds is None else f"{text} (after {seconds:.2f} s)", obj)

    def measured(self, measure: str, seconds: float, text: str) -> None:
        """Add a measurement; the report shows the percentiles of all measurements of the same name."""
        at = round(time.monotonic() - self._zero, 3)
        self.timeline.append(Observation(at, text, measure=measure, seconds=round(seconds, 3)))

    def held(self, gang: str, lacks: Lack, text: str) -> None:
        """Add what a held gang lacks, by what the cluster says; the report has a table of them."""
        at = round(time.monotonic() - self._zero, 3)
        self.timeline.append(Observation(at, f"held for {lacks}: {text}", f"gang {gang}", lacks=lacks))

    def entries(self) -> list[dict[str, Any]]:
        """The timeline as plain data, for the report."""
        return [asdict(observation) for observation in self.timeline]


def name_of(obj: dict[str, Any]) -> str:
    """`Kind namespace/name` of an object, as people write it."""
    metadata = obj.get("metadata", {})
    path = "/".join(part for part in (metadata.get("namespace"), metadata.get("name")) if part)
    return f"{obj.get('kind', '')} {path}".strip()
