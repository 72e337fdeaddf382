"""When objects were first seen to be so: one watch for many of them, and the time at which each change arrived."""

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType

from harness.errors import InfrastructureError
from harness.kube import Client, Obj
from harness.kube.predicates import Predicate

#: Seconds after which a watch that nothing comes through looks whether it is still needed.
_LOOK = 2.0

#: Is told of every object that is so for the first time.
Listener = Callable[[Obj], None]


def own_name(obj: Obj) -> str:
    """The object's name."""
    return str(obj["metadata"]["name"])


def owners_name(obj: Obj) -> str:
    """The name of what the object was made for, where it was made for something: a claim's Pod."""
    return str((obj["metadata"].get("ownerReferences") or [obj["metadata"]])[0]["name"])


class Arrivals:
    """Watches a kind in the client's namespace from the start of the context to its end.

    `stages` are the questions, `name` says by which name an object is kept. Times are of time.monotonic(). What was
    there before counts from its next change on.
    """

    def __init__(
        self, client: Client, kind: str, stages: Mapping[str, Predicate[Obj]], listener: Listener | None = None,
        name: Callable[[Obj], str] = own_name,
    ) -> None:  # fmt: skip
        self._client = client
        self._kind = kind
        self._stages = stages
        self._listener = listener
        self._name = name
        self._first: dict[str, dict[str, float]] = {stage: {} for stage in stages}
        self._changed = threading.Condition()
        self._ended = threading.Event()
        self._thread = ThreadPoolExecutor(1, f"arrivals of {kind}")

    def __enter__(self) -> "Arrivals":
        _, version = self._client.list(self._kind)
        self._watching = self._thread.submit(self._follow, version)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.shutdown()

    def first(self, stage: str) -> dict[str, float]:
        """When each object, by name, was first seen to be so."""
        with self._changed:
            return dict(self._first[stage])

    def wait(self, done: Callable[["Arrivals"], bool], timeout: float) -> bool:
        """Whether `done` came to be true within `timeout` seconds. Raises InfrastructureError when the watch broke."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while not done(self) and (left := deadline - time.monotonic()) > 0:
                if self._watching.done():
                    raise InfrastructureError(f"the watch of {self._kind} broke: {self._watching.exception()}")
                self._changed.wait(min(left, _LOOK))
            return done(self)

    def count(self, stage: str) -> int:
        """How many objects have been seen to be so."""
        with self._changed:
            return len(self._first[stage])

    def has(self, stage: str, *names: str) -> bool:
        """Whether all these objects have been seen to be so."""
        with self._changed:
            return self._first[stage].keys() >= set(names)

    def _follow(self, version: str) -> None:
        while not self._ended.is_set():
            for event in self._client.watch(self._kind, resource_version=version, timeout=_LOOK):
                version = event["object"]["metadata"]["resourceVersion"]
                if event["type"] != "BOOKMARK":
                    self._take(event["object"], event["type"] == "DELETED")
                if self._ended.is_set():
                    return

    def _take(self, obj: Obj, gone: bool) -> None:
        now = time.monotonic()
        name = self._name(obj)
        with self._changed:
            new = [
                s for s, is_so in self._stages.items() if name not in self._first[s] and is_so(None if gone else obj)
            ]
            for stage in new:
                self._first[stage][name] = now
            if new:
                self._changed.notify_all()
        if new and self._listener:
            self._listener(obj)
