"""All that the invariants look at, read once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.errors import UsageError
from harness.explain.snapshot import Snapshot
from harness.kube import Client
from harness.kube.errors import ApiError
from harness.kube.resources import Obj

#: In this order: whoever holds is read after what is held, so that a look in passing errs on the side of too few.
_KINDS = ("ResourceSlice", "PodGroup", "Node", "ResourceClaim", "Pod")


class Plugin(NamedTuple):
    """A driver on a node."""

    driver: str
    node: str

    def __str__(self) -> str:
        return f"driver {self.driver} on {self.node}"


@dataclass(frozen=True)
class State:
    """A cluster: its objects, and for each plugin that could be asked the UIDs of the claims that it has prepared."""

    snapshot: Snapshot
    prepared: Mapping[Plugin, frozenset[str]] = field(default_factory=dict)

    def pods(self) -> list[Obj]:
        """All Pods."""
        return self.snapshot.all("Pod")

    def claims(self) -> list[Obj]:
        """All ResourceClaims."""
        return self.snapshot.all("ResourceClaim")


def read(client: Client, prepared: Mapping[Plugin, frozenset[str]] | None = None) -> State:
    """Read the whole cluster. Raises ApiError, InfrastructureError."""
    return State(Snapshot({kind: _list(client, kind) for kind in _KINDS}), prepared or {})


def _list(client: Client, kind: str) -> list[Obj]:
    """All objects of a kind, none where the cluster has no such kind."""
    try:
        return client.list(kind, "")[0]
    except UsageError:
        return []
    except ApiError as error:
        if error.not_found:
            return []
        raise
