"""One Kubernetes release, as a value."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

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
    components: Mapping[str, str] = field(repr=False, compare=False)

    def gate(self, name: str) -> Gate | None:
        """Return the gate, or None where no component of this release knows it."""
        return self.gates.get(name)

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

        Raises KeyError for a name that no release's data contains, so that a misspelt one is not a quiet no.
        """
        return self.features[feature]
