"""Failures and delays that a test orders: what the plugin does instead of its work."""

import threading
import time
from dataclasses import dataclass
from typing import Literal

Operation = Literal["NodePrepareResources", "NodeUnprepareResources"]


@dataclass(eq=False)  # two equal faults are still two
class _Fault:
    operation: Operation
    node: str | None
    times: int | None
    message: str = ""
    seconds: float | None = 0.0

    def applies(self, operation: Operation, node: str) -> bool:
        return self.operation == operation and self.node in (None, node) and self.times != 0


class Faults:
    """The faults in force, oldest first. A fault applies `times` times, or until `clear`, on a node or on all."""

    def __init__(self) -> None:
        self._faults: list[_Fault] = []
        self._changed = threading.Condition()

    def fail(self, operation: Operation, message: str, times: int | None = None, node: str | None = None) -> None:
        """Answer with the error `message`."""
        self._add(_Fault(operation, node, times, message=message))

    def delay(
        self, operation: Operation, seconds: float | None, times: int | None = None, node: str | None = None
    ) -> None:
        """Answer `seconds` later; None: when the faults are cleared."""
        self._add(_Fault(operation, node, times, seconds=seconds))

    def clear(self) -> None:
        """End all faults; delayed calls go on at once."""
        with self._changed:
            self._faults.clear()
            self._changed.notify_all()

    def meet(self, operation: Operation, node: str) -> str:
        """Sit out the delays that apply; return the error message of the first failure that applies, else ''."""
        with self._changed:
            due = [fault for fault in self._faults if fault.applies(operation, node)]
            delays = [fault for fault in due if not fault.message]
            failures = [fault for fault in due if fault.message][:1]
            for fault in delays + failures:
                fault.times = None if fault.times is None else fault.times - 1
            for fault in delays:
                self._sit_out(fault)
        return failures[0].message if failures else ""

    def _sit_out(self, fault: _Fault) -> None:
        end = None if fault.seconds is None else time.monotonic() + fault.seconds
        self._changed.wait_for(lambda: fault not in self._faults, None if end is None else end - time.monotonic())

    def _add(self, fault: _Fault) -> None:
        with self._changed:
            self._faults.append(fault)
