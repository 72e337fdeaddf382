"""What a release has otherwise than an earlier one, as its data tells it."""

from collections.abc import Iterator

from harness.releases.catalog import get, supported
from harness.releases.release import OURS, Gate, Release

_GROUPS = ("resource.k8s.io/", "scheduling.k8s.io/")


def news(old: str, new: str) -> tuple[str, ...]:
    """Renamed fields, kinds in other API versions, and gates of DRA and of groups that came, went or changed.

    By the names of two releases; nothing is told of one that is not supported, or of what is emulated.
    """
    minors = supported()
    if old not in minors or new not in minors or minors.index(old) <= minors.index(new):
        return ()
    return (*_renamed(old, new), *_kinds(get(old), get(new)), *_gates(get(old), get(new)))


def _renamed(old: str, new: str) -> Iterator[str]:
    minors = supported()
    for minor in reversed(minors[minors.index(new) : minors.index(old)]):
        yield from (f"{before} → {now}" for before, now in get(minor).renamed.items())


def _kinds(old: Release, new: Release) -> Iterator[str]:
    for kind in sorted({*old.api_versions, *new.api_versions}):
        before, now = old.api_version(kind), new.api_version(kind)
        if before != now and (now or before or "").startswith(_GROUPS):
            yield f"{kind}: {before or 'not there'} → {now or 'gone'}"


def _gates(old: Release, new: Release) -> Iterator[str]:
    for name in sorted({*old.gates, *new.gates}):
        before, now = old.gate(name), new.gate(name)
        if OURS.search(name) and _state(before) != _state(now):
            yield f"gate {name}: {_state(before) or 'not there'} → {_state(now) or 'gone'}"


def _state(gate: Gate | None) -> str:
    if gate is None:
        return ""
    return f"{gate.stage}, {'locked ' if gate.locked else ''}{'on' if gate.default else 'off'}"
