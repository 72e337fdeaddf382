"""The providers by name."""

from collections.abc import Callable

from harness.clusters.local import host
from harness.clusters.local.provider import LocalProvider
from harness.clusters.pool import Pool, Provider
from harness.clusters.run import Run
from harness.errors import UsageError
from harness.programs import Components
from harness.releases import Release

PROVIDERS: dict[str, Callable[[Run, Release, Components], Provider]] = {"local": LocalProvider}

_HOSTS: dict[str, Callable[[], list[str]]] = {"local": host.prepare}


def pool(name: str, run: Run, release: Release, components: Components) -> Pool:
    """The run's pool of clusters of one provider; raises UsageError for an unknown one."""
    if name not in PROVIDERS:
        raise UsageError(f"unknown provider {name!r}; choose one of {', '.join(PROVIDERS)}")
    return Pool(run, PROVIDERS[name](run, release, components))


def prepare_host(name: str) -> list[str]:
    """Give a provider what it needs of this host; returns what the user should know of it."""
    return _HOSTS[name]()
