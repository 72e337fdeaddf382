"""What changed between two reports."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from rich.console import Console
from rich.table import Table

from harness.report.model import ReleaseFacts, Report, StatementResult, Verdict

Kind = Literal["regression", "improvement", "change"]

_GOOD = frozenset({Verdict.HOLDS, Verdict.DEVIATES})
#: Says nothing about the cluster: losing sight of a statement this way was the user's or the release's choice.
_NEUTRAL = frozenset({Verdict.NOT_IN_RELEASE, Verdict.NOT_SELECTED})
_UNSEEN = frozenset({Verdict.NOT_OBSERVABLE, Verdict.NO_SCENARIO, None})
_STYLES = {"regression": "red", "improvement": "green", "change": ""}


@dataclass(frozen=True)
class Change:
    """A statement whose verdict differs; `old` or `new` is None where the report does not know the statement."""

    id: str
    release: str
    provider: str
    old: Verdict | None
    new: Verdict | None
    reason: str = ""

    @property
    def sense(self) -> str:
        """What it means from one release to the next."""
        match self.old, self.new:
            case (Verdict.NOT_IN_RELEASE, Verdict.HOLDS | Verdict.DEVIATES):
                return "new in it"
            case (Verdict.HOLDS | Verdict.DEVIATES, Verdict.NOT_IN_RELEASE):
                return "no longer in it"
            case (
                Verdict.NOT_SELECTED | Verdict.NOT_OBSERVABLE | Verdict.NO_SCENARIO | None,
                Verdict.HOLDS | Verdict.DEVIATES,
            ):
                return "not comparable"
            case (_, Verdict.HOLDS):
                return "newly holds"
            case (_, Verdict.DEVIATES):
                return "now deviates"
        return "not comparable" if self.new in _NEUTRAL | _UNSEEN or self.old in _UNSEEN else "trouble"

    @property
    def kind(self) -> Kind:
        """A regression takes what held or deviated as told to something worse; between these two it is a change."""
        if self.old in _GOOD and self.new is not None and self.new not in _GOOD | _NEUTRAL:
            return "regression"
        if self.old is not None and self.old not in _GOOD | _NEUTRAL and self.new in _GOOD:
            return "improvement"
        return "change"


@dataclass(frozen=True)
class Diff:
    """All changes, regressions first."""

    changes: tuple[Change, ...]

    @property
    def exit_code(self) -> int:
        """1 where anything got worse."""
        return int(any(change.kind == "regression" for change in self.changes))

    def print(self, console: Console) -> None:
        """A table of the changes, and their number in one line."""
        if not self.changes:
            console.print("No verdict changed.")
            return
        table = Table("statement", "release", "provider", "before", "after", "why")
        for change in self.changes:
            cells = (change.id, change.release, change.provider, change.old or "-", change.new or "-", change.reason)
            table.add_row(*map(_plain, cells), style=_STYLES[change.kind])
        console.print(table)
        numbers = [f"{sum(change.kind == kind for change in self.changes)} {kind}s" for kind in _STYLES]
        console.print(", ".join(numbers), highlight=False)


def _plain(text: str) -> str:
    return str(text).replace("[", "\\[")


def diff(old: Report, new: Report) -> Diff:
    """Compare by statement, release and provider; two reports with one column each are compared column to column."""
    columns = len(old.columns) == len(new.columns) == 1
    before, after = _keyed(old.statements, by_id=columns), _keyed(new.statements, by_id=columns)
    changes = [
        _change(before.get(key), after.get(key))
        for key in dict.fromkeys([*before, *after])
        if _verdict(before.get(key)) != _verdict(after.get(key))
    ]
    return Diff(tuple(sorted(changes, key=lambda change: list(_STYLES).index(change.kind))))


def between(report: Report, old: ReleaseFacts, new: ReleaseFacts) -> Diff:
    """What one column of a report says otherwise than another: another release, or another provider."""

    def only(facts: ReleaseFacts) -> Report:
        own = (s for s in report.statements if (s.release, s.provider) == facts.column)
        return replace(report, run=replace(report.run, releases=(facts,)), statements=tuple(own))

    return diff(only(old), only(new))


def _keyed(statements: Iterable[StatementResult], *, by_id: bool) -> Mapping[tuple[str, ...], StatementResult]:
    return {(s.id,) if by_id else (s.id, s.release, s.provider): s for s in statements}


def _verdict(statement: StatementResult | None) -> Verdict | None:
    return statement.verdict if statement else None


def _change(old: StatementResult | None, new: StatementResult | None) -> Change:
    known = new or old
    if known is None:
        raise ValueError("a change needs a statement on one side")
    return Change(known.id, known.release, known.provider, _verdict(old), _verdict(new), new.reason if new else "")
