"""The cache on disk, shared by any number of processes.

ROOT/NAME/VERSION/OS-ARCH/ holds the program, a record `NAME.json` of what it must be, and a lock file. Whoever makes
the program holds the lock; whatever lies in `partial` when the lock is taken was left by a killed process.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from filelock import FileLock

from harness.programs.program import Artifact, Origin, Program
from harness.programs.progress import step


class Store:
    """Programs below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find(self, artifact: Artifact) -> Program | None:
        """Return the program if it is there whole. A file that changed since it was installed counts as absent."""
        path, record_path = self._paths(artifact)
        try:
            record = json.loads(record_path.read_text("utf-8"))
            stat = path.stat()
            if stat.st_size != record["size"]:
                return None
            if stat.st_mtime_ns != record["mtime_ns"]:
                # Touched or copied: the sum decides, and need not be taken again next time.
                if sha256(path) != record["sha256"]:
                    return None
                with suppress(OSError):  # a cache that can only be read
                    _write(record_path, {**record, "mtime_ns": stat.st_mtime_ns})
            return Program(artifact.name, path, artifact.version, record["sha256"], record["origin"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    @contextmanager
    def lock(self, artifacts: Sequence[Artifact]) -> Iterator[None]:
        """Hold the locks of all artifacts; one order everywhere, so that no two processes wait for each other."""
        with ExitStack() as held:
            with step(f"waiting for another process to get {', '.join(map(str, artifacts))}"):
                for artifact in sorted(artifacts):
                    folder = self._folder(artifact)
                    folder.mkdir(parents=True, exist_ok=True)
                    held.enter_context(FileLock(folder / "lock"))
            yield

    @contextmanager
    def workspace(self, artifact: Artifact) -> Iterator[Path]:
        """Lend an empty folder on the cache's own file system, gone afterwards. The artifact's lock must be held."""
        partial = self._folder(artifact) / "partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def install(self, artifact: Artifact, file: Path, origin: Origin) -> Program:
        """Move a finished file from a workspace into the cache. The artifact's lock must be held."""
        path, record_path = self._paths(artifact)
        file.chmod(0o755)
        with file.open("rb") as handle:
            os.fsync(handle.fileno())
        stat = file.stat()
        digest = sha256(file)
        record_path.unlink(missing_ok=True)
        file.replace(path)
        # Last, because a program without a record does not exist.
        _write(record_path, {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns, "sha256": digest, "origin": origin})
        return Program(artifact.name, path, artifact.version, digest, origin)

    def _folder(self, artifact: Artifact) -> Path:
        return self.root / artifact.name / artifact.version / str(artifact.platform)

    def _paths(self, artifact: Artifact) -> tuple[Path, Path]:
        folder = self._folder(artifact)
        return folder / artifact.name, folder / f"{artifact.name}.json"


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write(path: Path, record: dict[str, object]) -> None:
    # One name per process: a reader without the lock may be writing the same record.
    part = path.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(record), "utf-8")
    part.replace(path)
