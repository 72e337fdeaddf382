"""`statements`: the catalogue, and what of it no scenario shows."""

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from harness import report
from harness.cli.command import NEGATIVE, Commands
from harness.errors import UsageError
from harness.report import catalogue


def add(commands: Commands) -> None:
    """Declare the command."""
    statements = commands.add("statements", _statements, "list the statements of the catalogue")
    statements.add_argument("groups", nargs="*", metavar="GROUP", help="groups or IDs, for example TA or WF-13")
    statements.add_argument("--uncovered", action="store_true", help="only those without scenario or control")


def _statements(chosen: argparse.Namespace) -> int:
    statements = catalogue.load()
    if not chosen.uncovered:
        ids = statements.select(",".join(chosen.groups)) if chosen.groups else tuple(statements)
        for identifier in ids:
            print(f"{identifier}  {statements[identifier].statement}")
        return 0
    gaps = report.uncovered(statements, _collected(), chosen.groups)
    for gap in gaps:
        print(gap)
    return NEGATIVE if gaps else 0


@dataclass(frozen=True)
class _Marked:
    statements: tuple[str, ...]
    controls: tuple[str, ...]


def _collected() -> list[_Marked]:
    """The markers of all scenarios, from pytest itself: collecting starts nothing."""
    with tempfile.NamedTemporaryFile("r", suffix=".tsv") as listing:
        command = [sys.executable, "-m", "pytest", "scenarios", "--collect-only", "-q", f"--list-marks={listing.name}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 5):
            raise UsageError(f"the scenarios cannot be collected:\n{done.stdout}{done.stderr}")
        rows = [line.rstrip("\n").split("\t") for line in listing]
    return [_Marked(tuple(shown.split(",")), tuple(controlled.split(","))) for shown, controlled in rows]
