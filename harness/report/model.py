"""What a report says, and its form as report.json (docs/report.schema.json)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from harness.evidence.recorder import Observation
from harness.releases import EMULATED_BY
from harness.timeline.model import Timeline

SCHEMA = "dra-e2e.report/v1"

Json = dict[str, Any]

#: What became of one scenario. `failed`: what it asserts is not so. `error`: it could not be tried.
#: `deselected`: collected, but the user asked for others. `not run`: the run ended before its turn.
Outcome = Literal["passed", "failed", "error", "skipped", "deselected", "not run"]

#: Why a scenario was skipped: the cluster cannot show it, or the release does not have it.
Skip = Literal["need", "release"]

#: `controls`: a run in which every scenario has its difference applied and must fail.
Mode = Literal["statements", "controls"]


class Verdict(StrEnum):
    """What is known about a statement, worst first; after `holds` come those that say nothing about the cluster."""

    BROKEN = "broken"
    ERROR = "error"
    UNPROVED = "unproved"
    DEVIATES = "deviates"
    NOT_OBSERVABLE = "not observable here"
    HOLDS = "holds"
    NOT_IN_RELEASE = "not in this release"
    NO_SCENARIO = "no scenario"
    NOT_SELECTED = "not selected"


@dataclass(frozen=True)
class Deviation:
    """The cluster is known to do something else than the documents say; `where`: releases (none named: all)."""

    statement: str
    why: str
    where: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScenarioResult:
    """What one scenario or control came to.

    `deviates` holds only the deviations that apply to this release. `duration` is in seconds, `started` in ISO 8601.
    `evidence` is a directory, relative to the report's. `difference` is the text of the scenario's own difference;
    `swapped` tells that it was applied: then `passed` means that the scenario failed, as it must, and `failed` that it
    proves nothing. `notes` are for the reader. `timeline` is what became of its Pods and devices, None without any.
    """

    nodeid: str
    outcome: Outcome
    statements: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    deviates: tuple[Deviation, ...] = ()
    reason: str = ""
    skip: Skip | None = None
    started: str = ""
    duration: float = 0.0
    observed: tuple[Observation, ...] = ()
    evidence: str = ""
    difference: str = ""
    swapped: bool = False
    notes: tuple[str, ...] = ()
    timeline: Timeline | None = None

    def to_json(self) -> Json:
        """A JSON object from which `from_json` makes an equal result."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Json) -> "ScenarioResult":
        """The inverse of `to_json`. Raises KeyError, TypeError or ValueError where the data is something else."""
        if Path(data["evidence"]).is_absolute() or ".." in Path(data["evidence"]).parts:
            raise ValueError(f"evidence outside the report's directory: {data['evidence']}")
        lists: Json = {key: tuple(data[key]) for key in ("statements", "controls", "notes")}
        lists["deviates"] = tuple(
            Deviation(item["statement"], item["why"], tuple(item["where"])) for item in data["deviates"]
        )
        lists["observed"] = tuple(Observation(**item) for item in data["observed"])
        drawn = data.get("timeline")
        return cls(**{**data, **lists, "timeline": Timeline.from_json(drawn) if drawn else None})


@dataclass(frozen=True)
class StatementResult:
    """The verdict on one statement on one release and provider, and what it rests on."""

    id: str
    release: str
    provider: str
    verdict: Verdict
    reason: str
    source: str
    lines: str
    statement: str
    negative: str
    caveat: str = ""
    scenarios: tuple[ScenarioResult, ...] = ()
    controls: tuple[ScenarioResult, ...] = ()

    @property
    def group(self) -> str:
        """The two letters in front of the number."""
        return self.id.split("-")[0]

    @property
    def results(self) -> tuple[ScenarioResult, ...]:
        """Scenarios, then controls."""
        return self.scenarios + self.controls

    def to_json(self) -> Json:
        """As asdict, with the observations of all scenarios and controls in one list."""
        data = {**asdict(self), "group": self.group, "verdict": str(self.verdict)}
        data["observed"] = [
            {"scenario": result["nodeid"], **observation}
            for result in (*data["scenarios"], *data["controls"])
            for observation in result.pop("observed")
        ]
        return data

    @classmethod
    def from_json(cls, data: Json) -> "StatementResult":
        """The inverse of `to_json`. Raises KeyError, TypeError or ValueError where the data is something else."""
        fields = {key: value for key, value in data.items() if key not in {"group", "observed"}}
        for key in ("scenarios", "controls"):
            fields[key] = tuple(_with_observations(result, data["observed"]) for result in data[key])
        return cls(**{**fields, "verdict": Verdict(data["verdict"])})


