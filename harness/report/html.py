"""The report as one self-contained page."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from markupsafe import Markup

from harness import pages, releases
from harness.report import held, latency, summary
from harness.report.catalogue import GROUPS
from harness.report.diff import Change, between
from harness.report.model import Outcome, ReleaseFacts, Report, ScenarioResult, StatementResult, Verdict
from harness.timeline import svg

#: What a change from release to release means, in the order of a page.
_SENSES = ("trouble", "now deviates", "newly holds", "new in it", "no longer in it", "not comparable")

_SIGNS = {
    Verdict.BROKEN: "✕",
    Verdict.ERROR: "!",
    Verdict.UNPROVED: "?",
    Verdict.DEVIATES: "≠",
    Verdict.NOT_OBSERVABLE: "◌",
    Verdict.HOLDS: "✓",
    Verdict.NOT_IN_RELEASE: "\N{EN DASH}",
    Verdict.NO_SCENARIO: "∅",
    Verdict.NOT_SELECTED: "·",
}
_OUTCOME_SIGNS: dict[Outcome, str] = {
    "passed": "✓",
    "failed": "✕",
    "error": "!",
    "skipped": "◌",
    "deselected": "·",
    "not run": "!",
}


@dataclass(frozen=True)
class Mark:
    """One line of a timeline; `left` is its place on the scenario's time axis, in percent."""

    at: str
    left: float
    text: str
    object: str


@dataclass(frozen=True)
class GateRow:
    """A feature gate and what each component of the cluster says of it; None where it does not know the gate."""

    name: str
    states: tuple[bool | None, ...]


@dataclass(frozen=True)
class Step:
    """What changed from one release to the next one on the same provider."""

    old: ReleaseFacts
    new: ReleaseFacts
    changes: tuple[Change, ...]
    news: tuple[str, ...]
    """What the newer release has otherwise, by the data of both."""

    @property
    def by_sense(self) -> dict[str, list[Change]]:
        """The changes under what they mean, the weightiest first."""
        found = {sense: [change for change in self.changes if change.sense == sense] for sense in _SENSES}
        return {sense: changes for sense, changes in found.items() if changes}


def _together(statements: Iterable[StatementResult]) -> list[tuple[StatementResult, list[StatementResult]]]:
    """What is the same in several columns once: the first of them, and all of them."""
    found: dict[tuple[str, Verdict, str], list[StatementResult]] = {}
    for statement in statements:
        found.setdefault((statement.id, statement.verdict, statement.reason), []).append(statement)
    return [(same[0], same) for same in found.values()]


def _pairs(columns: Sequence[ReleaseFacts]) -> list[tuple[ReleaseFacts, ReleaseFacts]]:
    """Of the columns of one provider, newest first, which to compare: the newer one and the older one."""
    real = {column.release: column for column in columns if releases.EMULATED_BY not in column.release}
    played = [
        (column, real[older])
        for column in columns
        if column.release not in real and (older := column.release.split(f" {releases.EMULATED_BY} ")[0]) in real
    ]
    return [*pairwise(real.values()), *played]


class _Page:
    """What the template asks."""

    def __init__(self, report: Report, directory: Path) -> None:
        self.run = report.run
        self.report = report
        self.headline = summary.headline(report)
        self.subject = summary.subject(report)
        self.counts = summary.count(summary.about_kubernetes(report.statements))
        self.tested = {v: number for v, number in self.counts.items() if v in summary.UNDER_TEST}
        self.remarkable = _together(summary.remarkable(report.statements))
        self.latencies = latency.latencies(report)
        self.held = held.held(report)
        self.axis_style = Markup(svg.style())  # noqa: S704  # our own file
        self.verdicts = tuple(Verdict)
        self.signs = _SIGNS
        self.outcome_signs = _OUTCOME_SIGNS
        self.exit_tone = next((v for v in (Verdict.BROKEN, Verdict.ERROR, Verdict.UNPROVED) if v in self.counts), None)
        self._directory = directory
        self._drawn: set[tuple[str, str]] = set()

    @property
    def groups(self) -> dict[str, str]:
        """Groups of which there is a statement, with their titles."""
        present = {statement.group for statement in self.report.statements}
        return {group: title for group, title in GROUPS.items() if group in present}

    def members(self, group: str) -> list[StatementResult]:
        """The statements of a group by number, the columns of one statement side by side."""
        return sorted((s for s in self.report.statements if s.group == group), key=lambda s: s.id)

    def cell(self, group: str, column: ReleaseFacts) -> dict[Verdict, int]:
        """The numbers of one cell of the matrix."""
        return summary.count(s for s in self.members(group) if (s.release, s.provider) == column.column)

    @property
    def steps(self) -> list[Step]:
        """From release to release, newest first, of each provider; then from a release to who emulates it."""
        columns: dict[str, list[ReleaseFacts]] = {}
        for facts in self.report.columns:
            columns.setdefault(facts.provider, []).append(facts)
        pairs = [pair for own in columns.values() for pair in _pairs(own)]
        return [
            Step(old, new, between(self.report, old, new).changes, releases.news(old.release, new.release))
            for new, old in pairs
        ]

    def side_by_side(self, group: str) -> dict[str, list[StatementResult | None]]:
        """The statements of a group by id, each with its result in every column; None where a column has none."""
        results = {(s.id, s.release, s.provider): s for s in self.members(group)}
        ids = dict.fromkeys(s.id for s in self.members(group))
        return {i: [results.get((i, *facts.column)) for facts in self.report.columns] for i in ids}

    def timeline(self, result: ScenarioResult) -> list[Mark]:
        """The observations of a scenario, placed on its time axis."""
        end = max([result.duration, *(seen.at for seen in result.observed)]) or 1.0
        return [
            Mark(f"{seen.at:.2f}", round(100 * seen.at / end, 2), seen.text, seen.object) for seen in result.observed
        ]

    def axis(self, result: ScenarioResult) -> Markup:
        """The Pods and devices of a scenario on one axis: once, where it serves several statements."""
        key = (result.nodeid, result.started)
        if result.timeline is None or key in self._drawn:
            return Markup("")
        self._drawn.add(key)
        return Markup(svg.inline(result.timeline))  # noqa: S704  # the picture's own template escapes what it shows

    def evidence(self, result: ScenarioResult) -> list[tuple[str, str]]:
        """Name and address of each file of evidence that is there."""
        if not result.evidence:
            return []
        root = self._directory / result.evidence
        files = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
        return [(name, quote(str(PurePosixPath(result.evidence) / name))) for name in files]

    def gates(self, facts: ReleaseFacts) -> list[GateRow]:
        """Every gate that a component reported, by name."""
        names = sorted({name for gates in facts.gates.values() for name in gates})
        return [GateRow(name, tuple(gates.get(name) for gates in facts.gates.values())) for name in names]


def render(report: Report, directory: Path) -> str:
    """The page; it links to the evidence that is in `directory`, where it is going to be."""
    templates = pages.environment("harness.report")
    templates.filters |= {"slug": _slug, "duration": summary.duration, "origin": summary.source, "words": _words}
    return templates.get_template("index.html.j2").render(page=_Page(report, directory))


def _slug(text: str) -> str:
    """A class or fragment name."""
    return re.sub(r"[^A-Za-z0-9-]+", "-", text).strip("-")


def _words(statement: StatementResult) -> str:
    """What the text filter searches."""
    results: Sequence[ScenarioResult] = statement.results
    parts: Iterable[str] = (statement.id, statement.statement, statement.reason, *(r.nodeid for r in results))
    return " ".join(" ".join(parts).lower().split())
