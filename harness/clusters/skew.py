"""Components of another release than the cluster's own (`--component kubelet=1.36`)."""

from collections.abc import Mapping
from dataclasses import replace

from harness import releases
from harness.clusters.profile import Profile
from harness.clusters.resolution import Resolution
from harness.programs import Program
from harness.releases import Release


def resolution(profile: Profile, release: Release, programs: Mapping[str, Program]) -> Resolution:
    """The profile for the release, and for a component of another supported one that release's own gates."""
    resolved = profile.resolve(release)
    gates, notes = dict(resolved.gates), list(resolved.notes)
    for component in resolved.gates.keys() & programs.keys():
        minor = ".".join(programs[component].version.removeprefix("v").split(".")[:2])
        if minor != release.of(component).minor and minor in releases.supported():
            gates[component] = profile.resolve(releases.get(minor)).gates[component]
            notes.append(f"{component} is of release {minor} and has that release's gates")
    return replace(resolved, gates=gates, notes=tuple(notes))
