"""What a benchmark has measured, and the budgets of the project that it stands against."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

#: The version of bench.json.
SCHEMA = 2


@dataclass(frozen=True)
class Series:
    """Samples of one kind, in seconds, in the order in which they were taken."""

    name: str
    title: str
    samples: tuple[float, ...]

    @property
    def median(self) -> float:
        """Half of the samples are not above it."""
        return statistics.median(self.samples)

    def percentile(self, percent: float) -> float:
        """The smallest sample that is not exceeded by `percent` of them (nearest rank)."""
        return sorted(self.samples)[max(0, math.ceil(len(self.samples) * percent / 100) - 1)]


@dataclass(frozen=True)
class Backlog:
    """How fast the scheduler binds Pods that all wait when it starts, in rounds."""

    workload: str
    title: str
    nodes: int
    devices: int
    """Of each node, in one slice."""
    pods: int
    """That wait, in each round."""
    rounds: tuple[tuple[int, float], ...]
    """How many were bound within the time box, and seconds from the scheduler's first trace to the last of them."""

    @property
    def key(self) -> tuple[str, int, int, int]:
        """What two measurements must have in common to stand beside each other."""
        return self.workload, self.nodes, self.devices, self.pods

    @property
    def rates(self) -> tuple[float, ...]:
        """Pods bound in a second, in each round."""
        return tuple(bound / seconds if seconds else 0.0 for bound, seconds in self.rounds)

    @property
    def rate(self) -> float:
        """The median of them."""
        return statistics.median(self.rates)

    @property
    def complete(self) -> bool:
        """Whether every Pod was bound within the time box, in every round."""
        return all(bound == self.pods for bound, _ in self.rounds)


@dataclass(frozen=True)
class Budget:
    """A number to keep."""

    title: str
    measured: float
    limit: float
    unit: str

    @property
    def kept(self) -> bool:
        """Whether it was."""
        return self.measured <= self.limit


@dataclass(frozen=True)
class Machine:
    """Where it was measured; other work on it makes every number worse."""

    system: str
    processor: str
    cpus: int
    memory_gib: float
    load: float
    """Processes that wanted a processor in the minute before, on average."""


@dataclass(frozen=True)
class Bench:
    """One benchmark."""

    started: str
    release: str
    provider: str
    profile: str
    machine: Machine
    series: tuple[Series, ...]
    backlogs: tuple[Backlog, ...] = ()
    changed: tuple[str, ...] = ()
    """What was not the release's own: programs and flags, as they were given."""
    seconds: float = 0.0
    """How long it took."""
    beside: "Bench | None" = None
    """What it stands against: an earlier one, or the release's own programs, measured in turn with it."""

    @property
    def name(self) -> str:
        """What tells it from the one beside it."""
        if self.changed:
            return f"with {', '.join(self.changed)}"
        return f"{self.release}, {self.started[:16].replace('T', ' ')}"

    def __getitem__(self, name: str) -> Series:
        return next(series for series in self.series if series.name == name)

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """The budgets of what was measured."""
        names = {series.name for series in self.series}
        return tuple(budget(self) for needed, budget in _BUDGETS if names >= set(needed))

    def to_json(self) -> dict[str, Any]:
        """The content of bench.json; percentiles and budgets are there for readers, samples are what counts."""
        return {
            "schema": SCHEMA,
            **asdict(self),
            "series": [{**asdict(series), **_summary(series)} for series in self.series],
            "backlogs": [{**asdict(each), "pods_per_second": round(each.rate, 2)} for each in self.backlogs],
            "budgets": [{**asdict(budget), "kept": budget.kept} for budget in self.budgets],
            "beside": self.beside.to_json() if self.beside else None,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Bench":
        """The inverse. Raises KeyError, TypeError or ValueError for something else."""
        if data["schema"] != SCHEMA:
            raise ValueError(f"schema {data['schema']!r} instead of {SCHEMA!r}")
        series = tuple(Series(each["name"], each["title"], tuple(each["samples"])) for each in data["series"])
        backlogs = tuple(
            Backlog(
                **{key: each[key] for key in ("workload", "title", "nodes", "devices", "pods")},
                rounds=tuple((bound, seconds) for bound, seconds in each["rounds"]),
            )
            for each in data["backlogs"]
        )
        facts = {key: data[key] for key in ("started", "release", "provider", "profile", "seconds")}
        return cls(
            **facts,
            machine=Machine(**data["machine"]),
            series=series,
            backlogs=backlogs,
            changed=tuple(data["changed"]),
            beside=cls.from_json(data["beside"]) if data["beside"] else None,
        )


def _summary(series: Series) -> dict[str, float]:
    return {
        "median": series.median,
        "p95": series.percentile(95),
        "p99": series.percentile(99),
        "max": max(series.samples),
    }


#: Which series each needs, and the budget itself: the numbers to keep of docs/architecture.md.
_BUDGETS: Sequence[tuple[Sequence[str], Callable[[Bench], Budget]]] = (
    (
        ("floor", "start"),
        lambda bench: Budget(
            "Start of a whole cluster, in starts of its etcd and API server alone (medians)",
            bench["start"].median / bench["floor"].median,
            2.5,
            "times",
        ),
    ),
    (
        ("teardown",),
        lambda bench: Budget("Removal of a cluster (slowest)", max(bench["teardown"].samples), 2.0, "s"),
    ),
    (
        ("empty scenario",),
        lambda bench: Budget("From one empty scenario to the next (median)", bench["empty scenario"].median, 0.3, "s"),
    ),
    (
        ("wake-up",),
        lambda bench: Budget("A wait notices an acknowledged write (p99)", bench["wake-up"].percentile(99), 0.05, "s"),
    ),
)
