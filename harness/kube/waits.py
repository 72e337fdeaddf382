"""Waits that watch, and explain themselves when what they wait for does not come."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from harness.errors import InfrastructureError
from harness.kube import predicates
from harness.kube.client import Client, event_namespace, event_selector
from harness.kube.errors import ApiError
from harness.kube.polling import PollTimeout, poll
from harness.kube.predicates import Predicate
from harness.kube.resources import Obj, reference
from harness.kube.states import Selection, States, states
from harness.kube.summary import describe, describe_event

Value = TypeVar("Value")

#: How much later than what it tells an Event may come, in seconds. Senders write Events in the background, and the
#: scheduler's stops for that long when it renews the Events of the last minutes, once in six, on a busy machine.
EVENT_LAG = 20.0

#: How many of an object's Events a timeout shows: the last ones.
_EVENTS_SHOWN = 10


class Observer(Protocol):
    """Keeps the timeline of a scenario."""

    def observed(self, text: str, obj: Obj | None = None, seconds: float | None = None) -> None:
        """A wait ended: what was seen, of which object, after how many seconds of waiting."""


class Explainer(Protocol):
    """Finds the reason why an object is as it is."""

    def explain(self, client: Client, obj: Obj) -> str | None:
        """The finding in a few lines, None if there is none."""


class WaitTimeout(AssertionError):
    """What a wait waited for did not come; the text tells what was there instead."""


@dataclass(frozen=True)
class Waiter:
    """The waits of one scenario: they share its client, report to its observer, ask its explainer.

    `time_factor` stretches every timeout, for slow machines. Timeouts are in seconds.
    """

    client: Client
    observer: Observer | None = None
    explainer: Explainer | None = None
    time_factor: float = 1.0

    def wait(self, obj: Obj, predicate: Predicate[Obj], timeout: float = 30) -> Obj:
        """The object, as it was when the predicate first held.

        An object with a uid is that very object: a later one of the same name counts as its absence, and once it is
        gone the wait fails at once. Raises WaitTimeout.
        """
        meta = obj["metadata"]
        selection = Selection(obj["kind"], meta.get("namespace"), field_selector=f"metadata.name={meta['name']}")
        start = time.monotonic()
        last: Obj | None = None
        for current in states(self.client, selection, start + timeout * self.time_factor):
            last = _identity(next(iter(current.values()), None), meta.get("uid"))
            if predicate(last):
                self._observed(str(predicate), last or _name_of(obj), start)
                return last or obj
            if last is None and meta.get("uid"):
                break
        raise self._timeout(reference(obj), predicate, start, describe(last), last or obj)

    def wait_gone(self, obj: Obj, timeout: float = 30) -> None:
        """Return when the object does not exist any more. Raises WaitTimeout."""
        self.wait(obj, predicates.gone(), timeout)

    def wait_account(self, timeout: float = 30) -> None:
        """Return when the client's namespace has the account of its Pods: before, none is taken. Raises WaitTimeout."""
        account = {"kind": "ServiceAccount", "metadata": {"name": "default", "namespace": self.client.namespace}}
        self.wait(account, predicates.exists(), timeout)

    def wait_any(
        self, kind: str, predicate: Predicate[Sequence[Obj]], timeout: float = 30, *, namespace: str | None = None,
        label_selector: str | None = None, field_selector: str | None = None,
    ) -> list[Obj]:  # fmt: skip
        """The selected objects of a kind, as they were when the predicate first held of the set. Raises WaitTimeout."""
        selection = Selection(kind, namespace, label_selector, field_selector)
        start = time.monotonic()
        current: States = {}
        for current in states(self.client, selection, start + timeout * self.time_factor):
            found = list(current.values())
            if predicate(found):
                self._observed(f"{kind}: {predicate}", found[0] if found else None, start)
                return found
        last = "\n  ".join(f"{reference(obj)}: {describe(obj)}" for obj in current.values()) or "none exists"
        raise self._timeout(f"{kind} set", predicate, start, last, None)

    def wait_event(self, obj: Obj, reason: str | None = None, contains: str | None = None, timeout: float = 30) -> Obj:
        """The first Event about the object with that reason and text, EVENT_LAG late at most. Raises WaitTimeout."""
        wanted = predicates.event(reason, contains)
        selection = Selection("Event", event_namespace(obj), field_selector=event_selector(obj))
        start = time.monotonic()
        for current in states(self.client, selection, start + (timeout + EVENT_LAG) * self.time_factor):
            found = next((event for event in current.values() if wanted(event)), None)
            if found:
                self._observed(describe_event(found), obj, start)
                return found
        raise self._timeout(reference(obj), wanted, start, describe(self._find(obj)), obj)

    def wait_reasons(self, obj: Obj, *reasons: str, timeout: float = 30) -> list[str]:
        """The reasons of the Events about the object once one of these is among them. Raises WaitTimeout."""
        wanted = Predicate[Obj](f"reason {' or '.join(reasons)}", lambda found: found.get("reason") in reasons)
        events = self.wait_any("Event", predicates.any_of(wanted), timeout, field_selector=event_selector(obj))
        return [str(found.get("reason")) for found in events]

    def poll(
        self, read: Callable[[], Value], done: Callable[[Value], bool], what: str, timeout: float = 30,
        interval: float = 0.1,
    ) -> Value:  # fmt: skip
        """The first value of which `done` is true, read every `interval` seconds. Raises WaitTimeout."""
        start = time.monotonic()
        try:
            value = poll(read, done, what, timeout=timeout * self.time_factor, interval=interval)
        except PollTimeout as error:
            raise WaitTimeout(str(error)) from None
        self._observed(what, None, start)
        return value

    def _observed(self, text: str, obj: Obj | None, start: float) -> None:
        if self.observer:
            self.observer.observed(text, obj, time.monotonic() - start)

    def _find(self, obj: Obj) -> Obj | None:
        return _identity(self.client.find(obj), obj["metadata"].get("uid"))

    def _timeout(
        self, subject: str, predicate: Predicate[Obj] | Predicate[Sequence[Obj]], start: float, last: str,
        obj: Obj | None,
    ) -> WaitTimeout:  # fmt: skip
        lines = [f"{subject} is not {predicate!s} after {time.monotonic() - start:.1f} s", f"  last state: {last}"]
        if obj is not None:
            lines += self._background(obj)
        self._observed(lines[0], obj, start)
        return WaitTimeout("\n".join(lines))

    def _background(self, obj: Obj) -> list[str]:
        try:
            lines = [f"  event: {describe_event(event)}" for event in self.client.events(obj)[-_EVENTS_SHOWN:]]
            finding = self.explainer.explain(self.client, obj) if self.explainer else None
        except (ApiError, InfrastructureError) as error:
            # What failed is the wait; why nothing more can be said about it is a detail of that.
            return [f"  no more is known: {error}"]
        return (lines or ["  no events"]) + ([f"  finding: {finding}"] if finding else [])


def _name_of(obj: Obj) -> Obj:
    """What is left of an object that is gone: nothing else is worth reading about it."""
    meta = obj["metadata"]
    return {"kind": obj["kind"], "metadata": {key: meta[key] for key in ("name", "namespace") if key in meta}}


def _identity(obj: Obj | None, uid: str | None) -> Obj | None:
    """The object if it is the one with that uid, None otherwise."""
    return obj if obj and uid in (None, obj["metadata"]["uid"]) else None
