"""The health of a node's devices, as a test sets it and as the kubelet watches it."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum


class Status(IntEnum):
    """Health of a device; the numbers are those of the health service."""

    UNKNOWN = 0
    HEALTHY = 1
    UNHEALTHY = 2


@dataclass(frozen=True)
class Health:
    """What the driver says about a device.

    The kubelet takes the device's health for unknown when it hears nothing for `timeout` seconds (0: its default, 30).
    """

    status: Status = Status.HEALTHY
    message: str = ""
    timeout: int = 0


class HealthBoard:
    """Health by pool and device; healthy unless set. Safe to use from many threads."""

    def __init__(self) -> None:
        self._health: dict[tuple[str, str], Health] = {}
        self._changed = threading.Condition()
        self._version = 0

    def set(self, pool: str, device: str, health: Health) -> None:
        """Set the health of a device."""
        with self._changed:
            self._health[pool, device] = health
        self.wake()

    def get(self, pool: str, device: str) -> Health:
        """The health of a device."""
        with self._changed:
            return self._health.get((pool, device), Health())

    def wake(self) -> None:
        """Let the watchers look again."""
        with self._changed:
            self._version += 1
            self._changed.notify_all()

    @property
    def version(self) -> int:
        """Grows with every change."""
        with self._changed:
            return self._version

    def wait(self, seen: int, ended: Callable[[], bool], timeout: float) -> None:
        """Return when the version is no longer `seen`, when `ended()` after a `wake`, or after `timeout` seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._version != seen or ended(), timeout)
