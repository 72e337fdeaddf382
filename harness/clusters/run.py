"""A run: the identity, the directory and the lock under which everything that is started lives and dies."""

import fcntl
import os
import secrets
import stat
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock

from harness.errors import InfrastructureError, UsageError

#: Environment variable that every process of a run carries; its value is the run's id.
LABEL = "DRA_E2E_RUN"

# Linux takes 107 bytes for a socket's path. Below a run there are `/c1/n1/plugins_registry/` and a driver's name.
_LONGEST_RUN_DIRECTORY = 40


def base_directory() -> Path:
    """Where this user's runs lie: `<temporary directory>/dra-e2e-<uid>`, mode 0700, made when missing.

    Raises UsageError when the path is too long for sockets or belongs to somebody else.
    """
    base = Path(tempfile.gettempdir()) / f"dra-e2e-{os.getuid()}"
    if len(str(base)) + 7 > _LONGEST_RUN_DIRECTORY:
        raise UsageError(f"the temporary directory {base.parent} has too long a name for sockets: set TMPDIR=/tmp")
    base.mkdir(mode=0o700, exist_ok=True)
    facts = base.lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid() or facts.st_mode & 0o077:
        raise UsageError(f"{base} is not a directory of yours with mode 0700: remove it or set TMPDIR")
    return base


def registry_lock() -> FileLock:
    """Held while runs are made or reaped, so that a run is never seen between its directory and its lock."""
    return FileLock(base_directory() / ".lock")


@dataclass(frozen=True)
class Run:
    """One run. The process that created it owns it; others attach to it by its directory."""

    directory: Path
    _lock: int | None = field(default=None, repr=False, compare=False)

    @classmethod
    def create(cls) -> "Run":
        """Make a run of a new id and hold its lock until `release` or the end of this process, however it ends."""
        with registry_lock():
            directory = base_directory() / secrets.token_hex(3)
            directory.mkdir(mode=0o700)
            # Python opens files close-on-exec: no program started by this process inherits the lock.
            lock = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
        return cls(directory, lock)

    @classmethod
    def attach(cls, directory: Path) -> "Run":
        """The run of another process, by its directory; raises InfrastructureError when it is gone."""
        if not (directory / "lock").exists():
            raise InfrastructureError(f"the run in {directory} is gone")
        return cls(directory)

    @property
    def id(self) -> str:
        """Six hexadecimal digits."""
        return self.directory.name

    @property
    def kept(self) -> bool:
        """Whether it shall outlive its owner."""
        return (self.directory / "keep").exists()

    def keep(self) -> None:
        """Let it outlive its owner: only an explicit wish removes it then."""
        (self.directory / "keep").touch()

    def is_alive(self) -> bool:
        """Whether its owner lives, wherever that is."""
        try:
            probe = os.open(self.directory / "lock", os.O_RDWR)
        except (FileNotFoundError, IsADirectoryError):
            return False
        try:
            fcntl.flock(probe, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(probe)
        return False

    def release(self) -> None:
        """Give up ownership; what is not kept is then the reaper's."""
        if self._lock is not None:
            os.close(self._lock)
            object.__setattr__(self, "_lock", None)
