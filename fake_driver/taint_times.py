"""The times of taints: the server fills them in when a taint is new, and an update of the slice must not renew them."""

from collections.abc import Iterator
from typing import Any

_Key = tuple[str, str, str, str]


def times(spec: dict[str, Any]) -> dict[_Key, str]:
    """The times that the spec of a slice holds, by device, key, value and effect."""
    return {key: taint["timeAdded"] for key, taint in _taints(spec) if "timeAdded" in taint}


def fill_in(spec: dict[str, Any], known: dict[_Key, str]) -> None:
    """Give each taint that has no time the known one."""
    for key, taint in _taints(spec):
        if key in known:
            taint.setdefault("timeAdded", known[key])


def _taints(spec: dict[str, Any]) -> Iterator[tuple[_Key, dict[str, Any]]]:
    for device in spec.get("devices") or ():
        for taint in device.get("taints", ()):
            yield (device["name"], taint["key"], taint.get("value", ""), taint["effect"]), taint
