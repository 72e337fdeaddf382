"""One fault over the standard load: before, during, and how long until all is well again."""

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from harness.clusters.protocol import NotObservable
from harness.errors import InfrastructureError
from harness.faults import state
from harness.faults.fault import Fault, Target
from harness.faults.invariants import Violation, check
from harness.faults.load import Load
from harness.faults.model import Outcome
from harness.faults.prepared import prepared
from harness.kube import ApiError, WaitTimeout
from harness.kube.polling import PollTimeout, poll

_LOOK = 1.0  # seconds between two looks at what must be true in every moment
_INTERVAL = 0.2  # seconds between two looks at whether all is well again
_BEFORE = 3.0  # seconds in which the load comes and goes before the fault


class Patient(Protocol):
    """The cluster, as far as its recovery goes."""

    def is_healthy(self) -> bool:
        """Whether every component is well and every node takes Pods."""


@dataclass(frozen=True)
class _Look:
    """What is not well."""

    missing: Sequence[str]
    violations: Sequence[Violation]

    @property
    def well(self) -> bool:
        return not self.missing and not self.violations

    def __str__(self) -> str:
        return "; ".join([*self.missing, *(each.sentence for each in self.violations)])


def run(fault: Fault, target: Target, patient: Patient, load: Load) -> Outcome:
    """Let the fault strike. Raises InfrastructureError when the fault cannot be brought about or ended.

    Where it raises, as when it is interrupted, the cluster is left as broken as it is, and the load goes on.
    """
    outcome = Outcome(fault.name, fault.text, fault.bound)
    load.resume()
    with _Watch(target) as watch:
        threading.Event().wait(_BEFORE)
        began = time.monotonic()
        try:
            heal = fault.inject(target)
        except NotObservable as reason:
            load.pause()
            return replace(outcome, left_out=str(reason))
        threading.Event().wait(fault.seconds)  # a fault is nothing but time in which something is broken
        heal()
        ended = time.monotonic()
    load.pause()
    outcome = replace(outcome, lasted=ended - began, steps=load.steps, refused=load.refused, during=watch.seen)
    return _recover(outcome, fault, target, patient, load, ended)


def _recover(
    outcome: Outcome, fault: Fault, target: Target, patient: Patient, load: Load, ended: float
) -> Outcome:  # fmt: skip
    recovery = _Recovery(lambda: examine(target, patient, load), fault.steady)
    try:
        poll(recovery.look, bool, "all is well", timeout=fault.bound + fault.steady, interval=_INTERVAL)
        load.passes()
    except PollTimeout:
        return replace(outcome, missing=recovery.last.missing, violations=recovery.last.violations)
    except (WaitTimeout, ApiError, InfrastructureError) as error:
        return replace(outcome, missing=(f"a gang or a single Pod did not go through: {error}",))
    return replace(outcome, healed=recovery.since - ended, last=recovery.awaited)


class _Recovery:
    """Since when all is well."""

    def __init__(self, examine: Callable[[], _Look], steady: float) -> None:
        self._examine = examine
        self._steady = steady
        self.since = math.inf
        self.last = _Look(("nothing was looked at",), ())
        self.awaited = ""
        """What was not well in the last look in which something was not."""

    def look(self) -> bool:
        """Whether all is well, and has been for long enough."""
        self.last = self._examine()
        self.awaited = self.awaited if self.last.well else str(self.last)
        self.since = min(self.since, time.monotonic()) if self.last.well else math.inf
        return time.monotonic() - self.since >= self._steady


def examine(target: Target, patient: Patient, load: Load) -> _Look:
    """Whether the load is whole and every invariant holds."""
    missing = load.missing()
    if not missing and not patient.is_healthy():
        missing = ["a component is not healthy"]
    try:
        found = state.read(target.client, prepared(target.cluster, target.driver) if target.driver else {})
    except (ApiError, InfrastructureError) as error:
        return _Look(missing or [str(error)], ())
    return _Look(missing, check(found))


class _Watch:
    """Looks all the time at what must be true in every moment, as far as the API server answers."""

    def __init__(self, target: Target) -> None:
        self._client = target.client
        self._over = threading.Event()
        self._seen: dict[str, Violation] = {}
        self._thread = threading.Thread(target=self._look, name="invariants", daemon=True)

    @property
    def seen(self) -> tuple[Violation, ...]:
        """What did not hold, each once."""
        return tuple(self._seen.values())

    def __enter__(self) -> "_Watch":
        self._thread.start()
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        self._over.set()
        if error is None:
            self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(_LOOK):
            try:
                for violation in check(state.read(self._client), at_rest=False):
                    self._seen.setdefault(violation.sentence, violation)
            except (ApiError, InfrastructureError):
                continue
