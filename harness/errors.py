"""The two ways in which the harness itself can fail; a broken statement is neither of them."""


class HarnessError(Exception):
    """One clear line for the user: what is wrong and what to do. Commands print it without a traceback."""

    exit_code = 3


class UsageError(HarnessError):
    """The user asked for something that cannot be: unknown release, gate, profile, option. Exit code 4."""

    exit_code = 4


class InfrastructureError(HarnessError):
    """Nothing could be said about a statement: a program did not start, no space is left. Exit code 3."""
