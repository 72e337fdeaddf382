"""What a plugin has prepared, kept in a file so that a restarted driver still knows it."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from fake_driver.cdi import AllocatedDevice


@dataclass(frozen=True)
class PreparedClaim:
    """A claim that is prepared on the node."""

    uid: str
    namespace: str
    name: str
    devices: Sequence[AllocatedDevice]


class Checkpoint:
    """The prepared claims by UID; every change is in the file before the method returns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._claims: dict[str, PreparedClaim] = {}
        if path.exists():
            for entry in json.loads(path.read_text()):
                devices = [AllocatedDevice(**device) for device in entry.pop("devices")]
                self._claims[entry["uid"]] = PreparedClaim(**entry, devices=devices)

    def get(self, uid: str) -> PreparedClaim | None:
        """The claim, None if it is not prepared."""
        return self._claims.get(uid)

    def all(self) -> tuple[PreparedClaim, ...]:
        """All prepared claims, oldest first."""
        return tuple(self._claims.values())

    def add(self, claim: PreparedClaim) -> None:
        """Remember a claim."""
        self._save({**self._claims, claim.uid: claim})

    def remove(self, uid: str) -> None:
        """Forget a claim."""
        self._save({other: claim for other, claim in self._claims.items() if other != uid})

    def _save(self, claims: dict[str, PreparedClaim]) -> None:
        scratch = self._path.with_suffix(".new")
        scratch.write_text(json.dumps([asdict(claim) for claim in claims.values()], indent=2))
        os.replace(scratch, self._path)
        self._claims = claims
