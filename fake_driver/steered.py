"""What follows from a driver's name, nodes and pools, wherever its plugins run."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from fake_driver.changes import Pools, added, removed, updated
from fake_driver.errors import ConfigError
from fake_driver.inventory import Device, Pool, place


class SteeredDriver(ABC):
    """The part of `fake_driver.control.Driver` that every one answers alike."""

    def __init__(self, name: str, nodes: Iterable[str]) -> None:
        self._name = name
        self._nodes = tuple(dict.fromkeys(nodes))

    @property
    def name(self) -> str:
        """The driver's name."""
        return self._name

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes on which the driver has a kubelet plugin."""
        return self._nodes

    def set_pools(self, pools: Iterable[Pool]) -> None:
        """Publish these pools in place of the ones before."""
        placed = place(pools, self.nodes)
        self._change(lambda _: placed)

    def add_device(self, pool: str, device: Device) -> None:
        """Add a device at the end of a pool."""
        self._change(lambda pools: added(pools, pool, device))

    def remove_device(self, pool: str, device: str) -> None:
        """Take a device out of a pool."""
        self._change(lambda pools: removed(pools, pool, device))

    def update_device(self, pool: str, device: str, **changes: Any) -> None:
        """Replace fields of a device."""
        self._change(lambda pools: updated(pools, pool, device, changes))

    @abstractmethod
    def _change(self, change: Callable[[Pools], Pools]) -> None:
        """Publish what becomes of the pools as they are now; one change after another."""

    def _chosen(self, node: str | None) -> tuple[str, ...]:
        """The node, or all where none is named. Raises ConfigError for one without a plugin."""
        if node is None:
            return self._nodes
        if node not in self._nodes:
            raise ConfigError(f"{self._name} has no kubelet plugin on node {node!r}, only on {', '.join(self._nodes)}")
        return (node,)
