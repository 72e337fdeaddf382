"""What kind clusters need of the host and its engine, and how they adapt to one that does not have it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.clusters.kind import capabilities, engine
from harness.clusters.kind.engine import Engine
from harness.clusters.local import host


@dataclass(frozen=True)
class Preflight:
    """What was found."""

    cgroup_v1: bool
    """The kubelet refuses it from 1.35 on, unless told otherwise."""
    restrict_oom_scores: bool
    """Nobody here may lower an OOM score, so a container runtime that tries cannot start anything."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the report should know."""
        notes = []
        if self.cgroup_v1:
            notes.append("this host has cgroup v1: kubelets run with failCgroupV1: false")
        if self.restrict_oom_scores:
            notes.append("this host withholds CAP_SYS_RESOURCE: OOM scores below zero cannot be observed")
        return tuple(notes)


def look(chosen: Engine) -> Preflight:
    """Ask the engine, which may run elsewhere than we do."""
    facts: Mapping[str, Any] = chosen.client().info()
    return Preflight(
        cgroup_v1=str(facts.get("CgroupVersion")) == "1",
        restrict_oom_scores=facts.get("DefaultRuntime") == capabilities.RUNTIME,
    )


def prepare() -> list[str]:
    """Find the engine and give it what it needs of this host; returns what a user should know. Raises UsageError."""
    found = look(engine.require())
    return [*host.prepare(), *found.notes]
