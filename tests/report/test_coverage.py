import pytest

from harness.errors import UsageError
from harness.report import catalogue
from harness.report.coverage import uncovered
from tests.report.sample import control, scenario


def test_what_has_no_scenario_or_no_control_is_listed() -> None:
    collected = [scenario("ER-01", "a"), control("ER-01"), scenario("ER-02", "b"), control("ER-03")]
    gaps = [str(gap) for gap in uncovered(catalogue.load(), collected, ["ER"])]
    assert gaps == [
        "ER-02: no control",
        "ER-03: no scenario",
        "ER-04: no scenario and no control",
        "ER-05: no scenario and no control",
    ]


def test_no_group_means_all() -> None:
    assert len(uncovered(catalogue.load(), [])) == len(catalogue.load())


def test_an_unknown_group_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown statement QQ"):
        uncovered(catalogue.load(), [], ["QQ"])
