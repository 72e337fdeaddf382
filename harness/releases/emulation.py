"""A release whose programs behave as an older one (`--emulated-version`)."""

from collections.abc import Collection
from dataclasses import replace

from harness.errors import UsageError
from harness.releases.release import Gate, Release


def emulated(older: Release, by: Release) -> Release:
    """What there is when the programs of one release emulate another one: what both have.

    A gate is as the older release has it, but its dependencies are checked by the newer programs. What needs a kind in
    a version that only the older programs have is gone. Raises UsageError for what cannot be emulated.
    """
    if older.minor not in by.emulates:
        choice = f"choose one of {', '.join(by.emulates)}" if by.emulates else "it emulates none of the supported ones"
        raise UsageError(f"Kubernetes {by.minor} cannot emulate {older.minor}: {choice}")
    served = {*by.off_by_default, *by.api_versions.values()}
    api_versions = {kind: version for kind, version in older.api_versions.items() if version in served}
    return replace(
        older,
        version=by.version,
        components=by.components,
        gates=_gates(older, by, api_versions),
        api_versions=api_versions,
        off_by_default=tuple(version for version in older.off_by_default if version in served),
        features={name: (there or name in by.ungated) and by.features[name] for name, there in older.features.items()},
        emulates=(),
        emulated_by=by,
    )


def _gates(older: Release, by: Release, kinds: Collection[str]) -> dict[str, Gate]:
    """The older release's gates that the newer programs know and that do not build on a kind which is gone."""
    known = {name for name in older.gates if name in by.gates}
    dead = {name for name in older.gates if not set(older.gates[name].kinds) <= set(kinds)}
    while more := {name for name in known - dead if dead & {*older.gates[name].needs, *by.gates[name].needs}}:
        dead |= more
    kept = sorted(known - dead)
    return {
        name: replace(
            older.gates[name],
            needs=tuple(need for need in by.gates[name].needs if need in kept),
            unknown_to=by.gates[name].unknown_to,
        )
        for name in kept
    }
