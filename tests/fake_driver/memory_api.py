"""An API server in memory: as much of one as the driver's own tests need."""

import queue
import re
import threading
from collections.abc import Iterator, Mapping
from copy import deepcopy
from itertools import count
from typing import Any

from fake_driver.api import ApiError, Object

TAINTED_AT = "2026-01-01T00:00:00Z"


class MemoryApi:
    """Implements fake_driver.api.Api. `writes` tells what was written; `down` lets every request fail."""

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}
        self.writes: list[tuple[str, str]] = []
        self.down = False
        self._versions = count(1)
        self._watches: list[MemoryWatch] = []
        self._events: list[Object] = []
        self._lock = threading.RLock()

    def get(self, path: str) -> Object:
        with self._lock:
            self._reach()
            if path not in self.objects:
                raise ApiError(404, "NotFound", path)
            return deepcopy(self.objects[path])

    def list(self, path: str, query: Mapping[str, str] | None = None) -> Object:
        with self._lock:
            self._reach()
            found = [item for key, item in sorted(self.objects.items()) if _selected(key, item, path, query)]
            return {"items": deepcopy(found), "metadata": {"resourceVersion": str(next(self._versions))}}

    def create(self, path: str, body: Object) -> Object:
        with self._lock:
            self._reach()
            key = f"{path}/{body['metadata']['name']}"
            if key in self.objects:
                raise ApiError(409, "AlreadyExists", key)
            return self._store("create", key, body, uid=f"uid-{next(self._versions)}", generation=1)

    def replace(self, path: str, body: Object) -> Object:
        with self._lock:
            seen = self.get(path)["metadata"]
            if body["metadata"].get("resourceVersion", seen["resourceVersion"]) != seen["resourceVersion"]:
                raise ApiError(409, "Conflict", path)
            if _filled(body).get("spec", body) == self.objects[path].get("spec"):
                return self.get(path)
            return self._store("replace", path, body, uid=seen["uid"], generation=seen["generation"] + 1)

    def apply(self, path: str, body: Object, field_manager: str, force: bool = False) -> Object:
        with self._lock:
            if path.endswith("/status"):
                return self._apply_status(path.removesuffix("/status"), body)
            return self.replace(path, body) if path in self.objects else self.create(path.rpartition("/")[0], body)

    def _apply_status(self, path: str, body: Object) -> Object:
        """What is given of the status, in place of the stored; the one manager here owns its lists as a whole."""
        seen = self.get(path)
        return self.replace(path, {**seen, "status": {**seen["status"], **body["status"]}})

    def delete(self, path: str) -> None:
        with self._lock:
            seen = self.get(path)
            del self.objects[path]
            seen["metadata"]["resourceVersion"] = str(next(self._versions))
            self._record("delete", path, seen)

    def watch(self, path: str, query: Mapping[str, str], resource_version: str, timeout_seconds: int) -> "MemoryWatch":
        with self._lock:
            self._reach()
            watch = MemoryWatch(path)
            for event in self._events:
                if int(event["object"]["metadata"]["resourceVersion"]) > int(resource_version):
                    watch.tell(event)
            self._watches.append(watch)
            return watch

    def forget_writes(self) -> None:
        self.writes.clear()

    def _reach(self) -> None:
        if self.down:
            raise ApiError(0, "Unreachable", "down")

    def _store(self, verb: str, key: str, body: Object, *, uid: str, generation: int) -> Object:
        stored = _filled(body)
        stored["metadata"] |= {"uid": uid, "generation": generation, "resourceVersion": str(next(self._versions))}
        self.objects[key] = stored
        self._record(verb, key, stored)
        return deepcopy(stored)

    def _record(self, verb: str, key: str, body: Object) -> None:
        self.writes.append((verb, body["metadata"]["name"]))
        kind = {"create": "ADDED", "replace": "MODIFIED", "delete": "DELETED"}[verb]
        event = {"type": kind, "key": key, "object": deepcopy(body)}
        self._events.append(event)
        for watch in self._watches:
            watch.tell(event)


class MemoryWatch:
    """Implements fake_driver.api.Watch."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.events: queue.Queue[Object | None] = queue.Queue()

    def tell(self, event: Object) -> None:
        if _inside(event["key"], self.path):
            self.events.put({"type": event["type"], "object": deepcopy(event["object"])})

    def __iter__(self) -> Iterator[Object]:
        return iter(self.events.get, None)

    def close(self) -> None:
        self.events.put(None)


def _selected(key: str, found: Object, path: str, query: Mapping[str, str] | None) -> bool:
    terms = [term for term in (query or {}).get("fieldSelector", "").split(",") if term]
    return _inside(key, path) and all(_holds(term, found["spec"]) for term in terms)


def _holds(term: str, spec: Object) -> bool:
    field, negated, value = re.split("(!?)=", term)
    return bool(negated) is not bool(spec.get(field.removeprefix("spec."), "") == value)


def _inside(key: str, path: str) -> bool:
    return key.startswith(f"{path}/") or _everywhere(key) == path


def _everywhere(key: str) -> str:
    """The path of all objects of a kind, whatever their namespace."""
    before, _, after = key.partition("/namespaces/")
    return f"{before}/{after.split('/')[1]}" if after else ""


def _filled(body: Object) -> Object:
    filled: dict[str, Any] = deepcopy(body)
    for device in filled.get("spec", {}).get("devices", ()):
        for taint in device.get("taints", ()):
            taint.setdefault("timeAdded", TAINTED_AT)
    return filled
