"""Programs of a cluster as labelled processes that outlive whoever started them but not their run."""

import contextlib
import json
import os
import select
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from harness.clusters.last_words import last_words
from harness.clusters.run import LABEL
from harness.errors import InfrastructureError

# What a component needs of the environment; the rest (proxies, KUBECONFIG, NOTIFY_SOCKET) could change what it does.
_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "HOME")
# psutil derives a process's start from the boot time, which an adjusted clock moves a little.
_CLOCK_TOLERANCE = 2.0


@dataclass(frozen=True)
class Process:
    """A started program, known by its record so that any process of the run can stop it."""

    name: str
    pid: int
    created: float
    log: Path
    record: Path
    log_offset: int = 0
    """Where its own part of the log begins: a restarted program appends."""

    def alive(self) -> bool:
        """Whether it runs; a zombie does not."""
        return not self._ends_within(0)

    def check(self) -> None:
        """Raise InfrastructureError with the program's own last words if it has ended."""
        if not self.alive():
            raise InfrastructureError(f"{self.name} ended by itself: {self.last_words()} (log: {self.log})")

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; no error when the program is already gone."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def stop(self, grace: float = 10.0) -> None:
        """Ask it to end, insist after `grace` seconds (0: insist at once); returns when it is gone."""
        self.signal(signal.SIGTERM if grace else signal.SIGKILL)
        if not self._ends_within(grace):
            self.signal(signal.SIGKILL)
            if not self._ends_within(10.0):
                raise InfrastructureError(f"{self.name} (process {self.pid}) survives SIGKILL")
        self.record.unlink(missing_ok=True)

    def _ends_within(self, timeout: float) -> bool:
        """Wait so many seconds for its end.

        Its threads end one by one, and its ports are free with the last: only its descriptor tells of that. The process
        table may show a zombie before, and long after where the process that started it reaps it late.
        """
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, os.WNOHANG)  # ours, if it is: otherwise init has it
        try:
            if abs(psutil.Process(self.pid).create_time() - self.created) >= _CLOCK_TOLERANCE:
                return True
            descriptor = os.pidfd_open(self.pid)
        except (psutil.NoSuchProcess, ProcessLookupError):
            return True
        try:
            end = select.poll()
            end.register(descriptor, select.POLLIN)
            return bool(end.poll(timeout * 1000))
        finally:
            os.close(descriptor)

    def last_words(self, count: int = 2) -> str:
        """The last lines of its log that tell an error, or else the last lines."""
        with self.log.open("rb") as log:
            log.seek(self.log_offset)
            return last_words(log.read().decode(errors="replace"), count)


def start(
    name: str, argv: Sequence[str], directory: Path, run_id: str, environment: Mapping[str, str] | None = None
) -> Process:
    """Start a program: log in `<directory>/logs/<name>.log`, record in `<directory>/processes/<name>.json`.

    It gets a session of its own, so a Ctrl-C in the terminal reaches only the harness, which then decides.
    Raises InfrastructureError when the program cannot be executed.
    """
    log, record = directory / "logs" / f"{name}.log", _record(directory, name)
    log.parent.mkdir(exist_ok=True, mode=0o700)
    record.parent.mkdir(exist_ok=True, mode=0o700)
    env = {key: os.environ[key] for key in _ENVIRONMENT if key in os.environ}
    env |= {**(environment or {}), LABEL: run_id}
    to_log = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    offset = log.stat().st_size if log.exists() else 0
    program = shutil.which(argv[0]) or argv[0]
    try:
        pid = os.posix_spawn(
            program,
            list(argv),
            env,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(log), to_log, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
        )
    except OSError as error:
        raise InfrastructureError(f"cannot start {name}: {program}: {error.strerror}") from error
    process = Process(name, pid, psutil.Process(pid).create_time(), log, record, offset)
    temporary = record.with_suffix(".tmp")
    temporary.write_text(json.dumps(asdict(process), default=str))
    temporary.rename(record)
    return process


def find(directory: Path, name: str) -> Process | None:
    """The process of that name, whoever of the run started it; None when it was stopped or never started."""
    try:
        facts = json.loads(_record(directory, name).read_text())
    except FileNotFoundError:
        return None
    return Process(**{**facts, "log": Path(facts["log"]), "record": Path(facts["record"])})


def _record(directory: Path, name: str) -> Path:
    return directory / "processes" / f"{name}.json"
