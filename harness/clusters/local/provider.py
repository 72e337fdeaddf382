"""Local clusters of one release, as the pool asks for them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness import releases
from harness.clusters.local.cluster import PROGRAMS, LocalCluster
from harness.clusters.local.launch import Order, floor, launch
from harness.clusters.profile import Profile
from harness.clusters.resolution import Resolution
from harness.clusters.run import Run
from harness.programs import Components, Program
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
        return Order(name, self._run.id, self._release, self._resolution(profile, programs), paths, args)

    def _resolution(self, profile: Profile, programs: Mapping[str, Program]) -> Resolution:
        """The profile for the release, and for a component of another release (`kubelet=1.36`) its own gates."""
        resolution = profile.resolve(self._release)
        gates, notes = dict(resolution.gates), list(resolution.notes)
        for component in resolution.gates:
            minor = ".".join(programs[component].version.removeprefix("v").split(".")[:2])
            if minor != self._release.minor and minor in releases.supported():
                gates[component] = profile.resolve(releases.get(minor)).gates[component]
                notes.append(f"{component} is of release {minor} and has that release's gates")
        return replace(resolution, gates=gates, notes=tuple(notes))
