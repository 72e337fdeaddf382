"""Which slices of a driver a publisher answers for: where a driver has one on each node, and one for the rest.

As with real drivers, what is on a node with a kubelet plugin is published by the plugin, everything else by the
driver's controller.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class Scope(Protocol):
    """A part of a driver's slices."""

    def covers(self, node: str | None) -> bool:
        """Whether pools that are on this node, or with None on no particular one, belong to it."""

    def terms(self) -> Sequence[str]:
        """Terms of a field selector that let through the slices of these pools."""


@dataclass(frozen=True)
class Everywhere:
    """All slices of the driver."""

    def covers(self, node: str | None) -> bool:
        """Every pool belongs to it."""
        return True

    def terms(self) -> Sequence[str]:
        """No term."""
        return ()


EVERYWHERE = Everywhere()


@dataclass(frozen=True)
class OnNode:
    """The slices of one node."""

    node: str

    def covers(self, node: str | None) -> bool:
        """Whether the pool is on the node."""
        return node == self.node

    def terms(self) -> Sequence[str]:
        """Only the node's."""
        return (f"spec.nodeName={self.node}",)


@dataclass(frozen=True)
class Beside:
    """The slices of everything but some nodes."""

    nodes: tuple[str, ...]

    def covers(self, node: str | None) -> bool:
        """Whether the pool is on none of the nodes."""
        return node not in self.nodes

    def terms(self) -> Sequence[str]:
        """None of the nodes'."""
        return [f"spec.nodeName!={node}" for node in self.nodes]
