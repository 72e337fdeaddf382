"""What is fixed about a local cluster from its start, in a file, so that any process of the run can attach to it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from harness import releases
from harness.clusters.local.control_plane import Ports
from harness.clusters.local.kubelet import Node
from harness.clusters.local.pki import write_private
from harness.clusters.resolution import Resolution
from harness.errors import InfrastructureError
from harness.releases import Release

_FILE = "cluster.json"


@dataclass(frozen=True)
class Facts:
    """A cluster as it was started."""

    name: str
    run_id: str
    release_name: str
    programs: Mapping[str, str]
    """Path of each program by name."""
    args: Mapping[str, Sequence[str]]
    """The user's own further flags by component; they come last."""
    ports: Ports
    nodes: Sequence[Node]
    resolution: Resolution

    @property
    def release(self) -> Release:
        """The release of its control plane."""
        return releases.get(self.release_name)

    def write(self, directory: Path) -> None:
        """Keep them; from now on others can attach."""
        write_private(directory / _FILE, json.dumps(asdict(self), indent=1))

    @classmethod
    def read(cls, directory: Path) -> "Facts":
        """Raises InfrastructureError when there is no cluster in the directory."""
        try:
            data = json.loads((directory / _FILE).read_text())
        except FileNotFoundError as error:
            raise InfrastructureError(f"there is no cluster in {directory}") from error
        return cls(
            **{
                **data,
                "ports": Ports(**data["ports"]),
                "nodes": [Node(**node) for node in data["nodes"]],
                "resolution": Resolution(**data["resolution"]),
            }
        )


@dataclass(frozen=True)
class Extras:
    """Gates and flags of a restart, beside those of the start; they hold until another restart replaces them."""

    gates: Mapping[str, bool] = field(default_factory=dict)
    args: Sequence[str] = ()

    def write(self, directory: Path, name: str) -> None:
        """Keep them for the component of that name (a kubelet's has its node's name)."""
        write_private(directory / "extras" / f"{name}.json", json.dumps(asdict(self)))

    @classmethod
    def read(cls, directory: Path, name: str) -> "Extras":
        """Those of the last restart; none without one."""
        try:
            return cls(**json.loads((directory / "extras" / f"{name}.json").read_text()))
        except FileNotFoundError:
            return cls()
