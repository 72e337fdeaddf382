"""Local clusters of one release, as the pool asks for them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.clusters import skew
from harness.clusters.local.cluster import PROGRAMS, LocalCluster
from harness.clusters.local.launch import Order, floor, launch
from harness.clusters.profile import Profile
from harness.clusters.run import Run
from harness.programs import Components
from harness.releases import Release


class LocalProvider:
    """Implements harness.clusters.pool.Provider."""

    lent_at_once = 2

    def __init__(self, run: Run, release: Release, components: Components) -> None:
        self._run = run
        self._release = release
        self._components = components

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
        programs = {program: self._components.program(program, self._release) for program in PROGRAMS}
        paths = {name: program.path for name, program in programs.items()}
        args: Mapping[str, Sequence[str]] = {name: self._components.args(name) for name in PROGRAMS}
        resolution = skew.resolution(profile, self._release, self._components.replacements)
        return Order(name, self._run.id, self._release, resolution, paths, args)
