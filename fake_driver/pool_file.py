"""Pools in YAML: a profile with its parameters, or devices one by one, in the API's spelling."""

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

import yaml

from fake_driver.errors import ConfigError
from fake_driver.inventory import AttributeValue, Capacity, CounterConsumption, Device, Pool, Taint, Version
from fake_driver.profiles import profile

_T = TypeVar("_T", Pool, Device, Taint, CounterConsumption, Capacity)


def load_pools(text: str) -> tuple[Pool, ...]:
    """Read a YAML list of pools. Raises ConfigError."""
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, list):
        raise ConfigError(f"an inventory is a list of pools, not {content!r}")
    return tuple(parse_pool(pool) for pool in content)


def parse_pool(content: object) -> Pool:
    """A pool from `{profile: NAME, …}` or from the fields of `Pool` in the API's spelling. Raises ConfigError."""
    try:
        return _pool(content)
    except (TypeError, AttributeError) as error:
        raise ConfigError(f"a value is of the wrong kind: {error}") from error


def to_data(pool: Pool) -> dict[str, Any]:
    """What `parse_pool` makes the same pool of: plain data, without the fields that are as they are by default."""
    data: dict[str, Any] = _plain(pool)
    return data


def _plain(value: Any) -> Any:
    match value:
        case Version():
            return {"version": value.value}
        case Pool() | Device() | Taint() | CounterConsumption() | Capacity():
            given = {f.name: getattr(value, f.name) for f in fields(value)}
            return {_spelling(name): _plain(each) for name, each in given.items() if _says_something(each)}
        case Mapping():
            return {key: _plain(each) for key, each in value.items()}
        case list() | tuple():
            return [_plain(each) for each in value]
    return value


def _says_something(value: object) -> bool:
    # A zero does: it is the number of slices of a broken pool.
    return bool(value) or (value == 0 and value is not False)


def _pool(content: object) -> Pool:
    values = _fields(content, "a pool")
    if "profile" in values:
        name = values.pop("profile")
        return profile(name, values)
    devices = tuple(_device(device) for device in values.pop("devices", ()))
    return _make(Pool, {**values, "devices": devices}, f"pool {values.get('name', '')!r}")


def _device(content: object) -> Device:
    values = _fields(content, "a device")
    where = f"device {values.get('name', '')!r}"
    values["attributes"] = {name: _attribute(value) for name, value in values.get("attributes", {}).items()}
    values["capacity"] = {name: _capacity(value) for name, value in values.get("capacity", {}).items()}
    values["taints"] = tuple(_make(Taint, _fields(taint, "a taint"), where) for taint in values.get("taints", ()))
    values["consumes_counters"] = tuple(
        _make(CounterConsumption, _fields(consumption, "a consumption"), where)
        for consumption in values.get("consumes_counters", ())
    )
    return _make(Device, values, where)


def _attribute(value: object) -> AttributeValue:
    """`5`, `true`, `text`, a list of such, or `{version: 1.2.3}`."""
    match value:
        case {"version": version}:
            return Version(str(version))
        case bool() | int() | str():
            return value
        case list():
            return [_attribute(item) for item in value]  # type: ignore[return-value]
    raise ConfigError(f"{value!r} is no value of an attribute")


def _capacity(value: object) -> str | Capacity:
    """`80Gi`, or `{value: 80Gi, requestPolicy: {…}}`."""
    return _make(Capacity, _fields(value, "a capacity"), "a capacity") if isinstance(value, dict) else str(value)


def _fields(content: object, what: str) -> dict[str, Any]:
    """The mapping's keys in Python's spelling."""
    if not isinstance(content, dict):
        raise ConfigError(f"{what} must be a mapping, not {content!r}")
    return {re.sub(r"(?<=[a-z])([A-Z])", r"_\1", str(key)).lower(): value for key, value in content.items()}


def _spelling(name: str) -> str:
    """A field's name as it is written in YAML."""
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def _make(kind: type[_T], values: Mapping[str, Any], where: str) -> _T:
    known = [f.name for f in fields(kind)]
    for name in values:
        if name not in known:
            raise ConfigError(
                f"{where}: unknown field {_spelling(name)!r}; known are {', '.join(map(_spelling, known))}"
            )
    try:
        return kind(**values)
    except TypeError as error:
        raise ConfigError(f"{where}: {error}") from error
