"""`python -m harness …`: what is not a test run."""

import signal
import sys
from collections.abc import Sequence
from types import FrameType

from harness.cli import (
    chaos,
    cluster,
    driver,
    explain,
    host,
    in_cluster,
    matrix,
    measure,
    release,
    reports,
    statements,
    timeline,
)
from harness.cli.command import Commands, Parser
from harness.errors import HarnessError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code and prints one line instead of a traceback. Raises KeyboardInterrupt."""
    parser = Parser(prog="python -m harness", description=__doc__)
    commands = Commands(parser)
    for part in (
        statements,
        reports,
        cluster,
        explain,
        timeline,
        measure,
        chaos,
        matrix,
        host,
        driver,
        release,
        in_cluster,
    ):
        part.add(commands)
    chosen = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        code: int = chosen.command(chosen)
    except HarnessError as error:
        print(f"dra-e2e: {error}", file=sys.stderr)
        return error.exit_code
    return code


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    """A polite kill ends a command as Ctrl-C does: with nothing left behind."""
    raise KeyboardInterrupt
