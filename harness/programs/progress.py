"""What is going on, on stderr, with the time it takes: a live line on a terminal, else a plain line now and then."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

#: Seconds between two plain lines.
PLAIN_INTERVAL = 15.0

#: Tells how far a step is, in a few words such as `12 of 80 MB`.
Report = Callable[[str], None]


@contextmanager
def step(text: str) -> Iterator[Report]:
    """Show that a step takes its time, until the block ends."""
    with _live(text) if sys.stderr.isatty() else _plain(text) as report:
        yield report


@contextmanager
def _live(text: str) -> Iterator[Report]:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(text, total=None)
        yield lambda detail: progress.update(task, description=f"{text} ({detail})")


@contextmanager
def _plain(text: str) -> Iterator[Report]:
    started = time.monotonic()
    over = threading.Event()
    state = [text]

    def speak() -> None:
        while not over.wait(PLAIN_INTERVAL):
            print(f"{state[0]}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)

    speaker = threading.Thread(target=speak, daemon=True)
    speaker.start()
    try:
        yield lambda detail: state.__setitem__(0, f"{text} ({detail})")
    finally:
        over.set()
        speaker.join()
