"""The providers by name."""

from collections.abc import Callable

from harness.clusters.existing import provider as existing
from harness.clusters.existing.target import Target
from harness.clusters.kind import provider as kind
from harness.clusters.local import host
from harness.clusters.local.provider import LocalProvider
from harness.clusters.pool import Pool, Provider
from harness.clusters.run import Run
from harness.clusters.wishes import Wishes
from harness.errors import UsageError
from harness.programs import Components
from harness.releases import Release

#: Those that start clusters.
PROVIDERS: dict[str, Callable[[Run, Release, Components, Wishes], Provider]] = {
    "local": lambda run, release, components, _: LocalProvider(run, release, components),
    "kind": kind.KindProvider,
}

#: The one that takes a cluster that is there.
EXISTING = "existing"

_PREPARATIONS: dict[str, Callable[[Release, Wishes], list[str]]] = {
    "local": lambda *_: host.prepare(),
    "kind": kind.prepare,
}

_NONE = Wishes()


def pool(
    name: str, run: Run, release: Release, components: Components, target: Target | None = None, wishes: Wishes = _NONE
) -> Pool:
    """The run's pool of clusters of one provider, or of the `target`; raises UsageError for an unknown provider."""
    if target is not None:
        return Pool(run, existing.ExistingProvider(run, target))
    if name not in PROVIDERS:
        raise UsageError(f"unknown provider {name!r}; choose one of {', '.join(PROVIDERS)}")
    return Pool(run, PROVIDERS[name](run, release, components, wishes))


def check(name: str, release: Release, wishes: Wishes) -> None:
    """Look for what a provider cannot do without. Raises UsageError that says what to do."""
    if name == "kind":
        kind.check(release, wishes)


def prepare(name: str, release: Release, target: Target | None = None, wishes: Wishes = _NONE) -> list[str]:
    """Have ready what all clusters of a provider share, of this host and of a release, before the first one starts.

    Returns what the user should know. Raises UsageError where the host, or the cluster `target`, lacks what it must
    have.
    """
    return _PREPARATIONS[name](release, wishes) if target is None else existing.prepare(target)
