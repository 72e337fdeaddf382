"""Changes of single devices, as new pools in place of the old ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fake_driver.errors import ConfigError
from fake_driver.inventory import Device, Pool

Pools = tuple[Pool, ...]


def added(pools: Iterable[Pool], pool: str, device: Device) -> Pools:
    """The pools with one more device at the end of one. Raises ConfigError if the pool has one of that name."""

    def change(devices: Mapping[str, Device]) -> Sequence[Device]:
        if device.name in devices:
            raise ConfigError(f"pool {pool!r} has a device {device.name!r} already")
        return (*devices.values(), device)

    return _changed(pools, pool, change)


def removed(pools: Iterable[Pool], pool: str, device: str) -> Pools:
    """The pools without a device. Raises ConfigError if it is not there."""

    def change(devices: Mapping[str, Device]) -> Sequence[Device]:
        gone = _found(devices, pool, device)
        return [other for other in devices.values() if other is not gone]

    return _changed(pools, pool, change)


def updated(pools: Iterable[Pool], pool: str, device: str, changes: Mapping[str, Any]) -> Pools:
    """The pools with other values of a device's fields. Raises ConfigError if it is not there."""

    def change(devices: Mapping[str, Device]) -> Sequence[Device]:
        other = replace(_found(devices, pool, device), **changes)
        return [other if name == device else same for name, same in devices.items()]

    return _changed(pools, pool, change)


def _changed(pools: Iterable[Pool], pool: str, change: Callable[[Mapping[str, Device]], Sequence[Device]]) -> Pools:
    by_name = {each.name: each for each in pools}
    if pool not in by_name:
        raise ConfigError(f"the driver has no pool {pool!r}, only {', '.join(by_name) or 'none'}")
    devices = change({device.name: device for device in by_name[pool].devices})
    by_name[pool] = replace(by_name[pool], devices=tuple(devices))
    return tuple(by_name.values())


def _found(devices: Mapping[str, Device], pool: str, device: str) -> Device:
    if device not in devices:
        raise ConfigError(f"pool {pool!r} has no device {device!r}")
    return devices[device]
