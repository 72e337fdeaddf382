"""Local clusters of one release, as the pool asks for them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.clusters.local.cluster import LocalCluster
from harness.clusters.local.launch import Order, floor, launch
from harness.clusters.profile import Profile
from harness.clusters.run import Run
from harness.releases import Release


class LocalProvider:
    """Implements harness.clusters.pool.Provider."""

    def __init__(
        self, run: Run, release: Release, programs: Mapping[str, Path], args: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self._run = run
        self._release = release
        self._programs = programs
        self._args = args or {}

    def start(self, directory: Path, *, name: str, profile: Profile) -> LocalCluster:
        """Start a cluster; see `launch`."""
        return launch(self._order(name, profile), directory)

    def attach(self, directory: Path) -> LocalCluster:
        """The cluster that another process of the run started there."""
        return LocalCluster.attach(directory)

    def floor(self, directory: Path, profile: Profile) -> float:
        """Seconds that etcd and kube-apiserver alone need; see `floor`."""
        return floor(self._order("floor", profile), directory)

    def _order(self, name: str, profile: Profile) -> Order:
        return Order(name, self._run.id, self._release, profile.resolve(self._release), self._programs, self._args)
