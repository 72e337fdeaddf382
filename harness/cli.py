"""`python -m harness …`: what is not a test run."""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from harness import report
from harness.clusters import reaper
from harness.errors import HarnessError, UsageError
from harness.report import catalogue

#: A statement is broken, a regression found, something uncovered.
NEGATIVE = 1
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code and prints one line instead of a traceback."""
    chosen = _parser().parse_args(arguments)
    try:
        code: int = chosen.command(chosen)
    except HarnessError as error:
        print(f"dra-e2e: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


class _Parser(argparse.ArgumentParser):
    """Exit code 4 for a wrong command line, as pytest has it."""

    def error(self, message: str) -> "None":  # type: ignore[override]
        self.print_usage(sys.stderr)
        self.exit(UsageError.exit_code, f"dra-e2e: {message}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m harness", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)

    def command(name: str, run: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        added: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
        added.set_defaults(command=run)
        return added

    statements = command("statements", _statements, "list the statements of the catalogue")
    statements.add_argument("groups", nargs="*", metavar="GROUP", help="groups or IDs, for example TA or WF-13")
    statements.add_argument("--uncovered", action="store_true", help="only those without scenario or control")

    reports = command("report", _no_report, "work with reports")
    actions = reports.add_subparsers(required=True, metavar="ACTION", parser_class=_Parser)
    build = actions.add_parser("build", help="build the pages again from report.json")
    build.add_argument("directory", type=Path)
    build.set_defaults(command=_build)
    diff = actions.add_parser("diff", help="compare two reports; exit code 1 on regressions only")
    diff.add_argument("old", type=Path)
    diff.add_argument("new", type=Path)
    diff.set_defaults(command=_diff)

    reap = command("reap", _reap, "remove what killed runs left behind")
    reap.add_argument("--kept", action="store_true", help="kept clusters, too")
    return parser


def _no_report(_chosen: argparse.Namespace) -> int:
    raise UsageError("say what to do with reports: build or diff")


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


def _build(chosen: argparse.Namespace) -> int:
    rebuilt = report.rebuild(chosen.directory)
    print(report.headline(rebuilt))
    print(chosen.directory / "index.html")
    return 0


def _diff(chosen: argparse.Namespace) -> int:
    found = report.diff(report.read(chosen.old), report.read(chosen.new))
    found.print(Console())
    return found.exit_code


def _reap(chosen: argparse.Namespace) -> int:
    removed = reaper.reap(kept=chosen.kept)
    print(f"removed: {', '.join(removed)}" if removed else "nothing to remove")
    return 0
