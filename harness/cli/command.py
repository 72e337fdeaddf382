"""How a command is declared: a function of the parsed arguments that returns an exit code."""

import argparse
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from harness.errors import UsageError

Run = Callable[[argparse.Namespace], int]

#: A statement is broken, a regression found, something uncovered, a budget missed.
NEGATIVE = 1


class Parser(argparse.ArgumentParser):
    """Exit code 4 for a wrong command line, as pytest has it."""

    def error(self, message: str) -> NoReturn:
        """Tell it in one line below the usage."""
        self.print_usage(sys.stderr)
        self.exit(UsageError.exit_code, f"dra-e2e: {message}\n")


class Commands:
    """The commands of a parser."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self._commands: Any = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)

    def add(self, name: str, run: Run, text: str) -> argparse.ArgumentParser:
        """Declare a command; returns its parser for arguments."""
        added: argparse.ArgumentParser = self._commands.add_parser(name, help=text, description=text)
        added.set_defaults(command=run)
        return added

    def group(self, name: str, text: str) -> "Commands":
        """Declare a command that has commands of its own."""
        return Commands(self._commands.add_parser(name, help=text, description=text))
