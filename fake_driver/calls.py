"""Every gRPC call that the plugins of a driver got, recorded with its time."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class ClaimRef:
    """The claim that a call is about."""

    namespace: str
    name: str
    uid: str


@dataclass(frozen=True)
class Call:
    """One call on one node, and for prepare and unprepare about one claim.

    `time` is in seconds since the epoch. `method` is the gRPC method, `version` that of its service (`v1`, …).
    `result` is None while the call runs, then `ok` or the error.
    """

    time: float
    node: str
    method: str
    version: str = ""
    claim: ClaimRef | None = None
    result: str | None = None


OK = "ok"


def registered(node: str) -> Callable[[Call], bool]:
    """For `wait_for_call`: the kubelet of the node has taken the plugin."""
    return lambda call: call.node == node and call.method == "NotifyRegistrationStatus" and call.result == OK


class CallLog:
    """The calls of one driver, in the order in which they began. Safe to use from many threads."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._version = 0
        self._changed = threading.Condition()

    def all(self) -> tuple[Call, ...]:
        """The calls so far, also those that still run."""
        with self._changed:
            return tuple(self._calls)

    def wait(self, predicate: Callable[[Call], bool], timeout: float, after: int = 0) -> Call:
        """The first call, from the `after`-th on, for which the predicate is true. Raises TimeoutError."""

        def found() -> Call | None:
            return next((call for call in self._calls[after:] if predicate(call)), None)

        with self._changed:
            call = self._changed.wait_for(found, timeout)
        if call is None:
            raise TimeoutError(f"no such call within {timeout:g} s; calls so far: {self._summary() or 'none'}")
        return call

    def news(self, seen: int, timeout: float) -> tuple[int, tuple[Call, ...]]:
        """The log's version, which grows with every change, and all calls; waits while the version is the one seen."""
        with self._changed:
            self._changed.wait_for(lambda: self._version != seen, timeout)
            return self._version, tuple(self._calls)

    @contextmanager
    def record(self, node: str, method: str, version: str = "", claim: ClaimRef | None = None) -> "Iterator[Outcome]":
        """Record a call while it runs; what the block leaves in the outcome becomes the result."""
        outcome = Outcome()
        with self._changed:
            index = len(self._calls)
            self._calls.append(Call(time.time(), node, method, version, claim))
            self._tell()
        try:
            yield outcome
        except BaseException as error:
            outcome.result = f"{type(error).__name__}: {error}"
            raise
        finally:
            with self._changed:
                self._calls[index] = replace(self._calls[index], result=outcome.result)
                self._tell()

    def _tell(self) -> None:
        self._version += 1
        self._changed.notify_all()

    def _summary(self) -> str:
        return ", ".join(f"{call.method} on {call.node} ({call.result or 'running'})" for call in self.all()[-5:])


@dataclass
class Outcome:
    """How a call ends."""

    result: str = OK
