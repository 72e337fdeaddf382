import pytest

from harness.errors import InfrastructureError, UsageError
from harness.kube import ApiError
from harness.kube.waits import WaitTimeout
from harness.plugin import outcome


def refusal(status: int) -> ApiError:
    return ApiError("POST /api/v1/pods", status, "Invalid", "it says no")


@pytest.mark.parametrize(
    "error", [AssertionError("no"), WaitTimeout("it did not come"), refusal(409), refusal(422)], ids=repr
)
def test_an_answer_of_the_cluster_other_than_stated_breaks_the_statement(error: Exception) -> None:
    assert outcome.of_exception(error) == "failed"


@pytest.mark.parametrize(
    "error",
    [InfrastructureError("gone"), UsageError("no such gate"), refusal(500), refusal(503), KeyError("status")],
    ids=repr,
)
def test_trouble_says_nothing_about_the_statement(error: Exception) -> None:
    assert outcome.of_exception(error) == "error"


def test_under_its_difference_only_a_failed_assertion_proves_a_scenario() -> None:
    assert outcome.inverted(AssertionError("no"), ["the gate is off"])[0] == "passed"
    assert outcome.inverted(None, ["the gate is off"])[0] == "failed"
    assert outcome.inverted(InfrastructureError("gone"), ["the gate is off"])[0] == "error"


def test_a_scenario_that_names_no_difference_proves_nothing_by_failing() -> None:
    assert outcome.inverted(AssertionError("no"), [])[0] == "failed"


@pytest.mark.parametrize("applied", [False, True])
def test_a_difference_is_named_whether_it_is_applied_or_not(applied: bool) -> None:
    texts: list[str] = []
    assert outcome.Difference(applied, texts)("the gate is off") is applied
    assert texts == ["the gate is off"]


@pytest.mark.parametrize(
    ("stated", "others_failed", "troubled", "code"),
    [
        (0, False, False, 0),
        (0, False, True, 3),
        (3, False, False, 3),
        (1, False, False, 1),
        (1, False, True, 1),
        (3, True, False, 1),
        (0, True, True, 1),
    ],
)
def test_a_broken_statement_wins_over_trouble(stated: int, others_failed: bool, troubled: bool, code: int) -> None:
    assert outcome.exit_code(stated, others_failed, troubled) == code


def test_a_refusal_that_did_not_come_breaks_the_statement() -> None:
    with pytest.raises(pytest.fail.Exception) as missed, pytest.raises(ValueError, match="refused"):
        pass
    assert outcome.of_exception(missed.value) == "failed"
