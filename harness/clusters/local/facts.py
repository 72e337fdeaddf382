"""What is fixed about a local cluster from its start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.clusters.local.control_plane import Ports
from harness.clusters.local.kubelet import Node
from harness.clusters.started import facts


@dataclass(frozen=True)
class Facts(facts.Facts):
    """A cluster as it was started."""

    args: Mapping[str, Sequence[str]]
    """The user's own further flags by component; they come last."""
    ports: Ports
    nodes: Sequence[Node]

    @classmethod
    def _fields(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        own = {"ports": Ports(**data["ports"]), "nodes": [Node(**node) for node in data["nodes"]]}
        return {**super()._fields(data), **own}
