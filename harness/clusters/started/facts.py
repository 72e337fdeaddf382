"""What is fixed about a started cluster from its start, and what its restarts have added."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.clusters import facts
from harness.clusters.private import write_private
from harness.clusters.resolution import Resolution


@dataclass(frozen=True)
class Facts(facts.Facts):
    """A cluster as it was started."""

    programs: Mapping[str, str]
    """Path of each program of this host by name."""
    resolution: Resolution

    @classmethod
    def _fields(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        return {**super()._fields(data), "resolution": Resolution(**data["resolution"])}


@dataclass(frozen=True)
class Extras:
    """Gates and flags of a restart, beside those of the start; they hold until another restart replaces them."""

    gates: Mapping[str, bool] = field(default_factory=dict)
    args: tuple[str, ...] = ()

    def replaced(self, gates: Mapping[str, bool] | None, args: Sequence[str] | None) -> "Extras":
        """What they are after a restart with these, of which None leaves the ones before."""
        return Extras(self.gates if gates is None else gates, self.args if args is None else tuple(args))

    def write(self, directory: Path, name: str) -> None:
        """Keep them for the component of that name (a kubelet's has its node's name)."""
        write_private(directory / "extras" / f"{name}.json", json.dumps(asdict(self)))

    @classmethod
    def read(cls, directory: Path, name: str) -> "Extras":
        """Those of the last restart; none without one."""
        try:
            kept = json.loads((directory / "extras" / f"{name}.json").read_text())
        except FileNotFoundError:
            return cls()
        return cls(kept["gates"], tuple(kept["args"]))
