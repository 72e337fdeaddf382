"""What each gang that was held back lacked, as the cluster told it."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.report.model import Report, ScenarioResult, StatementResult


@dataclass(frozen=True)
class Held:
    """A held gang: `lacks` is `quorum` (too few of its Pods exist) or `resources` (no room for as many as it needs).

    `statement` is the first of those that its scenario is about.
    """

    statement: StatementResult
    scenario: str
    gang: str
    lacks: str
    text: str


def held(report: Report) -> list[Held]:
    """Every held gang of every scenario, those that lack the same side by side."""
    found = [
        Held(statement, result.nodeid.rsplit("::", 1)[-1], seen.object.removeprefix("gang "), seen.lacks, seen.text)
        for statement, result in _once(report)
        for seen in result.observed
        if seen.lacks
    ]
    return sorted(found, key=lambda gang: gang.lacks)


def _once(report: Report) -> Iterable[tuple[StatementResult, ScenarioResult]]:
    """Every scenario and control of each column, with the first statement that it is about."""
    first: dict[tuple[str, str, str], tuple[StatementResult, ScenarioResult]] = {}
    for statement in report.statements:
        for result in statement.results:
            first.setdefault((statement.release, statement.provider, result.nodeid), (statement, result))
    return first.values()
