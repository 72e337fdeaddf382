"""The reader of the data files."""

import difflib
from functools import cache
from importlib import resources
from typing import Any

import yaml

from harness.errors import UsageError
from harness.releases.emulation import emulated
from harness.releases.release import EMULATED_BY, Gate, Release


def supported() -> tuple[str, ...]:
    """Return the supported minor releases, newest first."""
    return tuple(_files())


def get(name: str | None = None) -> Release:
    """Return a release by its minor (`1.37`), its exact version (`v1.37.2`) or its `name`; None stands for the newest.

    Raises UsageError for one that is not supported, or that cannot be emulated (`1.35 emulated by 1.37`).
    """
    releases = _releases()
    if name is None:
        return next(iter(releases.values()))
    if EMULATED_BY in name:
        older, by = (get(part.strip()) for part in name.split(EMULATED_BY))
        return emulated(older, by)
    for release in releases.values():
        if name.removeprefix("v") in (release.minor, release.version.removeprefix("v")):
            return release
    known = ", ".join(f"{release.minor} ({release.version})" for release in releases.values())
    raise UsageError(f"Kubernetes release {name!r} is not supported; choose one of {known}")


def emulate(name: str, by: str | None = None) -> Release:
    """Return a release as the programs of a newer one (None: the newest) emulate it. Raises UsageError."""
    return emulated(get(name), get(by))


def minors_with_gate(name: str) -> tuple[str, ...]:
    """Return the minors whose components know the gate, newest first."""
    return tuple(minor for minor, release in _releases().items() if name in release.gates)


def nearest_gates(name: str) -> tuple[str, ...]:
    """Return up to three gates of any supported release whose names resemble this one, best first."""
    by_lower = {gate.lower(): gate for release in _releases().values() for gate in release.gates}
    return tuple(by_lower[match] for match in difflib.get_close_matches(name.lower(), by_lower))


def data_of(minor: str) -> dict[str, Any]:
    """Return the data of a supported release as it stands in its file; not to be changed. Raises UsageError."""
    return _files()[get(minor).minor]


@cache
def _releases() -> dict[str, Release]:
    files = _files()
    features = {feature for data in files.values() for feature in data["features"]}
    features |= {f"{gate}.{way}" for data in files.values() for gate in data["gates"] for way in ("default", "locked")}
    return {minor: _release(minor, data, features) for minor, data in files.items()}


def _release(minor: str, data: dict[str, Any], features: set[str]) -> Release:
    return Release(
        minor=minor,
        version=data["version"],
        gates={name: _gate(name, gate) for name, gate in data["gates"].items()},
        api_versions=data["api_versions"],
        off_by_default=tuple(data["off_by_default"]),
        features={feature: _has(data, feature) for feature in features},
        ungated=frozenset(data["ungated"]),
        components=data["components"],
        covered=data["covered"],
        renamed=data["renamed"],
        emulates=tuple(data["emulates"]),
    )


def _has(data: dict[str, Any], feature: str) -> bool:
    """Whether a feature is in the list, or of `Gate.default` and `Gate.locked` whether the gate is on, or locked."""
    gate, _, way = feature.rpartition(".")
    return feature in data["features"] or bool(data["gates"].get(gate, {}).get(way))


def _gate(name: str, data: dict[str, Any]) -> Gate:
    return Gate(
        name=name,
        stage=data["stage"],
        default=data["default"],
        locked=data.get("locked", False),
        needs=tuple(data.get("needs", ())),
        unknown_to=tuple(data.get("unknown_to", ())),
        kinds=tuple(data.get("kinds", ())),
    )


@cache
def _files() -> dict[str, dict[str, Any]]:
    """Return the content of every data file by minor, newest first."""
    folder = resources.files("harness.releases") / "data"
    files = {entry.name.removesuffix(".yaml"): entry for entry in folder.iterdir() if entry.name.endswith(".yaml")}
    newest_first = sorted(files, key=lambda minor: tuple(map(int, minor.split("."))), reverse=True)
    return {minor: yaml.load(files[minor].read_text("utf-8"), _LOADER) for minor in newest_first}  # noqa: S506


#: Both loaders are safe; the one written in C reads the four files in a few hundredths of a second.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
