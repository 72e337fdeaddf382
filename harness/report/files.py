"""The files of a report: written together, readable again, kept as CI artifacts."""

import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path

from harness.errors import InfrastructureError, UsageError
from harness.report import html, junit, markdown, summary, verdicts
from harness.report.model import SCHEMA, Json, Report, Run, StatementResult

JSON = "report.json"


def to_json(report: Report) -> Json:
    """The content of report.json."""
    run = {**asdict(report.run), "counts": summary.counts(report), "exit_code": verdicts.exit_code(report.statements)}
    return {"schema": SCHEMA, "run": run, "statements": [statement.to_json() for statement in report.statements]}


def from_json(data: Json) -> Report:
    """The inverse of `to_json`. Raises KeyError, TypeError, AttributeError or ValueError for something else."""
    if data["schema"] != SCHEMA:
        raise ValueError(f"schema {data['schema']!r} instead of {SCHEMA!r}")
    return Report(Run.from_json(data["run"]), tuple(StatementResult.from_json(item) for item in data["statements"]))


def read(path: Path) -> Report:
    """Read report.json, given itself or its directory. Raises UsageError where it is none."""
    file = path / JSON if path.is_dir() else path
    try:
        return from_json(json.loads(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"no report at {path}: {error.strerror}") from error
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise UsageError(f"{file} is no report of this version of dra-e2e: {type(error).__name__}: {error}") from error


def write(report: Report, directory: Path) -> None:
    """Write report.json, junit_01.xml, report.md and index.html; copy them and the evidence to $ARTIFACTS if set.

    Raises InfrastructureError where a file cannot be written.
    """
    pages = {
        JSON: (json.dumps(to_json(report), indent=1, ensure_ascii=False) + "\n").encode(),
        "junit_01.xml": junit.render(report),
        "report.md": markdown.render(report).encode(),
        "index.html": html.render(report, directory).encode(),
    }
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, content in pages.items():
            _replace(directory / name, content)
        if artifacts := os.environ.get("ARTIFACTS"):
            _copy(report, tuple(pages), directory, Path(artifacts))
    except OSError as error:
        raise InfrastructureError(f"the report was not written: {error}") from error


def home(path: Path) -> Path:
    """The directory of a report, given its report.json or the directory itself."""
    return path.parent if path.is_file() else path


def rebuild(path: Path) -> Report:
    """Write all pages again from report.json, given itself or its directory. Raises UsageError where there is none."""
    report = read(path)
    write(report, home(path))
    return report


def place(option: str, path: Path) -> Path:
    """A path that is or can be a directory: better told now than when the work is done and is to be written there.

    Raises UsageError that names the option where it is not.
    """
    there = next(parent for parent in (path.absolute(), *path.absolute().parents) if parent.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"{option} {path}: {there} is no directory that can be written to")
    return path


def _replace(path: Path, content: bytes) -> None:
    partial = path.with_name(f".{path.name}.partial")
    partial.write_bytes(content)
    partial.replace(path)


def _copy(report: Report, pages: tuple[str, ...], directory: Path, artifacts: Path) -> None:
    """Only what the report names: the run's directory may hold keys."""
    if artifacts.resolve() == directory.resolve():
        return
    artifacts.mkdir(parents=True, exist_ok=True)
    for name in pages:
        shutil.copy2(directory / name, artifacts / name)
    for result in report.scenarios().values():
        if result.evidence and (directory / result.evidence).is_dir():
            shutil.copytree(directory / result.evidence, artifacts / result.evidence, dirs_exist_ok=True)
