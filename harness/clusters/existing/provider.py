"""The one cluster of a run, as the pool asks for it: nothing is started, only looked at."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.clusters.existing import preflight, remains
from harness.clusters.existing.cluster import ExistingCluster
from harness.clusters.existing.facts import Facts
from harness.clusters.existing.target import Target
from harness.clusters.profile import Profile
from harness.clusters.run import Run
from harness.errors import InfrastructureError
from harness.kube import ApiError, Client
from harness.kube.polling import PollTimeout
from harness.releases import Release


def release_of(target: Target) -> Release:
    """The release of the cluster. Raises UsageError and InfrastructureError, with one line."""
    with _client(target) as client:
        return preflight.release_of(client)[0]


def prepare(target: Target) -> list[str]:
    """Look at the cluster before anything is made; returns what a user should know.

    Raises UsageError when nothing could be tried there, InfrastructureError when it does not answer.
    """
    with _client(target) as client:
        return list(preflight.look(client, target, "existing", "<this run>").notes)


def clear(target: Target) -> list[str]:
    """Remove what any run has on the cluster, also one that goes on; returns what there was.

    Raises UsageError and InfrastructureError.
    """
    with _client(target) as client:
        client.release, _ = preflight.release_of(client)
        try:
            return remains.remove(client)
        except (ApiError, PollTimeout) as error:
            raise InfrastructureError(f"context {target.context}: {error}") from error


class ExistingProvider:
    """Implements harness.clusters.pool.Provider."""

    lent_at_once = 1

    def __init__(self, run: Run, target: Target) -> None:
        self._run = run
        self._target = target

    def start(self, directory: Path, *, name: str, profile: Profile) -> ExistingCluster:
        """Take the cluster as it is, whatever the profile."""
        directory.mkdir(mode=0o700)
        self._target.write(remains.kubeconfig(directory))
        facts = preflight.look(Client(remains.kubeconfig(directory)), self._target, name, self._run.id)
        facts.write(directory)
        return ExistingCluster(directory, facts)

    def attach(self, directory: Path) -> ExistingCluster:
        """The cluster that another process of the run has looked at."""
        return ExistingCluster(directory, Facts.read(directory))


@contextmanager
def _client(target: Target) -> Iterator[Client]:
    """A client from a copy that goes again: nothing is written beside the user's kubeconfig."""
    with tempfile.TemporaryDirectory(prefix="dra-e2e-") as scratch:
        copy = Path(scratch) / "kubeconfig"
        target.write(copy)
        yield Client(copy)
