"""What a program is, and for which machine."""

import platform as machine
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.errors import UsageError

Origin = Literal["downloaded", "built", "replaced"]

#: Go's names for the processors that Python's `platform.machine()` names otherwise.
_ARCHITECTURES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


@dataclass(frozen=True, order=True)
class Platform:
    """An operating system and a processor, in Go's words."""

    os: str
    arch: str

    def __str__(self) -> str:
        return f"{self.os}-{self.arch}"

    @classmethod
    def host(cls) -> "Platform":
        """Return the machine we run on. Raises UsageError for a processor without Kubernetes programs."""
        arch = _ARCHITECTURES.get(machine.machine().lower())
        if arch is None:
            raise UsageError(
                f"there are no Kubernetes programs for the processor {machine.machine()}; use amd64 or arm64"
            )
        return cls(sys.platform, arch)


@dataclass(frozen=True, order=True)
class Artifact:
    """Which program: its name in the table of recipes, an exact version, a platform."""

    name: str
    version: str
    platform: Platform

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@dataclass(frozen=True)
class Program:
    """A program on disk, ready to run."""

    name: str
    path: Path
    version: str
    sha256: str
    origin: Origin
    """How it came here: downloaded and verified, built from its Go module, or named by the user in place of ours."""
