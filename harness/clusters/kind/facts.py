"""What is fixed about a kind cluster from its start, in a file, so that any process of the run can attach to it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness import releases
from harness.clusters.local.pki import write_private
from harness.clusters.resolution import Resolution
from harness.errors import InfrastructureError
from harness.releases import Release

_FILE = "cluster.json"


@dataclass(frozen=True)
class Ports:
    """The loopback ports of this host at which the control plane answers."""

    apiserver: int
    controller_manager: int
    scheduler: int


@dataclass(frozen=True)
class Facts:
    """A cluster as it was started."""

    name: str
    run_id: str
    release_name: str
    kind_name: str
    """The name by which the kind program knows it."""
    docker_host: str
    image: str
    """The node image."""
    control_plane: str
    workers: Sequence[str]
    """Names of the nodes: of their containers, too."""
    ports: Ports
    programs: Mapping[str, str]
    """Path of each program of this host by name."""
    resolution: Resolution
    notes: Sequence[str]

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
        return cls(**{**data, "ports": Ports(**data["ports"]), "resolution": Resolution(**data["resolution"])})
