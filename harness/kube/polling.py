"""Reading again and again, for what no watch can tell: metrics, health endpoints, processes."""

import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


def poll(
    read: Callable[[], Value], done: Callable[[Value], bool], what: str, *, timeout: float, interval: float = 0.1
) -> Value:
    """The first value of which `done` is true. The only place in the project that sleeps.

    Raises PollTimeout, which tells `what` was awaited and the last value read.
    """
    start = time.monotonic()
    while True:
        value = read()
        if done(value):
            return value
        if time.monotonic() - start >= timeout:
            raise PollTimeout(f"{what}: not so within {timeout:g} s; last read: {_short(value)}")
        time.sleep(interval)


class PollTimeout(AssertionError):
    """What was polled for did not come in time."""


def _short(value: object, limit: int = 300) -> str:
    text = str(value)
    return text if len(text) <= limit else text[:limit] + " …"
