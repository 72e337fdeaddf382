"""One Kubernetes release, as a value."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

EMULATED_BY = "emulated by"

#: The families of gates that this project is about: a new one must come into the data.
OURS = re.compile(r"^DRA|Workload|PodGroup|GangScheduling")

#: Components with `--emulated-version`, and what else they are told. The others ask the API server for objects in the
#: newest versions that they know: it serves these too, as soon as an older beta version of them is switched on.
_EMULATORS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "kube-apiserver": ("--emulation-forward-compatible", "--runtime-config-emulation-forward-compatible"),
        "kube-controller-manager": (),
        "kube-scheduler": (),
    }
)

Stage = Literal["alpha", "beta", "ga", "deprecated"]


@dataclass(frozen=True)
class Gate:
    """A feature gate as it stands in one release when its component is given no flag."""

    name: str
    stage: Stage
    default: bool
    locked: bool
    """A locked gate may be given with its default value only."""
    needs: tuple[str, ...] = ()
    """Gates that must be on when this one is; checked at start-up from 1.35 on."""
    unknown_to: tuple[str, ...] = ()
    """Components that refuse to start when given this gate."""
    kinds: tuple[str, ...] = ()
    """Kinds without which it is of no use: a component that has it on waits for them."""


@dataclass(frozen=True)
class Release:
    """A supported Kubernetes release."""

    minor: str
    """For example `1.37`."""
    version: str
    """For example `v1.37.2`."""
    gates: Mapping[str, Gate] = field(repr=False, compare=False)
    api_versions: Mapping[str, str] = field(repr=False, compare=False)
    off_by_default: tuple[str, ...] = field(repr=False, compare=False)
    features: Mapping[str, bool] = field(repr=False, compare=False)
    ungated: frozenset[str] = field(repr=False, compare=False)
    """Features that its programs have whichever older release they emulate."""
    components: Mapping[str, str] = field(repr=False, compare=False)
    covered: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """Gates of later releases → the gate that does their work here."""
    renamed: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """What the release before calls otherwise: its name → the one here."""
    emulates: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """The minors as which its control plane can behave (`--emulated-version`)."""
    emulated_by: "Release | None" = None
    """The release whose programs behave as this one; None for its own programs."""

    @property
    def name(self) -> str:
        """What tells it from every other one, for `get`: the minor, or `1.36 emulated by 1.37`."""
        return f"{self.minor} {EMULATED_BY} {self.emulated_by.minor}" if self.emulated_by else self.minor

    @property
    def programs(self) -> "Release":
        """The release that its programs are of."""
        return self.emulated_by or self

    def of(self, component: str) -> "Release":
        """The release as which a component behaves. A kubelet emulates nothing: it is what its program is."""
        return self.programs if component == "kubelet" else self

    def flags(self, component: str) -> tuple[str, ...]:
        """What makes a component of the control plane behave as this release."""
        if self.emulated_by is None or component not in _EMULATORS:
            return ()
        return (f"--emulated-version={self.minor}", *_EMULATORS[component])

    def gate(self, name: str) -> Gate | None:
        """Return the gate, or None where no component of this release knows it."""
        return self.gates.get(name)

    def knows(self, gate: str) -> bool:
        """Tell whether what a gate is for is there, behind that gate or, in this release, behind another one."""
        return gate in self.gates or gate in self.covered

    def api_version(self, kind: str) -> str | None:
        """Return the apiVersion of a kind that this release's own components use, or None where it has no such kind."""
        return self.api_versions.get(kind)

    def runtime_config(self, *kinds: str) -> tuple[str, ...]:
        """Return the API versions that only --runtime-config serves: those these kinds need, or all without kinds."""
        if not kinds:
            return self.off_by_default
        wanted = {self.api_versions.get(kind) for kind in kinds}
        return tuple(version for version in self.off_by_default if version in wanted)

    def component_version(self, component: str) -> str:
        """Return the version of a program or image that goes with this release. Raises KeyError for an unlisted one.

        `etcd-image`, `coredns` and `pause` are what this release's kubeadm names.
        """
        return self.components[component]

    def has(self, feature: str) -> bool:
        """Tell whether an API field or behaviour named in the data has the shape that name stands for.

        `Gate.default` and `Gate.locked` tell whether that gate is on by itself, and whether nobody can change it.
        Raises KeyError for a name that no release's data contains, so that a misspelt one is not a quiet no.
        """
        return self.features[feature]
