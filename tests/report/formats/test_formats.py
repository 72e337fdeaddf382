from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from harness.report.formats import FORMATS, export
from harness.report.model import Report, Verdict
from tests.report import sample


def good() -> Report:
    """Only statements of which every scenario passed."""
    report = sample.report()
    held = tuple(s for s in report.statements if s.verdict is Verdict.HOLDS)
    return replace(report, statements=held)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_written_to_a_directory_of_its_own(tmp_path: Path, name: str) -> None:
    files = export(sample.report(), name, tmp_path / "out")
    assert files
    assert all(path.stat().st_size for path in files)


def log(report: Report) -> list[str]:
    return FORMATS["submission"](report)["e2e.log"].decode().splitlines()


def test_the_log_ends_with_the_numbers_and_never_counts_a_skip_or_an_error_as_passed() -> None:
    passed = sum(result.outcome == "passed" for result in sample.results())
    assert log(sample.report())[-1] == f"FAIL! -- {passed} Passed | 2 Failed | 0 Pending | 2 Skipped"
    assert log(good())[-1].startswith("SUCCESS! -- ")


def test_nothing_at_all_is_no_success() -> None:
    assert log(replace(sample.report(), statements=()))[-1] == "FAIL! -- 0 Passed | 0 Failed | 0 Pending | 0 Skipped"


def test_the_log_says_what_it_is_not() -> None:
    assert "not the conformance suite" in log(good())[0]


def test_the_product_is_a_draft() -> None:
    product = yaml.safe_load(FORMATS["submission"](good())["PRODUCT.yaml"])
    assert product["vendor"] == "[vendor]"
    assert "Kubernetes v1.37.2 on local" in product["description"]


def results(report: Report) -> dict[str, object]:
    loaded: dict[str, object] = yaml.safe_load(FORMATS["sonobuoy"](report)["sonobuoy_results.yaml"])
    return loaded


def test_sonobuoy_gets_a_tree_that_fails_where_a_leaf_fails() -> None:
    assert results(sample.report())["status"] == "failed"
    assert results(good())["status"] == "passed"
    assert results(replace(sample.report(), statements=()))["status"] == "unknown"


def test_sonobuoy_gets_failures_with_their_reason() -> None:
    text = FORMATS["sonobuoy"](sample.report())["sonobuoy_results.yaml"].decode()
    assert "did not become scheduled within 30.0 s" in text
    assert "verdict: broken" in text


def test_an_item_is_implemented_only_where_all_its_statements_hold() -> None:
    text = FORMATS["ai-checklist"](sample.report())["checklist-1.37-local.yaml"]
    items = {item["id"]: item for items in yaml.safe_load(text)["spec"].values() for item in items}
    assert items["gang_scheduling"]["status"] == ""
    assert items["gang_scheduling"]["evidence"] == []
    access = items["secure_accelerator_access"]
    assert access["status"] == "Partially Implemented"
    assert access["evidence"] == ["junit_01.xml"]
    assert "WF-22 not observable here" in access["notes"]
