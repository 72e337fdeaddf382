import json
import os
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from harness.errors import InfrastructureError, UsageError
from harness.report import files
from harness.report.model import Json
from tests.report import sample

PAGES = {"report.json", "junit_01.xml", "report.md", "index.html"}
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "report.schema.json").read_text())


@pytest.fixture(autouse=True)
def _no_artifacts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARTIFACTS", raising=False)


def written(directory: Path) -> Json:
    files.write(sample.report(("1.36", "local"), ("1.37", "kind")), directory)
    data: Json = json.loads((directory / "report.json").read_text())
    return data


def test_report_json_keeps_to_its_schema(tmp_path: Path) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    validator.check_schema(SCHEMA)
    assert [error.message for error in validator.iter_errors(written(tmp_path))] == []


def test_the_stored_report_keeps_to_the_schema_and_can_be_read() -> None:
    stored = Path(__file__).parent / "report.json"
    jsonschema.validate(json.loads(stored.read_text()), SCHEMA)
    report = files.read(stored)
    assert json.loads(json.dumps(files.to_json(report))) == json.loads(stored.read_text())


def test_what_is_written_is_read_as_it_was(tmp_path: Path) -> None:
    report = sample.report(("1.36", "local"), ("1.37", "kind"))
    files.write(report, tmp_path)
    assert files.read(tmp_path) == files.read(tmp_path / "report.json") == report


def test_statements_about_the_harness_are_counted_apart() -> None:
    report = sample.report()
    own = replace(report.statements[0], id="HS-01", source="harness", lines="")
    others = [statement for statement in report.statements[1:] if statement.source != "harness"]
    counts = files.to_json(replace(report, statements=(own, *others)))["run"]["counts"]
    assert counts["harness"] == {"holds": 1}
    assert counts["groups"]["HS"] == {"holds": 1}
    assert sum(counts["kubernetes"].values()) == len(others)


def test_only_the_four_pages_are_written(tmp_path: Path) -> None:
    written(tmp_path / "new" / "run")
    assert {path.name for path in (tmp_path / "new" / "run").iterdir()} == PAGES


def test_rebuild_makes_the_same_pages_again(tmp_path: Path) -> None:
    written(tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in PAGES}
    for name in PAGES - {"report.json"}:
        (tmp_path / name).unlink()
    files.rebuild(tmp_path)
    assert {name: (tmp_path / name).read_bytes() for name in PAGES} == before


def test_artifacts_get_the_pages_and_the_evidence_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, artifacts = tmp_path / "run", tmp_path / "artifacts"
    (run / "evidence" / "wf-12").mkdir(parents=True)
    (run / "evidence" / "wf-12" / "events.txt").write_text("seen")
    (run / "admin.kubeconfig").write_text("secret")
    monkeypatch.setenv("ARTIFACTS", str(artifacts))
    written(run)
    copied = {path.relative_to(artifacts).as_posix() for path in artifacts.rglob("*") if path.is_file()}
    assert copied == PAGES | {"evidence/wf-12/events.txt"}


def test_artifacts_may_be_the_directory_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARTIFACTS", str(tmp_path))
    written(tmp_path)
    assert set(os.listdir(tmp_path)) == PAGES


def test_no_report_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no report at .*No such file"):
        files.rebuild(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"schema": "other/v9", "run": {}, "statements": []}',
        '{"schema": "dra-e2e.report/v1", "run": 1}',
    ],
)
def test_a_file_that_is_no_report(tmp_path: Path, content: str) -> None:
    (tmp_path / "report.json").write_text(content)
    with pytest.raises(UsageError, match="is no report of this version"):
        files.read(tmp_path)


@pytest.mark.parametrize("path", ["../../secret", "/etc"])
def test_evidence_outside_the_report_is_refused(tmp_path: Path, path: str) -> None:
    data = written(tmp_path)
    data["statements"][0]["scenarios"][0]["evidence"] = path
    (tmp_path / "report.json").write_text(json.dumps(data))
    with pytest.raises(UsageError, match="evidence outside"):
        files.rebuild(tmp_path)


def test_a_report_that_cannot_be_written_is_trouble_of_the_machine(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InfrastructureError, match="the report was not written"):
        written(tmp_path / "file")
