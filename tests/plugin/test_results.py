from typing import Any

import pytest

from harness.plugin.results import ATTRIBUTE, Results

ONE, OTHER = "scenarios/test_it.py::test_one", "tests/test_it.py::test_other"


def data(outcome: str, reason: str = "") -> dict[str, Any]:
    return {
        "nodeid": ONE,
        "outcome": outcome,
        "statements": ["WF-01"],
        "controls": [],
        "deviates": [],
        "reason": reason,
        "skip": None,
        "started": "2026-01-01T00:00:00+00:00",
        "duration": 1.0,
        "observed": [],
        "evidence": "",
        "difference": "",
        "swapped": False,
        "notes": [],
    }


def report(nodeid: str, outcome: str | None, *, failed: bool = False) -> pytest.TestReport:
    made = pytest.TestReport(nodeid, ("", 0, ""), {}, "failed" if failed else "passed", "it broke", "call")
    if outcome:
        setattr(made, ATTRIBUTE, data(outcome))
    return made


@pytest.fixture
def results() -> Results:
    made = Results()
    made.collected([data("not run")])
    return made


def outcomes(results: Results) -> list[str]:
    return [result.outcome for result in results.all()]


def test_a_scenario_that_did_not_run_is_known(results: Results) -> None:
    assert outcomes(results) == ["not run"]
    assert not results.any()


def test_a_passed_scenario(results: Results) -> None:
    results.add(report(ONE, "passed"))
    assert outcomes(results) == ["passed"]


@pytest.mark.parametrize("worse", ["failed", "error"])
def test_the_worst_of_call_and_teardown_stays(results: Results, worse: str) -> None:
    results.add(report(ONE, "passed"))
    results.add(report(ONE, worse, failed=True))
    assert outcomes(results) == [worse]
    results.add(report(ONE, "passed"))
    assert outcomes(results) == [worse]


def test_trouble_on_leaving_does_not_hide_a_broken_statement(results: Results) -> None:
    results.add(report(ONE, "failed", failed=True))
    results.add(report(ONE, "error", failed=True))
    assert outcomes(results) == ["failed"]


def test_a_worker_that_died_makes_its_scenario_an_error_not_a_failure(results: Results) -> None:
    results.add(report(ONE, None, failed=True))
    (result,) = results.all()
    assert (result.outcome, result.reason) == ("error", "it broke")
    assert not results.others_failed()


def test_a_failed_test_that_is_no_scenario_is_told_apart(results: Results) -> None:
    results.add(report(OTHER, None))
    assert not results.others_failed()
    results.add(report(OTHER, None, failed=True))
    assert results.others_failed()
