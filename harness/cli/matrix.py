"""`matrix`: every supported release on every provider asked for, and one report."""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from harness import matrix, report
from harness.cli.command import Commands
from harness.cli.progress import Progress
from harness.clusters import providers
from harness.errors import UsageError


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add(
        "matrix", _matrix, "run every release on every provider, one run each, and merge their reports"
    )
    parser.add_argument("--k8s", default="", metavar="RELEASES", help='for example "1.36 1.37" (every supported one)')
    parser.add_argument("--emulate", default="", metavar="RELEASES", help="those that the newest emulates, too (none)")
    parser.add_argument("--providers", default="local", metavar="NAMES", help='for example "local kind" (local)')
    parser.add_argument("--at-once", type=int, metavar="N", help="cells at the same time (what this machine bears)")
    parser.add_argument(
        "--reports", type=Path, default=Path("reports"), metavar="DIR", help="where matrix-<time>/ goes"
    )
    parser.add_argument("arguments", nargs="*", metavar="-- ARGUMENT", help="of pytest, for every cell")


def _matrix(chosen: argparse.Namespace) -> int:
    wanted = matrix.cells(_words(chosen.k8s), _words(chosen.providers), providers.PROVIDERS, _words(chosen.emulate))
    if chosen.at_once is not None and chosen.at_once < 1:
        raise UsageError(f"--at-once must be at least 1, not {chosen.at_once}")
    if not Path("scenarios").is_dir():
        raise UsageError("no scenarios/ here: run it in the directory of the suite")
    target = report.place("--reports", chosen.reports) / f"matrix-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    number = chosen.at_once or matrix.at_once()
    tell = Progress()
    tell(f"cells: {len(wanted)}, {min(number, len(wanted))} at a time: {', '.join(map(str, wanted))}")
    done = matrix.run(wanted, target, chosen.arguments, number, tell)
    written = [one.report for one in done if one.report]
    if not written:
        print(f"dra-e2e: no cell wrote a report; their outputs are in {target / 'cells'}", file=sys.stderr)
        return matrix.exit_code(done)
    merged = report.merge(written, target)
    print(report.headline(merged))
    print(target / "index.html")
    return matrix.exit_code(done)


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()
