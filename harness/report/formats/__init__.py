"""A report in the forms that other programs and programmes take. None of them certifies anything."""

from collections.abc import Callable, Mapping
from pathlib import Path

from harness.errors import InfrastructureError
from harness.report import junit
from harness.report.formats import checklist, sonobuoy, submission
from harness.report.model import Report

#: Format → the files that it consists of, made of a report.
FORMATS: Mapping[str, Callable[[Report], Mapping[str, bytes]]] = {
    "submission": submission.files,
    "sonobuoy": sonobuoy.files,
    "ai-checklist": lambda report: {**checklist.files(report), "junit_01.xml": junit.render(report)},
}


def export(report: Report, name: str, target: Path) -> list[Path]:
    """Write a report in one of FORMATS to a directory; returns the files. Raises InfrastructureError."""
    written = []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for file, content in FORMATS[name](report).items():
            (target / file).write_bytes(content)
            written.append(target / file)
    except OSError as error:
        raise InfrastructureError(f"{target} cannot be written: {error.strerror}") from error
    return written


__all__ = ["FORMATS", "export"]
