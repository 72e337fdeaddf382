"""The process that runs scenarios: it attaches to the run's clusters and reports what each scenario came to."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from harness.clusters import providers
from harness.clusters.existing.cluster import ExistingCluster
from harness.clusters.profile import Profile
from harness.clusters.protocol import Cluster
from harness.clusters.run import Run
from harness.drivers import DriverHost, Observed
from harness.kube import Client
from harness.plugin.markers import Marks
from harness.plugin.options import Options
from harness.plugin.scenario import Scenario
from harness.timeline import Timeline

#: The scheduler profiles of kind-configs/scheduler.yaml that are lent to scenarios.
SCHEDULERS = 16


@dataclass
class Place:
    """A cluster as this worker uses it."""

    cluster: Cluster
    client: Client
    drivers: DriverHost


@dataclass
class Worker:
    """All that the scenarios of one process share."""

    options: Options
    run: Run
    number: int
    _places: dict[str, Place] = field(default_factory=dict)
    _leaving: list[Future[None]] = field(default_factory=list)
    _threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(2, "leaving"))

    def __post_init__(self) -> None:
        options = self.options
        self._pool = providers.pool(
            options.provider, self.run, options.release, options.components, options.target, options.wishes
        )

    @contextmanager
    def scenario(self, name: str, marks: Marks) -> Iterator[Scenario]:
        """Lend a scenario its part of a cluster. It is cleared away in the background, unless it was alone there."""
        profile = self._profile(marks)
        if marks.exclusive:
            with self._pool.exclusive(profile) as cluster:
                place = self._attach(cluster)
                try:
                    scenario = self._scenario(name, place)
                    try:
                        yield scenario
                    finally:
                        scenario.close()
                        if scenario.spoilt:
                            self._pool.spoil(cluster)
                finally:
                    place.drivers.close()
            return
        scenario = self._scenario(name, self._shared(profile))
        try:
            yield scenario
        finally:
            self._leaving.append(self._threads.submit(scenario.close))

    def capabilities(self, marks: Marks) -> frozenset[str]:
        """What the cluster for a scenario can show.

        One that is only lent is like the shared ones in that: none is started to be asked.
        """
        profile = self.options.profile if marks.exclusive else self._profile(marks)
        return self._shared(profile).cluster.capabilities

    def obstacles(self, marks: Marks, named: Collection[str]) -> list[str]:
        """What a scenario needs that a cluster which is as its owner has it does not offer; nothing elsewhere.

        `named` are the feature gates and API versions of its statements.
        """
        if self.options.target is None:
            return []
        cluster = self._shared(self.options.profile).cluster
        assert isinstance(cluster, ExistingCluster)
        found = cluster.lacks(named)
        if marks.exclusive:
            found.append(f"{marks.exclusive} of its own to change")
        if marks.profile and not cluster.has_profile(*marks.profile):
            found.append(f"profile {_title(*marks.profile)}")
        return found

    def _profile(self, marks: Marks) -> Profile:
        if marks.profile is None or self.options.target:
            return self.options.profile
        name, off, on = marks.profile
        return self.options.load(name).variation(off=off, on=on)

    def _scenario(self, name: str, place: Place) -> Scenario:
        target = self.options.target
        scheduler = "default-scheduler" if target else f"dra-e2e-{self.number % SCHEDULERS}"
        own = Observed(target.driver, target.device_class or "") if target and target.driver else None
        return Scenario(
            name, place.cluster, place.client, place.drivers, scheduler, self.options.time_factor, own, bool(target)
        )

    def _shared(self, profile: Profile) -> Place:
        if profile.key not in self._places:
            self._places[profile.key] = self._attach(self._pool.shared(profile))
        return self._places[profile.key]

    def _attach(self, cluster: Cluster) -> Place:
        if isinstance(cluster, ExistingCluster):
            client: Client = cluster.guest()
        else:
            client = Client(cluster.kubeconfig, cluster.release)
        return Place(cluster, client, DriverHost(cluster, client, self.options.driver_image))

    def close(self) -> list[str]:
        """Wait until every scenario has left; returns what went wrong with that, a line each."""
        trouble = []
        for leaving in self._leaving:
            try:
                leaving.result()
            except Exception as error:  # whatever it is, it is told and turns the run into an error
                trouble.append(f"{type(error).__name__}: {error}")
        self._threads.shutdown()
        for place in self._places.values():
            place.drivers.close()
        return trouble


def _title(name: str, off: Mapping[str, Sequence[str]], on: Mapping[str, Sequence[str]]) -> str:
    changed = {f"{gate}={value}": None for value, by in (("false", off), ("true", on)) for gate in chain(*by.values())}
    return f"{name} with {', '.join(changed)}" if changed else name


def now() -> str:
    """The time as a report says it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass
class Trace:
    """What is known about a running scenario, for its result."""

    marks: Marks
    started: str = field(default_factory=now)
    clock: float = field(default_factory=time.monotonic)
    scenario: Scenario | None = None
    skip: str | None = None
    differences: list[str] = field(default_factory=list)
    evidence: Path | None = None
    timeline: Timeline | None = None

    def result(self, nodeid: str, outcome: str, reason: str, release: str, swapped: bool) -> dict[str, Any]:
        """The scenario's result as plain data."""
        return {
            "nodeid": nodeid,
            "outcome": outcome,
            "statements": list(self.marks.statements),
            "controls": list(self.marks.controls),
            "deviates": [
                {"statement": d.statement, "why": d.why, "where": list(d.where)}
                for d in self.marks.deviations
                if not d.where or release in d.where
            ],
            "reason": reason,
            "skip": self.skip,
            "started": self.started,
            "duration": round(time.monotonic() - self.clock, 3),
            "observed": self.scenario.recorder.entries() if self.scenario else [],
            "evidence": str(self.evidence) if self.evidence else "",
            "difference": self.differences[-1] if self.differences else "",
            "swapped": swapped,
            "notes": [],
            "timeline": self.timeline.to_json() if self.timeline else None,
        }