def _with_observations(result: Json, observed: list[Json]) -> ScenarioResult:
    own = [
        {key: value for key, value in item.items() if key != "scenario"}
        for item in observed
        if item["scenario"] == result["nodeid"]
    ]
    return ScenarioResult.from_json({**result, "observed": own})


@dataclass(frozen=True)
class Program:
    """A program that the clusters ran, and how it came to the machine."""

    name: str
    version: str
    sha256: str
    origin: str


@dataclass(frozen=True)
class ReleaseFacts:
    """One column of the report, and what its cluster said about itself.

    `gates`: component → feature gate → enabled, from the metric kubernetes_feature_enabled.
    `apis`: API group → served versions, from discovery. `programs`: what the clusters ran, empty where somebody else
    started them. `configuration`: the profile as this release has it (harness.clusters.resolution.Resolution).
    """

    release: str
    provider: str
    version: str
    profile: str = ""
    gates: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    apis: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    programs: tuple[Program, ...] = ()
    configuration: Json = field(default_factory=dict)

    @property
    def title(self) -> str:
        """For a reader: `Kubernetes v1.36.4 on local`, or what it is emulated by."""
        older, emulated, _ = self.release.partition(f" {EMULATED_BY} ")
        return f"Kubernetes {f'{older}{emulated}' if emulated else ''}{self.version} on {self.provider}"

    @property
    def column(self) -> tuple[str, str]:
        """What the results of this column carry."""
        return self.release, self.provider

    @classmethod
    def from_json(cls, data: Json) -> "ReleaseFacts":
        """From its JSON object. Raises KeyError, TypeError or ValueError where the data is something else."""
        apis = {group: tuple(versions) for group, versions in data.get("apis", {}).items()}
        programs = tuple(Program(**item) for item in data.get("programs", ()))
        return cls(**{**data, "apis": apis, "programs": programs})


@dataclass(frozen=True)
class Replacement:
    """A program that the user put in the place of the release's own."""

    name: str
    version: str
    sha256: str


@dataclass(frozen=True)
class Host:
    """The machine the run was on."""

    os: str
    arch: str
    cpus: int


@dataclass(frozen=True)
class Run:
    """One run. `started` in ISO 8601, `duration` in seconds; `seed` orders the scenarios, None where nothing does.

    `packages`: the Python that ran it (`python`) and the version of each package that it could import.
    """

    id: str
    started: str
    duration: float
    releases: tuple[ReleaseFacts, ...]
    host: Host
    command: tuple[str, ...]
    seed: int | None = None
    mode: Mode = "statements"
    interrupted: bool = False
    replacements: tuple[Replacement, ...] = ()
    warnings: tuple[str, ...] = ()
    packages: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: Json) -> "Run":
        """From its JSON object. Raises KeyError, TypeError or ValueError where the data is something else."""
        fields = {key: value for key, value in data.items() if key not in {"counts", "exit_code"}}
        fields["releases"] = tuple(ReleaseFacts.from_json(item) for item in data["releases"])
        fields["host"] = Host(**data["host"])
        fields["replacements"] = tuple(Replacement(**item) for item in data["replacements"])
        for key in ("command", "warnings"):
            fields[key] = tuple(data[key])
        return cls(**fields)


@dataclass(frozen=True)
class Report:
    """A run and its verdicts, in the order of the catalogue, column by column."""

    run: Run
    statements: tuple[StatementResult, ...]

    @property
    def columns(self) -> tuple[ReleaseFacts, ...]:
        """The columns of the run, and those of which there are only results, because no cluster came to speak."""
        known = {facts.column: facts for facts in self.run.releases}
        for statement in self.statements:
            key = (statement.release, statement.provider)
            known.setdefault(key, ReleaseFacts(*key, version=f"v{statement.release}"))
        return tuple(known.values())

    def scenarios(self) -> dict[tuple[str, str, str], ScenarioResult]:
        """Every scenario and control once, by release, provider and node id."""
        return {(s.release, s.provider, result.nodeid): result for s in self.statements for result in s.results}
