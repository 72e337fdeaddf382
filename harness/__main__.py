"""`python -m harness`."""

import sys


def run() -> int:
    """Run the command line; an interruption has its one line and its exit code from the very beginning."""
    try:
        from harness.cli import main  # noqa: PLC0415 - the imports take a while, in which Ctrl-C may come, too

        return main()
    except KeyboardInterrupt:
        print("dra-e2e: interrupted", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(run())
