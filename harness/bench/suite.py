"""All that is measured, in order, for one set of programs or for two in turn."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from harness.bench import throughput
from harness.bench.field import Field, profile_of
from harness.bench.held_back import HeldBack
from harness.bench.latency import FEATURES, Feature, Kubelets
from harness.bench.model import Backlog, Series
from harness.bench.overhead import TITLES as OVERHEAD
from harness.bench.overhead import overhead
from harness.bench.rounds import Samples, interleaved, joined
from harness.bench.start_up import TITLES as START_UP
from harness.bench.start_up import start_up
from harness.bench.throughput import Cell
from harness.bench.wake_up import TITLES as WAKE_UP
from harness.bench.wake_up import wake_up
from harness.bench.workloads import Workload, available
from harness.clusters.local.cluster import LocalCluster
from harness.clusters.local.provider import LocalProvider
from harness.clusters.profile import Profile
from harness.kube import Client, Waiter
from harness.releases import Release

#: How often each figure is measured in turn, and how much of it each time.
_WAKE_UPS, _WAKE_UP_ROUNDS = 100, 3
_LATENCY_ROUNDS = 4
_HELD_BACK, _HELD_BACK_ROUNDS = 100, 3
_SCENARIOS, _SCENARIO_ROUNDS = 8, 2

Tell = Callable[[str], None]


@dataclass
class Side:
    """One set of programs, and what has been measured with it."""

    name: str
    directory: Path
    """An empty one."""
    release: Release
    provider: LocalProvider
    profile: Profile
    arguments: Sequence[str]
    """The same programs, as pytest takes them."""
    series: list[Series] = field(default_factory=list)
    backlogs: list[Backlog] = field(default_factory=list)

    def start(self, name: str, profile: Profile) -> tuple[LocalCluster, Client]:
        """A cluster of the side's own. Its name is part of the paths of sockets, which must be short."""
        cluster = self.provider.start(self.directory / name, name=f"{name}-{self.name}", profile=profile)
        client = Client(cluster.kubeconfig, cluster.release)
        # No Pod is taken before the controller manager has made the account of its namespace.
        Waiter(client).wait_account()
        return cluster, client


@dataclass(frozen=True)
class Suite:
    """The measurements of some sides; each adds to what its sides have."""

    sides: Sequence[Side]
    tell: Tell
    starts: int = 3
    """How many are measured."""

    def run(self, only: Collection[str] = ()) -> None:
        """Measure everything, or those PARTS. Raises InfrastructureError."""
        for name, measure in PARTS.items():
            if not only or name in only:
                measure(self)

    def start_up(self) -> None:
        """Starts and removals of clusters; the first of each reads the programs from disk, and does not count."""
        self.tell(f"{self.starts} starts of a cluster, and one to warm up")

        starts = [partial(start_up, side.provider, side.directory, side.profile) for side in self.sides]
        self._series(START_UP, self.starts + 1, starts, skipped=1)

    def decisions(self) -> None:
        """Waits, and what Kubernetes needs for single Pods, on clusters with kubelets."""
        places = [side.start("k", side.profile) for side in self.sides]
        self.tell(f"{_WAKE_UPS * _WAKE_UP_ROUNDS} waits")
        self._series(WAKE_UP, _WAKE_UP_ROUNDS, [partial(wake_up, client, _WAKE_UPS) for _, client in places])
        kubelets = [Kubelets(cluster, client) for cluster, client in places]
        for feature in FEATURES:
            if self._available(feature.workload):
                self._feature(feature, kubelets)
        for each in kubelets:
            each.close()
        self.tell(f"{_HELD_BACK} Pods that wait for binding conditions, {_HELD_BACK_ROUNDS} times")
        crowds = [HeldBack(cluster, client, _HELD_BACK) for cluster, client in places]
        self._series(crowds[0].titles, _HELD_BACK_ROUNDS, [crowd.round for crowd in crowds])
        for crowd in crowds:
            crowd.close()
        for cluster, _ in places:
            cluster.delete()

    def backlogs(self) -> None:
        """How fast the scheduler binds Pods that wait, on clusters of bare nodes."""
        places = [side.start("f", profile_of(side.profile)) for side in self.sides]
        fields = [Field(cluster, client) for cluster, client in places]
        for cell in throughput.cells():
            if self._available(cell.workload):
                self._cell(cell, fields)
        for cluster, _ in places:
            cluster.delete()

    def scenarios(self) -> None:
        """What pytest and the harness cost."""
        self.tell(f"pytest with {len(OVERHEAD) - 1} times {_SCENARIOS} scenarios, {_SCENARIO_ROUNDS} times")
        runs = [partial(overhead, side.directory, side.arguments, _SCENARIOS) for side in self.sides]
        self._series(OVERHEAD, _SCENARIO_ROUNDS, runs)

    def _feature(self, feature: Feature, kubelets: Sequence[Kubelets]) -> None:
        self.tell(f"{feature.samples * _LATENCY_ROUNDS} decisions: {feature.workload.title}")
        for each in kubelets:
            each.prepare(feature)
        self._series(feature.titles, _LATENCY_ROUNDS, [partial(each.round, feature) for each in kubelets])

    def _cell(self, cell: Cell, fields: Sequence[Field]) -> None:
        self.tell(str(cell))
        for each in fields:
            each.prepare(cell.workload.inventory, cell.nodes, cell.devices)
        runs = [partial(each.run, cell.workload, cell.pods, throughput.BOX) for each in fields]
        for side, found in zip(self.sides, interleaved(throughput.ROUNDS, *runs), strict=True):
            side.backlogs.append(cell.measured(found))

    def _series(
        self, titles: Mapping[str, str], rounds: int, measures: Sequence[Callable[[], Samples]], skipped: int = 0
    ) -> None:
        for side, samples in zip(self.sides, interleaved(rounds, *measures), strict=True):
            side.series += joined(titles, samples[skipped:])

    def _available(self, workload: Workload) -> bool:
        there = all(available(workload, side.profile, side.release) for side in self.sides)
        if not there:
            self.tell(f"left out, not there or off: {workload.title}")
        return there


#: What can be measured alone, in the order in which it is.
PARTS: Mapping[str, Callable[[Suite], None]] = {
    "start": Suite.start_up,
    "latency": Suite.decisions,
    "throughput": Suite.backlogs,
    "scenarios": Suite.scenarios,
}
