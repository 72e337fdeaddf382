"""What is fixed about a kind cluster from its start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.clusters.started import facts


@dataclass(frozen=True)
class Ports:
    """The loopback ports of this host at which the control plane answers."""

    apiserver: int
    controller_manager: int
    scheduler: int


@dataclass(frozen=True)
class Facts(facts.Facts):
    """A cluster as it was started."""

    kind_name: str
    """The name by which the kind program knows it."""
    docker_host: str
    image: str
    """The node image."""
    control_plane: str
    workers: Sequence[str]
    """Names of the nodes: of their containers, too."""
    ports: Ports
    notes: Sequence[str]

    @classmethod
    def _fields(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        return {**super()._fields(data), "ports": Ports(**data["ports"])}
