"""What is known about the cluster, for every process of the run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from harness import releases
from harness.errors import InfrastructureError
from harness.releases import Release

#: The label of everything that a run has on somebody's cluster; its value is the run's id.
RUN_LABEL = "dra-e2e/run"

#: Where the Pods of the fake driver are. Whoever has made it has the cluster's nodes for its driver.
DRIVER_NAMESPACE = "dra-e2e-driver"

FILE = "existing.json"


@dataclass(frozen=True)
class Facts:
    """Valid JSON, beside the run's copy of the kubeconfig."""

    name: str
    run_id: str
    minor: str
    nodes: Sequence[str]
    """Nodes that take Pods, sorted."""
    image: str
    driver: Literal["pods", "api", "own"]
    """The fake driver: in Pods, or published only, or none because the cluster's own is looked at."""
    driver_image: str
    gates: Mapping[str, bool]
    """As the API server reports them; empty where it may not be asked."""
    served: Sequence[str]
    """Every group/version of the API."""
    notes: Sequence[str]

    @property
    def release(self) -> Release:
        """The release of the control plane."""
        return releases.get(self.minor)

    def write(self, directory: Path) -> None:
        """Keep them."""
        (directory / FILE).write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, directory: Path) -> "Facts":
        """Those that were kept; raises InfrastructureError when there are none."""
        try:
            return cls(**json.loads((directory / FILE).read_text(encoding="utf-8")))
        except OSError as error:
            raise InfrastructureError(f"the run knows of no existing cluster in {directory}") from error
