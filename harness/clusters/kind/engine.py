"""The Docker engine: the one that runs, or a private one where Docker is installed but not running."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import docker
import platformdirs
import psutil
from docker.context import ContextAPI
from docker.errors import DockerException
from filelock import FileLock

from harness.clusters.kind import capabilities
from harness.errors import InfrastructureError, UsageError
from harness.kube.polling import PollTimeout, poll

#: What a user reads who wants kind clusters where no engine answers.
NONE = "no Docker engine answers: start Docker, or let `make engine` start a private one"

_START, _STOP = 60.0, 60.0
_DEFAULT = "unix:///var/run/docker.sock"
_PING, _ANSWER = 15, 120  # seconds in which an engine says that it is there, and does what it is asked to do


@dataclass(frozen=True)
class Engine:
    """A Docker engine that answers."""

    host: str
    """As in DOCKER_HOST."""

    def client(self) -> docker.DockerClient:
        """A connection to it. Raises InfrastructureError when it no longer answers."""
        try:
            return docker.DockerClient(base_url=self.host, version="auto", timeout=_ANSWER)
        except DockerException as error:
            raise InfrastructureError(f"the Docker engine at {self.host} does not answer: {error}") from error

    def environment(self) -> Mapping[str, str]:
        """What the docker and kind programs need to reach it."""
        return {**os.environ, "DOCKER_HOST": self.host}


def find() -> Engine | None:
    """The engine of DOCKER_HOST, of the user's Docker context, or the private one; None when none answers."""
    return next((Engine(host) for host in _hosts() if _answers(host)), None)


def require() -> Engine:
    """The engine to use. Raises UsageError, with what to do, when none answers."""
    engine = find()
    if engine is None:
        raise UsageError(NONE)
    return engine


def _hosts() -> Iterator[str]:
    if named := os.environ.get("DOCKER_HOST"):
        yield named  # said so: no other one, then
        return
    yield _context_host() or _DEFAULT
    yield Private().host


def _context_host() -> str | None:
    with suppress(DockerException, OSError, ValueError, AttributeError):
        host = ContextAPI.get_current_context().Host
        return str(host).replace("http+unix://", "unix://") if host else None
    return None


def _answers(host: str) -> bool:
    try:
        client = docker.DockerClient(base_url=host, version="auto", timeout=_PING)
    except (DockerException, OSError):
        return False
    client.close()
    return True


class Private:
    """An engine of our own, for all runs of this user: its data, socket and log lie in one folder of the cache."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or Path(platformdirs.user_cache_dir("dra-e2e")) / "engine"

    @property
    def host(self) -> str:
        """As in DOCKER_HOST."""
        return f"unix://{self.folder / 'docker.sock'}"

    def is_running(self) -> bool:
        """Whether it answers."""
        return (self.folder / "docker.sock").exists() and _answers(self.host)

    def start(self) -> list[str]:
        """Start it; returns what the user should know. Idempotent.

        Raises UsageError where Docker is not installed or we may not start it, InfrastructureError with its own
        last words when it ends.
        """
        if os.geteuid() != 0:
            raise UsageError("only root can start a Docker engine: start Docker yourself, or use sudo make engine")
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with FileLock(self.folder / "lock"):
            if self.is_running():
                return []
            notices, runtime = self._runtime()
            self._spawn(runtime)
        return notices

    def stop(self) -> bool:
        """Stop it with every container in it; False when it did not run."""
        process = self._process()
        if process is None:
            return False
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_STOP)
        except psutil.TimeoutExpired as error:
            raise InfrastructureError(
                f"dockerd (process {process.pid}) does not end; its log: {self.folder}"
            ) from error
        return True

    def _runtime(self) -> tuple[list[str], list[str]]:
        """The container runtime that this host needs: notices, and dockerd's flags."""
        missing = capabilities.missing()
        if not missing:
            return [], []
        wrapper = capabilities.install(self.folder)
        names = ", ".join(missing)
        notice = f"this host withholds {names}: containers run without, and no OOM score is ever lowered"
        return [notice], [
            f"--add-runtime={capabilities.RUNTIME}={wrapper}",
            f"--default-runtime={capabilities.RUNTIME}",
        ]

    def _spawn(self, runtime: list[str]) -> None:
        program = shutil.which("dockerd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
        if program is None:
            raise UsageError("there is no dockerd: install Docker (Debian: apt install docker.io iptables)")
        command = [
            program,
            f"--data-root={self.folder / 'data'}",
            f"--exec-root={self.folder / 'run'}",
            f"--pidfile={self._pid_file}",
            f"--host={self.host}",
            "--group=root",
            *runtime,
        ]
        log = self.folder / "dockerd.log"
        with log.open("ab") as output:
            offset = output.tell()
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )
        try:
            poll(lambda: self.is_running() or process.poll() is not None, bool, "dockerd", timeout=_START)
        except PollTimeout as error:
            process.terminate()
            raise InfrastructureError(f"dockerd does not answer after {_START:g} s; its log: {log}") from error
        if process.poll() is not None:
            lines = log.read_bytes()[offset:].decode(errors="replace").strip().splitlines()
            words = lines[-1] if lines else "it wrote nothing"
            raise InfrastructureError(f"dockerd ended by itself: {words} (log: {log})")

    def _process(self) -> psutil.Process | None:
        try:
            process = psutil.Process(int(self._pid_file.read_text()))
            return (
                process if process.name() == "dockerd" and str(self._pid_file) in " ".join(process.cmdline()) else None
            )
        except (OSError, ValueError, psutil.NoSuchProcess):
            return None

    @property
    def _pid_file(self) -> Path:
        return self.folder / "docker.pid"
