"""Work that a second signal must not cut short: a half-removed cluster helps nobody."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_POLITE = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def uninterrupted(what: str) -> Iterator[None]:
    """Until the block ends, SIGINT and SIGTERM are answered with a line and do nothing else.

    Signals come to the main thread only; elsewhere there is nothing to do.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def answer(_signal: int, _frame: FrameType | None) -> None:
        print(f"dra-e2e: {what}; this ends by itself", file=sys.stderr)

    before = {number: signal.signal(number, answer) for number in _POLITE}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
