"""Does a release's data agree with what its components say of themselves?"""

from collections.abc import Collection, Mapping

from harness.releases.release import OURS, Release


def disagreements(release: Release, reported: Mapping[str, Collection[str]]) -> list[str]:
    """What the data says otherwise than the components, a line each. `reported`: component → names of its gates.

    A gate that only one component registers is enough for the data to be right; components that reported nothing, or
    that do not behave as this release, are left out.
    """
    known = {name for component, gates in reported.items() if release.of(component) is release for name in gates}
    if not known:
        return []
    missing = sorted(set(release.gates) - known)
    # Newer programs tell of gates of their own that cannot be used under the older release which they emulate.
    lacking = sorted(name for name in known - {*release.gates, *release.programs.gates} if OURS.search(name))
    lines = []
    if missing:
        lines.append(f"the data of {release.minor} has gates that no component reports: {', '.join(missing)}")
    if lacking:
        lines.append(f"components report gates that the data of {release.minor} lacks: {', '.join(lacking)}")
    return lines
