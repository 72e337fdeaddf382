"""What is known about the cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from harness.clusters import facts

#: The label of everything that a run has on somebody's cluster; its value is the run's id.
RUN_LABEL = "dra-e2e/run"

#: Where the Pods of the fake driver are. Whoever has made it has the cluster's nodes for its driver.
DRIVER_NAMESPACE = "dra-e2e-driver"


@dataclass(frozen=True)
class Facts(facts.Facts):
    """A cluster as it was found; its file lies beside the run's copy of the kubeconfig."""

    FILE: ClassVar[str] = "existing.json"  # the reaper looks for it

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
