"""Which backlogs are measured: workloads by the number of nodes, and how one grows with devices and waiting Pods."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.bench import workloads
from harness.bench.model import Backlog
from harness.bench.workloads import Workload

NODES = (100, 500, 1000)
DEVICES = 8
PODS = 200
ROUNDS = 2

#: Seconds that the scheduler has for each round.
BOX = 10.0

#: In an order in which devices change as rarely as can be.
WORKLOADS = (
    workloads.PLAIN,
    workloads.CLAIM,
    workloads.SHARED,
    workloads.EXTENDED,
    workloads.GANG,
    workloads.TAINTS,
    workloads.CONDITIONS,
    workloads.ALLOCATABLE,
)

#: Besides DEVICES and PODS, with the fewest nodes.
MORE_PODS = (50, 400, 800)
MORE_DEVICES = (32, 128)


@dataclass(frozen=True)
class Cell:
    """One backlog."""

    workload: Workload
    nodes: int
    devices: int = DEVICES
    pods: int = PODS

    def measured(self, rounds: Sequence[tuple[int, float]]) -> Backlog:
        """What its rounds came to."""
        return Backlog(self.workload.name, self.workload.title, self.nodes, self.devices, self.pods, tuple(rounds))

    def __str__(self) -> str:
        return f"{self.pods} Pods, {self.workload.title}, {self.nodes} nodes of {self.devices} devices"


def cells() -> Iterator[Cell]:
    """All of them; the number of nodes only grows, and devices change as rarely as can be."""
    fewest, *_ = NODES
    for pods in MORE_PODS:
        yield Cell(workloads.CLAIM, fewest, pods=pods)
    for nodes in NODES:
        for workload in WORKLOADS:
            yield Cell(workload, nodes)
        if nodes == fewest:
            for devices in MORE_DEVICES:
                yield Cell(workloads.CLAIM, nodes, devices)
