"""The programs of a release: from the cache, else an official download, else built from the Go module."""

from collections.abc import Iterable
from pathlib import Path

from harness.programs.components import COMPONENTS, Components
from harness.programs.program import Platform, Program
from harness.programs.recipes import CNI_PLUGINS, CONTAINERD_PROGRAMS, KUBERNETES_PROGRAMS
from harness.programs.supply import default
from harness.releases import Release

__all__ = [
    "CNI_PLUGINS",
    "COMPONENTS",
    "CONTAINERD_PROGRAMS",
    "KUBERNETES_PROGRAMS",
    "Components",
    "Platform",
    "Program",
    "get",
    "get_all",
    "source",
]


def get(name: str, release: Release, platform: Platform | None = None) -> Program:
    """Return one program of a release, for this machine or another platform.

    Raises UsageError for an unknown name, InfrastructureError where it can neither be downloaded nor built.
    """
    return get_all([name], release, platform)[name]


def get_all(names: Iterable[str], release: Release, platform: Platform | None = None) -> dict[str, Program]:
    """Return several programs by name. Those of one project that must be built are built together, which is faster."""
    return default().get_all(names, release, platform)


def source(name: str, release: Release) -> Path:
    """Return the read-only folder of a program's Go module, fetched where missing. Raises InfrastructureError."""
    return default().source(name, release)
