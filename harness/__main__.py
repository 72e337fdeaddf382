"""`python -m harness`."""

import sys


def run() -> int:
    """Run the command line; an interruption has its one line and its exit code from the very beginning."""
    try:
        from harness.cli import main  # noqa: PLC0415 - the imports take a while, in which Ctrl-C may come, too

        return main()
    except KeyboardInterrupt:
        print("dra-e2e: interrupted", file=sys.stderr)
        # Ctrl-C within an exec of text (a dataclass is made so) would still end Python by the signal: an exec that ends
        # well takes that back.
        exec("")  # noqa: S102
        return 2


if __name__ == "__main__":
    sys.exit(run())
