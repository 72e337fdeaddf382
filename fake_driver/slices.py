"""The publisher: keeps the ResourceSlices of one driver as its pools want them."""

import logging
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fake_driver.api import SLICES, Api, ApiError, Object, Watch
from fake_driver.errors import ConfigError
from fake_driver.inventory import Pool
from fake_driver.layout import layout
from fake_driver.scope import EVERYWHERE, Scope
from fake_driver.taint_times import fill_in, times

_log = logging.getLogger(__name__)

#: Seconds after which a watch is started anew by the server's own choice.
_WATCH_SECONDS = 300
#: Seconds before the watch is tried again after the API server was not there.
_RETRY_SECONDS = 0.5


@dataclass
class _Published:
    """A slice: its spec as wanted, and what our last write left (None: not written yet)."""

    wanted: dict[str, Any]
    node: str | None
    written: dict[str, Any] | None = None
    object: Object | None = None

    def is_left_alone(self, seen: Object) -> bool:
        """Whether the object is as our last write left it: same object, same spec (the server counts the changes)."""
        return self.object is not None and _identity(seen) == _identity(self.object)

    def is_up_to_date(self) -> bool:
        """Whether our last write was what is wanted now."""
        return self.written == self.wanted


class Publisher:
    """Publishes the pools of a driver.

    Writes as little as it can: nothing for an unchanged slice; a change within one slice is one write in place; only
    when the number of slices or more than one slice changes does the pool get a new generation, and all its slices are
    written. Until `close`, a slice that somebody else deletes or alters is put back. Slices of the driver that were
    there before belong to the publisher too: they are adopted or deleted by the first `publish`.

    What is outside of its `scope` it knows, and leaves to the driver's other publishers.
    """

    def __init__(
        self, api: Api, driver: str, labels: Mapping[str, str] | None = None, scope: Scope = EVERYWHERE
    ) -> None:
        self._api = api
        self._driver = driver
        self._scope = scope
        self._labels = dict(labels or {})
        self._lock = threading.RLock()
        self._pools: dict[str, Pool] = {}
        self._published: dict[str, _Published] = {}
        self._suspended: set[str] = set()
        self._stopping = threading.Event()
        self._watch: Watch | None = None
        self._thread: threading.Thread | None = None

    @property
    def pools(self) -> tuple[Pool, ...]:
        """The pools as they were last given."""
        with self._lock:
            return tuple(self._pools.values())

    def publish(self, pools: Iterable[Pool]) -> None:
        """Make the cluster's slices those of `pools`; all is written when this returns.

        Raises ConfigError for pools that make no sense, ApiError when a write fails; what was not written then follows
        as soon as the API server takes it.
        """
        wanted = _by_name(pools)
        with self._lock:
            if self._thread is None:
                self._adopt()
                self._start()
            previous, self._pools = self._pools, wanted
            for name, pool in wanted.items():
                if previous.get(name) != pool and self._scope.covers(pool.node):
                    self._plan(pool)
            self._sync()

    def suspend(self, node: str) -> None:
        """Leave the slices of a node to themselves, as if the driver were not running there."""
        with self._lock:
            self._suspended.add(node)

    def resume(self, node: str) -> None:
        """Look after the node's slices again, and put right what happened to them meanwhile. Raises ApiError."""
        with self._lock:
            self._suspended.discard(node)
            for name, published in self._published.items():
                if published.node == node:
                    self._restore(name)
            self._sync()

    def withdraw(self) -> None:
        """Delete all slices of the driver in scope, whoever made them; look after nothing. Raises ApiError."""
        self.close()
        with self._lock:
            self._pools.clear()
            self._published.clear()
            for found in self._list()["items"]:
                self._delete(found["metadata"]["name"])

    def close(self) -> None:
        """Stop to look after the slices; they stay as they are."""
        with self._lock:
            thread, self._thread = self._thread, None
            self._stopping.set()
            if self._watch:
                self._watch.close()
        if thread:
            thread.join()
        self._stopping.clear()

    # What is wanted

    def _plan(self, pool: Pool) -> None:
        """Decide the spec of each slice of the pool, and with it the pool's generation."""
        parts = layout(self._driver, pool)
        before = {name: p.wanted for name, p in self._published.items() if p.wanted["pool"]["name"] == pool.name}
        known_times = {key: time for spec in before.values() for key, time in times(spec).items()}
        for part in parts:
            fill_in(part.spec, known_times)
        changed = [part for part in parts if part.name not in before or _content(before[part.name]) != part.spec]
        generation = max((spec["pool"]["generation"] for spec in before.values()), default=1)
        if before and (len(before) != len(parts) or len(changed) > 1):
            generation += 1
        announced = {
            "name": pool.name,
            "generation": generation if pool.generation is None else pool.generation,
            "resourceSliceCount": len(parts) if pool.slice_count is None else pool.slice_count,
        }
        for part in parts:
            published = self._published.setdefault(part.name, _Published(wanted={}, node=pool.node))
            published.wanted = {**part.spec, "pool": announced}
            published.node = pool.node

    # Writes; all with the lock held

    def _adopt(self) -> None:
        for found in self._list()["items"]:
            spec = found["spec"]
            self._published[found["metadata"]["name"]] = _Published(spec, spec.get("nodeName"), spec, found)

    def _sync(self) -> None:
        """Write what our last writes did not bring about yet: first the slices that are wanted, then the surplus."""
        own = [pool for pool in self._pools.values() if self._scope.covers(pool.node)]
        wanted = {part.name for pool in own for part in layout(self._driver, pool)}
        active = {name: p for name, p in self._published.items() if p.node not in self._suspended}
        for name in sorted(active.keys() & wanted):
            seen = active[name].object
            if seen is None:
                self._create(name)
            elif not active[name].is_up_to_date():
                self._replace(name, seen)
        for name in sorted(active.keys() - wanted):
            self._delete(name)
            del self._published[name]

    def _restore(self, name: str) -> None:
        """Look at the object itself, and write it unless it is as wanted."""
        published = self._published[name]
        try:
            seen = self._api.get(f"{SLICES}/{name}")
        except ApiError as error:
            if error.status != 404:
                raise
            self._create(name)
            return
        if not (published.is_left_alone(seen) and published.is_up_to_date()):
            self._replace(name, seen)

    def _create(self, name: str) -> None:
        try:
            self._wrote(name, self._api.create(SLICES, self._body(name)))
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise
            self._replace(name, self._api.get(f"{SLICES}/{name}"))

    def _replace(self, name: str, seen: Object) -> None:
        """Overwrite what was seen; if it has changed since, look again."""
        body = self._body(name)
        body["metadata"]["resourceVersion"] = seen["metadata"]["resourceVersion"]
        try:
            self._wrote(name, self._api.replace(f"{SLICES}/{name}", body))
        except ApiError as error:
            if error.status == 404 or error.reason == "Conflict":
                self._published[name].object = None
                self._create(name)
            else:
                raise

    def _wrote(self, name: str, answer: Object) -> None:
        published = self._published[name]
        fill_in(published.wanted, times(answer["spec"]))
        published.written, published.object = published.wanted, answer

    def _body(self, name: str) -> Object:
        return {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": name, "labels": self._labels},
            "spec": self._published[name].wanted,
        }

    def _delete(self, name: str) -> None:
        try:
            self._api.delete(f"{SLICES}/{name}")
        except ApiError as error:
            if error.status != 404:
                raise

    # Looking after the slices

    def _selector(self) -> dict[str, str]:
        return {"fieldSelector": ",".join([f"spec.driver={self._driver}", *self._scope.terms()])}

    def _list(self) -> Object:
        return self._api.list(SLICES, self._selector())

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._look_after, name=f"slices of {self._driver}", daemon=True)
        self._thread.start()

    def _look_after(self) -> None:
        while not self._stopping.is_set():
            try:
                self._follow(self._catch_up())
            except ApiError as error:
                _log.info("slices of %s: %s; trying again", self._driver, error)
                self._stopping.wait(_RETRY_SECONDS)

    def _catch_up(self) -> str:
        """Put right what happened while nobody watched; return the resourceVersion to watch from."""
        with self._lock:
            found = self._list()
            seen = {item["metadata"]["name"]: item for item in found["items"]}
            for name, published in self._published.items():
                untouched = name in seen and published.is_left_alone(seen[name])
                if not untouched and published.node not in self._suspended:
                    self._restore(name)
            self._sync()
        version: str = found["metadata"]["resourceVersion"]
        return version

    def _follow(self, version: str) -> None:
        watch = self._api.watch(SLICES, self._selector(), version, _WATCH_SECONDS)
        with self._lock:
            if self._stopping.is_set():
                watch.close()
                return
            self._watch = watch
        for event in watch:
            self._check(event["type"], event["object"])

    def _check(self, kind: str, seen: Object) -> None:
        name = seen["metadata"]["name"]
        with self._lock:
            published = self._published.get(name)
            if published is None or published.node in self._suspended or self._stopping.is_set():
                return
            # Old news (our own writes among them) leads to a look at the object, never to a write by itself.
            if kind == "DELETED" or not published.is_left_alone(seen):
                self._restore(name)


def _by_name(pools: Iterable[Pool]) -> dict[str, Pool]:
    by_name: dict[str, Pool] = {}
    for pool in pools:
        if not pool.placed:
            raise ConfigError(f"pool {pool.name!r} says for no node: place the template on nodes first")
        if pool.name in by_name:
            raise ConfigError(f"two pools are called {pool.name!r}: names must differ within a driver")
        by_name[pool.name] = pool
    return by_name


def _identity(slice_object: Object) -> tuple[str, int]:
    metadata = slice_object["metadata"]
    return metadata["uid"], metadata["generation"]


def _content(spec: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in spec.items() if name != "pool"}
