import pytest

from harness.kube.errors import ApiError, Cause
from harness.kube.refusals import refusal, refused

INVALID = ApiError("POST /pods", 422, "Invalid", "no", (Cause("spec.containers", "FieldValueRequired", "missing"),))


def answer(error: ApiError) -> object:
    raise error


def test_a_refusal_is_what_the_server_says() -> None:
    assert refusal(lambda: answer(INVALID)) is INVALID


def test_what_is_taken_is_no_refusal() -> None:
    with pytest.raises(AssertionError, match="took it: stored"):
        refusal(lambda: "stored")


def test_the_field_that_was_refused() -> None:
    refused(lambda: answer(INVALID), "spec.containers")


def test_another_field_than_the_one_that_was_refused() -> None:
    with pytest.raises(AssertionError, match=r"refused because of spec\.containers, not spec\.volumes"):
        refused(lambda: answer(INVALID), "spec.volumes")


def test_another_reason_than_invalid() -> None:
    with pytest.raises(AssertionError, match="not as invalid"):
        refused(lambda: answer(ApiError("POST /pods", 403, "Forbidden", "no")), "spec")
