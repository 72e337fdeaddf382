from dataclasses import replace

import pytest

from harness.report import catalogue
from harness.report.model import Deviation, ScenarioResult, StatementResult, Verdict
from harness.report.verdicts import assess, exit_code
from tests.report.sample import control, scenario, statements

SHOWN = scenario("WF-01", "a")
CONTROL = control("WF-01")
DEVIATES = replace(SHOWN, nodeid="x::dev", deviates=(Deviation("WF-01", "it rejects instead"),))
FAILED = replace(SHOWN, nodeid="x::failed", outcome="failed", reason="two\nlines")
ERROR = replace(SHOWN, nodeid="x::error", outcome="error", reason="no etcd")
NEED = replace(SHOWN, nodeid="x::need", outcome="skipped", skip="need", reason="needs container")
RELEASE = replace(SHOWN, nodeid="x::release", outcome="skipped", skip="release", reason="since 1.37")
BARE_SKIP = replace(SHOWN, nodeid="x::skip", outcome="skipped", reason="flaky today")
NOT_RUN = replace(SHOWN, nodeid="x::late", outcome="not run")
LEFT_OUT = replace(SHOWN, nodeid="x::out", outcome="deselected")


def judge(*results: ScenarioResult) -> StatementResult:
    found = assess(catalogue.load(), results, release="1.37", provider="local")
    return next(statement for statement in found if statement.id == "WF-01")


@pytest.mark.parametrize(
    ("results", "verdict"),
    [
        ((SHOWN, CONTROL), Verdict.HOLDS),
        ((DEVIATES, CONTROL), Verdict.DEVIATES),
        ((FAILED, CONTROL), Verdict.BROKEN),
        ((SHOWN, replace(CONTROL, outcome="failed")), Verdict.BROKEN),
        ((replace(DEVIATES, outcome="failed"), CONTROL), Verdict.BROKEN),
        ((ERROR, CONTROL), Verdict.ERROR),
        ((SHOWN, replace(CONTROL, outcome="error")), Verdict.ERROR),
        ((NOT_RUN, CONTROL), Verdict.ERROR),
        ((BARE_SKIP, CONTROL), Verdict.ERROR),
        ((SHOWN,), Verdict.UNPROVED),
        ((DEVIATES,), Verdict.UNPROVED),
        ((SHOWN, replace(CONTROL, outcome="deselected")), Verdict.UNPROVED),
        ((SHOWN, replace(CONTROL, outcome="skipped", skip="release")), Verdict.UNPROVED),
        ((SHOWN, replace(CONTROL, outcome="skipped", skip="need")), Verdict.NOT_OBSERVABLE),
        ((NEED, CONTROL), Verdict.NOT_OBSERVABLE),
        ((NEED,), Verdict.NOT_OBSERVABLE),
        ((RELEASE, CONTROL), Verdict.NOT_IN_RELEASE),
        ((RELEASE, replace(CONTROL, outcome="failed")), Verdict.BROKEN),
        ((LEFT_OUT, replace(CONTROL, outcome="deselected")), Verdict.NOT_SELECTED),
        ((CONTROL,), Verdict.NO_SCENARIO),
        ((), Verdict.NO_SCENARIO),
    ],
)
def test_one_verdict(results: tuple[ScenarioResult, ...], verdict: Verdict) -> None:
    assert judge(*results).verdict is verdict


WORST_FIRST = (FAILED, ERROR, DEVIATES, NEED, SHOWN, RELEASE, LEFT_OUT)


@pytest.mark.parametrize("worse", range(len(WORST_FIRST) - 1))
def test_the_worst_wins_whatever_the_order(worse: int) -> None:
    alone = judge(WORST_FIRST[worse], CONTROL).verdict
    for better in WORST_FIRST[worse + 1 :]:
        assert judge(WORST_FIRST[worse], better, CONTROL).verdict is alone
        assert judge(better, WORST_FIRST[worse], CONTROL).verdict is alone


def test_unproved_is_between_error_and_deviates() -> None:
    assert judge(ERROR, SHOWN).verdict is Verdict.ERROR
    assert judge(DEVIATES, SHOWN).verdict is Verdict.UNPROVED
    assert judge(NEED, SHOWN).verdict is Verdict.UNPROVED


def test_a_deviation_of_another_statement_says_nothing_about_this_one() -> None:
    assert judge(replace(SHOWN, deviates=(Deviation("WF-02", "other"),)), CONTROL).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("results", "reason"),
    [
        ((FAILED, CONTROL), "failed: two"),
        ((NEED, CONTROL), "needs container"),
        ((DEVIATES, CONTROL), "it rejects instead"),
        ((BARE_SKIP, CONTROL), "skip was skipped for no accepted reason: flaky today"),
        ((SHOWN,), "it has no control"),
        ((SHOWN, replace(CONTROL, outcome="error", reason="gone")), "control test_wf_01_comes_out_otherwise: gone"),
    ],
)
def test_the_reason_is_one_line(results: tuple[ScenarioResult, ...], reason: str) -> None:
    assert judge(*results).reason == reason


def test_a_scenario_that_passes_under_its_difference_proves_nothing() -> None:
    unmoved = replace(SHOWN, swapped=True, outcome="failed", reason="still passes although x: it proves nothing")
    assert judge(unmoved, LEFT_OUT).verdict is Verdict.UNPROVED
    assert judge(replace(SHOWN, swapped=True)).verdict is Verdict.HOLDS


def test_what_was_not_selected_is_not_judged() -> None:
    found = assess(catalogue.load(), (FAILED, CONTROL), release="1.37", provider="local", selected={"WF-02"})
    verdicts = {statement.id: statement.verdict for statement in found}
    assert verdicts["WF-01"] is Verdict.NOT_SELECTED
    assert verdicts["WF-02"] is Verdict.NO_SCENARIO


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ((SHOWN, CONTROL), 0),
        ((DEVIATES, CONTROL), 0),
        ((NEED, CONTROL), 0),
        ((RELEASE, CONTROL), 0),
        ((), 0),
        ((FAILED, CONTROL), 1),
        ((FAILED, ERROR, CONTROL), 1),
        ((SHOWN,), 1),
        ((SHOWN, replace(CONTROL, outcome="deselected")), 0),
        ((replace(SHOWN, swapped=True), replace(CONTROL, outcome="deselected")), 0),
        ((replace(SHOWN, swapped=True, outcome="failed"), replace(CONTROL, outcome="deselected")), 1),
        ((ERROR, CONTROL), 3),
        ((NOT_RUN, CONTROL), 3),
    ],
)
def test_exit_code(results: tuple[ScenarioResult, ...], code: int) -> None:
    assert exit_code([judge(*results)]) == code


def test_a_broken_statement_outweighs_one_that_could_not_be_tried() -> None:
    assert exit_code([judge(ERROR, CONTROL), judge(FAILED, CONTROL)]) == 1


def test_the_sample_has_every_verdict() -> None:
    assert {statement.verdict for statement in statements()} == set(Verdict)
