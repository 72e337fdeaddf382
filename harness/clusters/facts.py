"""What is fixed about a cluster, in a file in its directory, so that any process of the run can attach to it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from harness import releases
from harness.clusters.private import write_private
from harness.errors import InfrastructureError
from harness.releases import Release


@dataclass(frozen=True)
class Facts:
    """A cluster as a process of the run has started or found it. Valid JSON."""

    FILE: ClassVar[str] = "cluster.json"

    name: str
    """The name by which the run knows it."""
    run_id: str
    release_name: str

    @property
    def release(self) -> Release:
        """The release of its control plane."""
        return releases.get(self.release_name)

    def write(self, directory: Path) -> None:
        """Keep them (mode 0600); from now on others can attach."""
        write_private(directory / self.FILE, json.dumps(asdict(self), indent=1))

    @classmethod
    def read(cls, directory: Path) -> Self:
        """Those that were kept; raises InfrastructureError when there is no cluster in the directory."""
        try:
            kept = (directory / cls.FILE).read_text()
        except FileNotFoundError as error:
            raise InfrastructureError(f"there is no cluster in {directory}") from error
        return cls(**cls._fields(json.loads(kept)))

    @classmethod
    def _fields(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """The fields from JSON; whoever has some that are no values of JSON makes them here."""
        return dict(data)
