"""Every version of an object that reached the harness, and when: finer than the API's own times in whole seconds."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: What a time axis shows, or reads from.
KINDS = frozenset({"Pod", "ResourceClaim", "ResourceSlice", "DeviceTaintRule", "Event"})


@dataclass(frozen=True)
class Sighting:
    """One version of an object. `at` is when it arrived, in seconds since the epoch; `gone`: it does not exist now.

    `read`: it was asked for, and may be older; otherwise it came as soon as it was.
    """

    at: float
    obj: dict[str, Any]
    gone: bool = False
    read: bool = False


class Sightings:
    """Keeps the first arrival of each version that `wanted` is true of. Safe to use from many threads."""

    def __init__(self, wanted: Callable[[dict[str, Any]], bool]) -> None:
        self._wanted = wanted
        self._found: dict[tuple[str, str, bool], Sighting] = {}

    def saw(self, obj: dict[str, Any], gone: bool = False, read: bool = False) -> None:
        """Take in an object as it arrived (`harness.kube.client.Witness`)."""
        meta = obj.get("metadata") or {}
        if obj.get("kind") in KINDS and "uid" in meta and self._wanted(obj):
            # The last version before the end is told once, whoever tells it.
            key = (meta["uid"], "" if gone else meta["resourceVersion"], gone)
            self._found.setdefault(key, Sighting(time.time(), obj, gone, read))

    def missing(self, kind: str, present: list[dict[str, Any]]) -> None:
        """All objects of a kind that exist now: others of that kind are gone."""
        uids = {obj["metadata"]["uid"] for obj in present}
        for seen in list(self._found.values()):
            if seen.obj["kind"] == kind and seen.obj["metadata"]["uid"] not in uids:
                self.saw(seen.obj, gone=True, read=True)

    def all(self) -> list[Sighting]:
        """In the order of arrival."""
        return sorted(self._found.values(), key=lambda seen: seen.at)
