"""`report`: pages anew, and what changed between two reports."""

import argparse
from pathlib import Path

from rich.console import Console

from harness import report
from harness.cli.command import Commands


def add(commands: Commands) -> None:
    """Declare the commands."""
    reports = commands.group("report", "work with reports")
    build = reports.add("build", _build, "build the pages again from report.json")
    build.add_argument("directory", type=Path)
    diff = reports.add("diff", _diff, "compare two reports; exit code 1 on regressions only")
    diff.add_argument("old", type=Path)
    diff.add_argument("new", type=Path)
    merge = reports.add("merge", _merge, "one report of several: releases, providers, or shards of one run")
    merge.add_argument("directories", type=Path, nargs="+", metavar="DIRECTORY")
    merge.add_argument("--output", type=Path, default=Path("reports/merged"), metavar="DIR", help="where it goes")
    export = reports.add("export", _export, "a report in the form of another programme; none certifies anything")
    export.add_argument("directory", type=Path)
    export.add_argument("--format", required=True, choices=sorted(report.FORMATS))
    export.add_argument("--output", type=Path, required=True, metavar="DIR", help="where the files go")


def _build(chosen: argparse.Namespace) -> int:
    rebuilt = report.rebuild(chosen.directory)
    print(report.headline(rebuilt))
    print(report.home(chosen.directory) / "index.html")
    return 0


def _merge(chosen: argparse.Namespace) -> int:
    merged = report.merge(chosen.directories, report.place("--output", chosen.output))
    print(report.headline(merged))
    print(chosen.output / "index.html")
    return report.exit_code(merged.statements)


def _export(chosen: argparse.Namespace) -> int:
    target = report.place("--output", chosen.output)
    for path in report.export(report.read(chosen.directory), chosen.format, target):
        print(path)
    return 0


def _diff(chosen: argparse.Namespace) -> int:
    found = report.diff(report.read(chosen.old), report.read(chosen.new))
    found.print(Console())
    return found.exit_code
