from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from harness.report.diff import diff
from harness.report.model import Report, Verdict
from tests.report import sample

GOOD = (Verdict.HOLDS, Verdict.DEVIATES)
BAD = (Verdict.BROKEN, Verdict.ERROR, Verdict.UNPROVED, Verdict.NOT_OBSERVABLE, Verdict.NO_SCENARIO)
OUT_OF_SIGHT = (Verdict.NOT_SELECTED, Verdict.NOT_IN_RELEASE)


def with_verdict(verdict: Verdict | None, release: str = "1.37", reason: str = "") -> Report:
    """A report with one statement, or with none."""
    report = sample.report((release, "local"))
    kept = (replace(report.statements[0], verdict=verdict, reason=reason),) if verdict else ()
    return replace(report, statements=kept)


@pytest.mark.parametrize("old", GOOD)
@pytest.mark.parametrize("new", BAD)
def test_worse_than_good_is_a_regression(old: Verdict, new: Verdict) -> None:
    found = diff(with_verdict(old), with_verdict(new))
    assert [change.kind for change in found.changes] == ["regression"]
    assert found.exit_code == 1


@pytest.mark.parametrize("new", GOOD)
@pytest.mark.parametrize("old", BAD)
def test_good_again_is_an_improvement(old: Verdict, new: Verdict) -> None:
    found = diff(with_verdict(old), with_verdict(new))
    assert [change.kind for change in found.changes] == ["improvement"]
    assert found.exit_code == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (Verdict.HOLDS, Verdict.DEVIATES),
        (Verdict.UNPROVED, Verdict.BROKEN),
        *((Verdict.HOLDS, verdict) for verdict in OUT_OF_SIGHT),
        (None, Verdict.BROKEN),
        (Verdict.HOLDS, None),
    ],
)
def test_other_changes_are_no_regression(old: Verdict | None, new: Verdict | None) -> None:
    found = diff(with_verdict(old), with_verdict(new))
    assert [change.kind for change in found.changes] == ["change"]
    assert found.exit_code == 0


def test_equal_reports_have_no_difference() -> None:
    assert diff(sample.report(), sample.report()).changes == ()


def test_two_single_columns_are_compared_across_releases() -> None:
    found = diff(with_verdict(Verdict.HOLDS, "1.36"), with_verdict(Verdict.BROKEN, "1.37"))
    assert [(change.kind, change.release) for change in found.changes] == [("regression", "1.37")]


def test_with_several_columns_each_is_compared_with_its_own() -> None:
    new = sample.report(("1.36", "local"), ("1.37", "local"))
    found = diff(sample.report(), new)
    assert {(change.release, change.old) for change in found.changes} == {("1.36", None)}


def test_regressions_are_printed_first_with_what_the_cluster_said_as_it_is() -> None:
    old = replace(
        sample.report(),
        statements=tuple(
            replace(s, verdict=v)
            for s, v in zip(sample.report().statements, (Verdict.BROKEN, Verdict.HOLDS), strict=False)
        ),
    )
    new = replace(
        old,
        statements=(
            replace(old.statements[0], verdict=Verdict.HOLDS),
            replace(old.statements[1], verdict=Verdict.BROKEN, reason="not [bold]this[/bold]"),
        ),
    )
    out = StringIO()
    diff(old, new).print(Console(file=out, width=160))
    text = out.getvalue()
    assert text.index(old.statements[1].id) < text.index(old.statements[0].id)
    assert "not [bold]this[/bold]" in text
    assert "1 regressions, 1 improvements, 0 changes" in text


@pytest.mark.parametrize(
    ("old", "new", "sense"),
    [
        (Verdict.NOT_IN_RELEASE, Verdict.HOLDS, "new in it"),
        (Verdict.NOT_IN_RELEASE, Verdict.DEVIATES, "new in it"),
        (Verdict.HOLDS, Verdict.NOT_IN_RELEASE, "no longer in it"),
        (Verdict.DEVIATES, Verdict.HOLDS, "newly holds"),
        (Verdict.NOT_SELECTED, Verdict.HOLDS, "not comparable"),
        (Verdict.NOT_OBSERVABLE, Verdict.DEVIATES, "not comparable"),
        (Verdict.BROKEN, Verdict.HOLDS, "newly holds"),
        (Verdict.HOLDS, Verdict.DEVIATES, "now deviates"),
        (Verdict.HOLDS, Verdict.BROKEN, "trouble"),
        (Verdict.NOT_IN_RELEASE, Verdict.UNPROVED, "trouble"),
        (Verdict.HOLDS, Verdict.NOT_SELECTED, "not comparable"),
        (Verdict.HOLDS, Verdict.NOT_OBSERVABLE, "not comparable"),
        (None, Verdict.BROKEN, "not comparable"),
    ],
)
def test_what_a_change_means_from_one_release_to_the_next(old: Verdict | None, new: Verdict, sense: str) -> None:
    (change,) = diff(with_verdict(old), with_verdict(new)).changes
    assert change.sense == sense
