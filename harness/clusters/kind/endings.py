"""Components that end as soon as they start: their node starts them again and again, and they never become ready."""

import re
import time
from collections.abc import Callable
from typing import NamedTuple

from harness.clusters.last_words import last_words
from harness.errors import InfrastructureError

#: Another start does not change these words; others may come from what a component still waits for.
_REFUSAL = re.compile(
    r'^(?:Error:|panic:|[EF]\d{4} .*"command failed").*'
    r"(?:unrecognized feature gate|cannot set feature gate|unknown (?:shorthand )?flag|invalid argument).*$",
    re.MULTILINE,
)

#: Ends after which a component is given up, whatever it says.
_TOO_MANY = 2

_INTERVAL = 1.0  # seconds between two looks, which take a command in the node each


def refusal(log: str) -> str | None:
    """The line with which a component refuses its command line or configuration, if it does."""
    found = _REFUSAL.search(log)
    return found.group() if found else None


class Ending(NamedTuple):
    """The last end of a component in its node."""

    of: str
    """What has ended: another one each time."""
    log: str
    """The last lines that it wrote."""


class Endings:
    """The ends of one component from now on."""

    def __init__(self, name: str, read: Callable[[], Ending | None]) -> None:
        self._name = name
        self._read = read
        self._known: set[str] | None = None
        self._new: set[str] = set()
        self._next = 0.0

    def check(self) -> None:
        """Raise InfrastructureError with its own words when waiting for the component is vain."""
        if time.monotonic() < self._next:
            return
        ending = self._read()
        self._next = time.monotonic() + _INTERVAL
        if self._known is None:
            self._known = {ending.of} if ending else set()
        if ending is None:
            return
        if ending.of not in self._known:
            self._new.add(ending.of)
        if refusal(ending.log) or len(self._new) >= _TOO_MANY:
            raise InfrastructureError(f"{self._name} ended by itself: {last_words(ending.log)}")
