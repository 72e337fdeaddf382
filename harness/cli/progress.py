"""What a command is doing, with the time since it began."""

import sys
import time


class Progress:
    """Writes a line per step to stderr."""

    def __init__(self) -> None:
        self._zero = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since the command began."""
        return time.monotonic() - self._zero

    def __call__(self, text: str) -> None:
        """Tell a step."""
        print(f"{self.elapsed:6.1f} s  {text}", file=sys.stderr, flush=True)
