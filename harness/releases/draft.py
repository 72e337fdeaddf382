"""A first version of a release's data, from what a live cluster of it says and from the data of the release before.

Pure functions: who asks the cluster is `harness.cli.release`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from harness.releases.catalog import data_of

#: API groups whose new kinds this project is about.
_GROUPS = ("resource.k8s.io", "scheduling.k8s.io")

_STAGES = {"ALPHA": "alpha", "BETA": "beta", "": "ga", "DEPRECATED": "deprecated"}

Data = dict[str, Any]


@dataclass(frozen=True)
class Told:
    """What a cluster says of itself."""

    version: str
    """For example `v1.38.0`."""
    gates: Mapping[str, tuple[str, bool]]
    """Feature gate → its stage in the words of the metric kubernetes_feature_enabled, and whether it is on."""
    kinds: Mapping[str, Sequence[str]]
    """API version → the kinds that are served in it, as far as discovery tells."""


@dataclass(frozen=True)
class Draft:
    """Data that a human has to look at, and where."""

    data: Data
    to_check: tuple[str, ...]

    def text(self) -> str:
        """The data file, with what is to be checked at its head."""
        lines = [f"# Draft of Kubernetes {self.data['version']}, from a live cluster. To be checked by hand:"]
        lines += [f"# - {line}" for line in self.to_check]
        return "\n".join([*lines, _file(self.data)])


def draft(told: Told, before: str) -> Draft:
    """The data of a release, on the pattern of an older one (`before`, a minor). Raises UsageError for an unknown one.

    What no cluster tells is taken from the older release: what goes with it, the features, and of each gate what it
    depends on, whether it is locked and who refuses it.
    """
    old = data_of(before)
    notes: list[str] = []
    data = {
        "version": told.version,
        "emulates": [before, *old["emulates"]],
        "components": old["components"],
        "api_versions": _api_versions(old, told, notes),
        "off_by_default": _off_by_default(old, told, notes),
        "features": old["features"],
        "ungated": old["ungated"],
        "covered": {},
        "renamed": {},
        "gates": _gates(old, told, notes),
    }
    notes.append(
        "components: the images that its kubeadm names (kubeadm config images list), etcd, kwok and the others"
    )
    notes.append("emulates: three minors at most")
    notes.append(f"features: those of {before}; what came, went or has another name is yours to find")
    return Draft(data, tuple(notes))


def _api_versions(old: Data, told: Told, notes: list[str]) -> Mapping[str, str]:
    """Of each kind the version that was used before where it still is served, else the best one of its group."""
    served: dict[str, list[str]] = {}
    for version, kinds in told.kinds.items():
        for kind in kinds:
            served.setdefault(kind, []).append(version)
    found = {}
    for kind, version in old["api_versions"].items():
        now = _best(served.get(kind, ()), _group(version))
        if now is None:
            notes.append(
                f"kind {kind} is not served in {_group(version) or 'the core group'}: gone, or off ({version})"
            )
            continue
        if now != version:
            notes.append(f"kind {kind} moved: {version} → {now}, if its own components use that one")
        found[kind] = now
    for kind in sorted(served.keys() - found.keys()):
        best = next((best for group in _GROUPS if (best := _best(served[kind], group))), None)
        if best and not kind.endswith("List"):
            notes.append(f"kind {kind} ({best}) is new")
            found[kind] = best
    return dict(sorted(found.items()))


def _off_by_default(old: Data, told: Told, notes: list[str]) -> list[str]:
    """Alpha and beta versions: each has to be asked for. Those that are not served now may be gone."""
    before, now = set(old["off_by_default"]), {version for version in told.kinds if _maturity(version) > 0}
    for version in sorted(before - now):
        notes.append(f"API {version} is not served: gone, or off (start the cluster with runtime-config api/all=true)")
    for version in sorted(now - before):
        notes.append(f"API {version} is new")
    return sorted(before | now)


def _gates(old: Data, told: Told, notes: list[str]) -> Mapping[str, Data]:
    gates: dict[str, Data] = {}
    for name, (stage, on) in sorted(told.gates.items()):
        before = old["gates"].get(name)
        now: Data = {"stage": _STAGES.get(stage, stage.lower()), "default": on}
        if on and now["stage"] == "alpha":
            notes.append(f"gate {name} is alpha and on: the cluster was started with it, so its default is off")
            now["default"] = False
        if before is None:
            notes.append(f"gate {name} is new ({_short(now)}): needs, locked, unknown_to")
        elif any(before[key] != value for key, value in now.items()):
            notes.append(f"gate {name}: {_short(before)} → {_short(now)}; is it locked now?")
        gates[name] = {**(before or {}), **now}
    for name in sorted(old["gates"].keys() - gates.keys()):
        notes.append(f"gate {name} is told by no component that was asked: gone, or another component's")
    for name, gate in gates.items():
        if lost := sorted(set(gate.get("needs", ())) - gates.keys()):
            notes.append(f"gate {name} needed {', '.join(lost)}, which no component has told of")
            gate["needs"] = [need for need in gate["needs"] if need not in lost]
    return gates


def _best(versions: Iterable[str], group: str) -> str | None:
    """The most mature version of a group."""
    own = [version for version in versions if _group(version) == group]
    return min(own, key=lambda version: (_maturity(version), *(-n for n in _numbers(version))), default=None)


def _group(version: str) -> str:
    return version.rpartition("/")[0]


def _maturity(version: str) -> int:
    """0 for a stable version, 1 for beta, 2 for alpha."""
    name = version.rpartition("/")[2]
    return 2 if "alpha" in name else 1 if "beta" in name else 0


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version.rpartition("/")[2])]


def _short(gate: Mapping[str, Any]) -> str:
    return f"{gate['stage']}, {'on' if gate['default'] else 'off'}"


def _file(data: Data) -> str:
    """A data file as the others are written: a gate per line."""
    gates = "".join(f"  {name}: {_flow(gate)}\n" for name, gate in data["gates"].items())
    others = {key: value for key, value in data.items() if key != "gates"}
    parts = [yaml.safe_dump({key: value}, sort_keys=False, width=1000) for key, value in others.items()]
    return "\n".join([*parts, f"gates:\n{gates}"])


def _flow(gate: Data) -> str:
    return yaml.safe_dump(gate, default_flow_style=True, sort_keys=False, width=1000).strip()
