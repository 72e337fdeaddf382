"""The answer in one sentence, and the numbers behind it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta

from harness.report.model import Json, Report, StatementResult, Verdict

#: Verdicts on statements that the run put under test.
UNDER_TEST = (Verdict.BROKEN, Verdict.ERROR, Verdict.UNPROVED, Verdict.DEVIATES, Verdict.HOLDS)
_TROUBLE = {
    Verdict.BROKEN: ("is broken", "are broken"),
    Verdict.ERROR: ("could not be tried", "could not be tried"),
    Verdict.UNPROVED: ("is unproved", "are unproved"),
}


def count(statements: Iterable[StatementResult]) -> dict[Verdict, int]:
    """How often each verdict was given, worst first, only those that were."""
    counted = Counter(statement.verdict for statement in statements)
    return {verdict: counted[verdict] for verdict in Verdict if counted[verdict]}


def count_groups(statements: Iterable[StatementResult]) -> dict[str, dict[Verdict, int]]:
    """`count` for each group."""
    groups: dict[str, list[StatementResult]] = {}
    for statement in statements:
        groups.setdefault(statement.group, []).append(statement)
    return {group: count(members) for group, members in groups.items()}


def about_kubernetes(statements: Iterable[StatementResult]) -> list[StatementResult]:
    """Without the statements about the harness itself."""
    return [statement for statement in statements if statement.source != "harness"]


def counts(report: Report) -> Json:
    """The numbers of a run as they stand in report.json."""
    about_harness = [statement for statement in report.statements if statement.source == "harness"]
    return {
        "kubernetes": count(about_kubernetes(report.statements)),
        "harness": count(about_harness),
        "groups": count_groups(report.statements),
    }


def headline(report: Report) -> str:
    """One sentence: does the cluster do what the documents say?"""
    statements = about_kubernetes(report.statements)
    numbers = count(statements)
    tested = sum(numbers.get(verdict, 0) for verdict in UNDER_TEST)
    if not tested:
        return "No statement about Kubernetes was under test."
    if report.run.mode == "controls":
        return _controls_headline(numbers, tested)
    good = f"{numbers.get(Verdict.HOLDS, 0)} of {tested} statements under test hold"
    if deviating := numbers.get(Verdict.DEVIATES, 0):
        good += f", {deviating} {'deviates' if deviating == 1 else 'deviate'} in a known way"
    trouble = [_count(numbers[verdict], *verb) for verdict, verb in _TROUBLE.items() if verdict in numbers]
    return f"{', '.join([good, *trouble])}."


def _controls_headline(numbers: dict[Verdict, int], tested: int) -> str:
    proving = numbers.get(Verdict.HOLDS, 0) + numbers.get(Verdict.DEVIATES, 0)
    return f"With its difference applied, the scenarios of {proving} of {tested} statements fail as they must."


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def subject(report: Report) -> str:
    """What was looked at: versions and providers."""
    return ", ".join(facts.title for facts in report.columns)


def duration(seconds: float) -> str:
    """A duration as a person reads it: 0.42 s, 12.3 s, 0:03:20."""
    if seconds < 10:
        return f"{seconds:.2f} s"
    return f"{seconds:.1f} s" if seconds < 60 else str(timedelta(seconds=round(seconds)))


def source(statement: StatementResult) -> str:
    """Where the statement comes from."""
    names = {
        "dra-docs": "the DRA documentation",
        "v1.37-article": "the v1.37 article",
        "beyond": "beyond the documents",
    }
    name = names.get(statement.source, "the harness itself")
    return f"{name}, lines {statement.lines}" if statement.lines else name


def remarkable(statements: Sequence[StatementResult]) -> list[StatementResult]:
    """What a reader must see: everything under test that does not simply hold, worst first."""
    shown = [s for s in statements if s.verdict in UNDER_TEST and s.verdict is not Verdict.HOLDS]
    return sorted(shown, key=lambda statement: list(Verdict).index(statement.verdict))
