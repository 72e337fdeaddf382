"""The clusters of a run: one per profile that all workers share, and a few that are lent to one scenario at a time."""

import hashlib
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from filelock import FileLock, Timeout

from harness.clusters.profile import Profile
from harness.clusters.protocol import Cluster
from harness.clusters.run import Run
from harness.errors import InfrastructureError

_TURN = 0.1  # seconds to wait for one slot before looking at the next


class PooledCluster(Cluster, Protocol):
    """What the pool itself asks of a cluster."""

    def reset(self) -> None:
        """Bring every component back to how the cluster was started."""

    def is_healthy(self) -> bool:
        """Whether every component is well and every node takes Pods."""


class Provider(Protocol):
    """Makes clusters of one kind, for one release."""

    def start(self, directory: Path, *, name: str, profile: Profile) -> PooledCluster:
        """Start a cluster that keeps its files in this directory, which does not exist yet."""

    def attach(self, directory: Path) -> PooledCluster:
        """The cluster that another process of the run started there; InfrastructureError when there is none."""

    @property
    def lent_at_once(self) -> int:
        """How many clusters this machine bears beside the shared ones."""


class Pool:
    """Any process of the run may have its own; they meet in the run's directory. The run's owner removes everything."""

    def __init__(self, run: Run, provider: Provider) -> None:
        self._run = run
        self._provider = provider
        self._slots = [_Slot(run.directory / f"x{number}") for number in range(provider.lent_at_once)]
        self._shared: dict[str, PooledCluster] = {}
        self._spoilt: set[str] = set()

    def shared(self, profile: Profile) -> PooledCluster:
        """The cluster of this profile that all workers use, started by whoever asks first.

        Raises InfrastructureError, for the later ones with the text of the first, when it cannot be started.
        """
        if profile.key not in self._shared:
            directory = self._shared_directory(profile)
            with FileLock(f"{directory}.lock"):
                self._shared[profile.key] = self._start_once(directory, profile)
        return self._shared[profile.key]

    @contextmanager
    def exclusive(self, profile: Profile) -> Iterator[PooledCluster]:
        """Lend a cluster of this profile alone; waits while all are lent.

        It is lent again when it is healthy after its components are back to how they were, unless the block raised
        or called `spoil`.
        """
        slot = self._free_slot(profile.key)
        try:
            cluster = self._lend(slot, profile)
            slot.lent.touch()
            try:
                yield cluster
            except BaseException:
                self._discard(slot)
                raise
            self._take_back(slot, cluster)
        finally:
            slot.lock.release()

    def spoil(self, cluster: Cluster) -> None:
        """Say that a lent cluster is in a state in which nobody else should have it."""
        self._spoilt.add(cluster.name)

    def find(self, profile: Profile) -> PooledCluster | None:
        """The shared cluster of this profile, whoever started it; None when nobody has."""
        directory = self._shared_directory(profile)
        return self._provider.attach(directory) if Path(f"{directory}.started").exists() else None

    def failed(self) -> list[Path]:
        """The directories of clusters that did not start; their logs tell why."""
        logs = sorted(self._run.directory.glob("*/logs"))
        known = (".started", ".key")
        return [path.parent for path in logs if not any(Path(f"{path.parent}{mark}").exists() for mark in known)]

    def _shared_directory(self, profile: Profile) -> Path:
        # Short, because socket paths lie below it.
        return self._run.directory / f"s{hashlib.sha256(profile.key.encode()).hexdigest()[:4]}"

    def _start_once(self, directory: Path, profile: Profile) -> PooledCluster:
        failed, started = Path(f"{directory}.failed"), Path(f"{directory}.started")
        if failed.exists():
            raise InfrastructureError(failed.read_text())
        if started.exists():
            return self._provider.attach(directory)
        shutil.rmtree(directory, ignore_errors=True)
        try:
            cluster = self._provider.start(directory, name=f"shared-{profile.key}", profile=profile)
        except InfrastructureError as error:
            failed.write_text(str(error))
            raise
        started.touch()
        return cluster

    def _free_slot(self, key: str) -> "_Slot":
        """A slot that is ours from now on: with such a cluster rather than an empty one rather than another."""
        turn = 0.0
        while True:
            for slot in sorted(self._slots, key=lambda slot: {key: 0, "": 1}.get(slot.key, 2)):
                try:
                    slot.lock.acquire(timeout=turn)
                except Timeout:
                    continue
                return slot
            turn = _TURN

    def _lend(self, slot: "_Slot", profile: Profile) -> PooledCluster:
        if slot.lent.exists():  # its borrower died with it in an unknown state
            self._discard(slot)
        if slot.key == profile.key:
            return self._provider.attach(slot.directory)
        self._discard(slot)
        cluster = self._provider.start(slot.directory, name=f"{slot.directory.name}-{profile.key}", profile=profile)
        slot.key_file.write_text(profile.key)
        return cluster

    def _take_back(self, slot: "_Slot", cluster: PooledCluster) -> None:
        try:
            if cluster.name not in self._spoilt:
                cluster.reset()
                if cluster.is_healthy():
                    slot.lent.unlink()
                    return
        except InfrastructureError as error:
            print(f"dra-e2e: {cluster.name} is not lent again: {error}", file=sys.stderr)
        self._spoilt.discard(cluster.name)
        self._discard(slot)

    def _discard(self, slot: "_Slot") -> None:
        if slot.key:
            self._provider.attach(slot.directory).delete()
        shutil.rmtree(slot.directory, ignore_errors=True)
        slot.key_file.unlink(missing_ok=True)
        slot.lent.unlink(missing_ok=True)


class _Slot:
    """A place for one lent cluster, held by whoever holds its lock."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.lock = FileLock(f"{directory}.lock")
        self.key_file = Path(f"{directory}.key")
        self.lent = Path(f"{directory}.lent")

    @property
    def key(self) -> str:
        """The key of its cluster's profile; empty without a cluster."""
        try:
            return self.key_file.read_text()
        except FileNotFoundError:
            return ""
