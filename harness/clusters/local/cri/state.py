"""The sandboxes and containers of one node, kept as JSON so that a restarted server finds them again."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from google.protobuf.json_format import MessageToDict, ParseDict, ParseError

from harness.clusters.local.cri import cri_pb2 as cri
from harness.errors import InfrastructureError


@dataclass
class Sandbox:
    """A Pod's sandbox as the kubelet asked for it. Times are nanoseconds since the epoch."""

    id: str
    config: cri.PodSandboxConfig
    runtime_handler: str
    ip: str  # empty for a Pod on the host's network
    created_at: int
    ready: bool = True

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data."""
        return {**vars(self), "config": MessageToDict(self.config, preserving_proto_field_name=True)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """The record that `to_json` gave."""
        return cls(**{**data, "config": ParseDict(data["config"], cri.PodSandboxConfig(), ignore_unknown_fields=True)})


@dataclass
class Container:
    """A container as the kubelet asked for it, and how far it got. Times are nanoseconds since the epoch or 0."""

    id: str
    sandbox_id: str
    config: cri.ContainerConfig
    created_at: int
    started_at: int = 0
    finished_at: int = 0
    exit_code: int = 0
    reason: str = ""
    message: str = ""

    @property
    def state(self) -> cri.ContainerState.ValueType:
        """The state of the CRI that the times amount to."""
        if self.finished_at:
            return cri.CONTAINER_EXITED
        return cri.CONTAINER_RUNNING if self.started_at else cri.CONTAINER_CREATED

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON data."""
        return {**vars(self), "config": MessageToDict(self.config, preserving_proto_field_name=True)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """The record that `to_json` gave."""
        return cls(**{**data, "config": ParseDict(data["config"], cri.ContainerConfig(), ignore_unknown_fields=True)})


Record = TypeVar("Record", Sandbox, Container)


class Store:
    """A directory with one file per record. Writes are atomic: a killed server leaves whole records only."""

    def __init__(self, directory: Path) -> None:
        """Raises InfrastructureError when the directory cannot be made."""
        self._directory = directory
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as problem:
            raise InfrastructureError(f"no state can be kept in {directory}: {problem.strerror}") from problem

    def save(self, record: Sandbox | Container) -> None:
        """Write the record, replacing an earlier one."""
        path = self._path(record)
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(record.to_json()))
        os.replace(fresh, path)

    def remove(self, record: Sandbox | Container) -> None:
        """Forget the record."""
        self._path(record).unlink(missing_ok=True)

    def load(self) -> tuple[list[Sandbox], list[Container]]:
        """All records. Raises InfrastructureError when a file is none."""
        return (
            [_read(path, Sandbox) for path in sorted(self._directory.glob("sandbox-*.json"))],
            [_read(path, Container) for path in sorted(self._directory.glob("container-*.json"))],
        )

    def _path(self, record: Sandbox | Container) -> Path:
        return self._directory / f"{type(record).__name__.lower()}-{record.id}.json"


def _read(path: Path, kind: type[Record]) -> Record:
    try:
        return kind.from_json(json.loads(path.read_text()))
    except (ValueError, KeyError, TypeError, ParseError) as problem:
        raise InfrastructureError(f"{path} is no record of a container: delete the directory ({problem})") from problem
