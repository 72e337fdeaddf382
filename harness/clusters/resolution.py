"""What a profile's wishes mean for one release."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.errors import UsageError
from harness.releases import Release, get, minors_with_gate, nearest_gates, supported


@dataclass(frozen=True)
class Wish:
    """What a profile asks for, before any release is asked."""

    gates: Mapping[str, Mapping[str, bool]]
    """By component."""
    varied: Mapping[str, Mapping[str, bool]]
    """By component: what a variation sets in addition; it prevails."""
    runtime_config: Mapping[str, bool]
    broad: bool = False
    """Whether it is written for every supported release: what only others know is then left out without a word."""


@dataclass(frozen=True)
class Resolution:
    """A profile as one release can have it. Valid JSON, for another process to read."""

    gates: Mapping[str, Mapping[str, bool]]
    runtime_config: Mapping[str, bool]
    notes: tuple[str, ...]
    """What was left out or added, one line each, for the report."""
    unmet: tuple[str, ...]
    """What a variation asked for and this release cannot have: a scenario that needs it cannot be tried."""
    args: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Further flags by component."""
    kubelet: Mapping[str, Any] = field(default_factory=dict)
    """Fields of KubeletConfiguration, without gates."""
    scheduler: Mapping[str, Any] = field(default_factory=dict)
    """A KubeSchedulerConfiguration; empty for the scheduler's own default."""
    workers: Sequence[Mapping[str, str]] = ({},)
    """The labels of each node that runs Pods."""


def resolve(wish: Wish, release: Release) -> Resolution:
    """Fit gates and API versions to a release; raises UsageError for what no supported release has."""
    notes: dict[str, None] = {}  # an ordered set: components mostly say the same
    unmet: dict[str, None] = {}
    gates = {}
    for component, common in wish.gates.items():
        own = release.of(component)
        varied = wish.varied.get(component, {})
        wanted = {}
        for name, value in {**common, **varied}.items():
            # A kubelet of another release than the control plane's has on what both know: it would wait for the rest.
            obstacle = _obstacle(name, value, component, own) or _obstacle(name, value, component, release)
            if obstacle is None:
                wanted[name] = value
            else:
                if name in varied:
                    unmet[obstacle] = None
                if name in varied or not (wish.broad and release.gate(name) is None):
                    notes[obstacle] = None
        gates[component] = _closed(wanted, varied, component, own, notes)
    runtime_config = {}
    for version, served in wish.runtime_config.items():
        obstacle = _version_obstacle(version, release)
        if obstacle is None:
            runtime_config[version] = served
        elif not wish.broad:
            notes[obstacle] = None
    return Resolution(gates, runtime_config, tuple(notes), tuple(unmet))


def _obstacle(name: str, value: bool, component: str, release: Release) -> str | None:
    """Why the gate cannot have this value there; None when it can."""
    gate = release.gate(name)
    if gate is None:
        minors = minors_with_gate(name)
        if not minors:
            nearest = nearest_gates(name)
            hint = f"; did you mean {' or '.join(nearest)}?" if nearest else ""
            raise UsageError(f"no supported Kubernetes release has a feature gate {name!r}{hint}")
        return f"gate {name} left out: Kubernetes {release.name} does not know it (known in {', '.join(minors)})"
    if component in gate.unknown_to:
        return f"gate {name} left out: {component} {release.name} does not know it"
    if gate.locked and value != gate.default:
        state = "on" if gate.default else "off"
        return f"gate {name} left out: it is locked {state} in Kubernetes {release.name}"
    return None


def _closed(
    wanted: Mapping[str, bool], varied: Mapping[str, bool], component: str, release: Release, notes: dict[str, None]
) -> dict[str, bool]:
    """The wanted gates plus what they entail: needs of gates switched on, dependants of gates switched off.

    Where a wish for on meets a wish for off, off prevails, unless the variation says on.
    """
    gates = dict(wanted)
    for name in [name for name, value in wanted.items() if value and varied.get(name)]:
        _switch_on(name, gates, component, release, notes)
    for name in [name for name, value in wanted.items() if not value]:
        if not gates[name]:
            _switch_off_dependants(name, gates, component, release, notes)
    for name in [name for name, value in wanted.items() if value]:
        if gates[name]:
            _switch_on(name, gates, component, release, notes)
    return gates


def _switch_on(name: str, gates: dict[str, bool], component: str, release: Release, notes: dict[str, None]) -> None:
    for need in release.gates[name].needs:
        if not gates.get(need, release.gates[need].default):
            gates[need] = True
            notes[f"gate {need} of {component} switched on: {name} needs it"] = None
            _switch_on(need, gates, component, release, notes)


def _switch_off_dependants(
    name: str, gates: dict[str, bool], component: str, release: Release, notes: dict[str, None]
) -> None:
    for dependant in release.gates.values():
        if name in dependant.needs and gates.get(dependant.name, dependant.default):
            gates[dependant.name] = False
            notes[f"gate {dependant.name} of {component} switched off: it needs {name}"] = None
            _switch_off_dependants(dependant.name, gates, component, release, notes)


def _version_obstacle(entry: str, release: Release) -> str | None:
    """Why --runtime-config cannot name this API version; None when it can. `api/…` are its own shorthands."""
    version = "/".join(entry.split("/")[:2])
    if version.startswith("api/") or version in _versions(release):
        return None
    known = {minor: _versions(get(minor)) for minor in supported()}
    minors = [minor for minor, versions in known.items() if version in versions]
    if minors:
        return f"API {version} left out: Kubernetes {release.name} does not have it (known in {', '.join(minors)})"
    nearest = difflib.get_close_matches(version, {each for versions in known.values() for each in versions})
    hint = f"; did you mean {' or '.join(nearest)}?" if nearest else ""
    raise UsageError(f"no supported Kubernetes release has an API version {version!r}{hint}")


def _versions(release: Release) -> set[str]:
    return {*release.runtime_config(), *release.api_versions.values()}
