"""`bench`: numbers."""

from harness.cli.command import Commands


def add(commands: Commands) -> None:
    """Declare the command."""
