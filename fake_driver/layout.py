"""How a pool is cut into ResourceSlices: the API's limits, the names and the order of the objects."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from fake_driver.inventory import Device, Pool, counter_sets

_T = TypeVar("_T")

#: Limits of one ResourceSlice, from its API validation.
DEVICES_PER_SLICE = 128
RICH_DEVICES_PER_SLICE = 64
COUNTER_SETS_PER_SLICE = 8

#: Longest object name (a DNS subdomain).
MAX_NAME = 253


@dataclass(frozen=True)
class Slice:
    """One slice of a pool: the object's name and its spec without the pool's generation and number of slices."""

    name: str
    spec: dict[str, Any]


def layout(driver: str, pool: Pool) -> list[Slice]:
    """Cut a placed pool into slices, counters first. A pool without devices is one empty slice."""
    parts: list[dict[str, Any]] = [
        {"sharedCounters": sets} for sets in _chunks(counter_sets(pool), COUNTER_SETS_PER_SLICE)
    ]
    size = pool.slice_size or _limit(pool.devices)
    parts += [{"devices": [device.to_api() for device in devices]} for devices in _chunks(pool.devices, size)]
    common = {"driver": driver, **_placement(pool), **_options(pool)}
    return [Slice(_name(driver, pool, index), {**common, **part}) for index, part in enumerate(parts or [{}])]


def _limit(devices: Sequence[Device]) -> int:
    # One limit for the whole pool: a tainted device in one slice must not shift only the others.
    rich = any(device.taints or device.consumes_counters or device.has_list_attributes for device in devices)
    return RICH_DEVICES_PER_SLICE if rich else DEVICES_PER_SLICE


def _chunks(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _placement(pool: Pool) -> dict[str, Any]:
    if pool.node:
        return {"nodeName": pool.node}
    if pool.node_selector:
        return {"nodeSelector": dict(pool.node_selector)}
    return {"allNodes": True} if pool.all_nodes else {"perDeviceNodeSelection": True}


def _options(pool: Pool) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if pool.skip_node_operations:
        options["skipNodeOperations"] = list(pool.skip_node_operations)
    if pool.partition_type_attribute:
        options["partitionTypeAttribute"] = pool.partition_type_attribute
    return options


def _name(driver: str, pool: Pool, index: int) -> str:
    """The slice's object name: given, or `<node>-<driver>-<pool>-<index>`, which sorts like the index."""
    if index < len(pool.slice_names):
        return pool.slice_names[index]
    parts = [part for part in (pool.node, driver, pool.name) if part]
    readable = "-".join(parts).lower().replace("/", "-")
    suffix = f"-{index:03d}"
    # What cannot stand in a name as it is gets a hash instead, so that two pools never share a name.
    if readable != "-".join(parts) or len(readable) + len(suffix) > MAX_NAME:
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:10]
        readable = f"{readable[: MAX_NAME - len(suffix) - len(digest) - 1].rstrip('-.')}-{digest}"
    return readable + suffix
