"""A container's log file in the format of the CRI, which the kubelet reads for `kubectl logs`."""

from datetime import UTC, datetime
from pathlib import Path

from harness.clusters.local.cri.state import Container, Sandbox


def path(sandbox: Sandbox, container: Container) -> Path | None:
    """Where the kubelet wants the log; None where it wants none."""
    if not sandbox.config.log_directory or not container.config.log_path:
        return None
    return Path(sandbox.config.log_directory, container.config.log_path)


def create(log: Path) -> None:
    """Make an empty log, as it is before the first line."""
    log.parent.mkdir(parents=True, exist_ok=True)
    log.touch()


def write(log: Path, line: str) -> None:
    """Append one line of standard output. The file is opened each time, so that a rotated one needs no care."""
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")
    with log.open("a") as file:
        file.write(f"{stamp} stdout F {line}\n")


def lines(log: Path) -> int:
    """How many lines were written, 0 for a log that is gone."""
    return len(log.read_bytes().splitlines()) if log.exists() else 0
