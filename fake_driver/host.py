"""Any number of drivers on any number of nodes, in one process."""

from collections.abc import Iterable, Mapping
from types import TracebackType

from fake_driver.api import Api
from fake_driver.errors import ConfigError
from fake_driver.inventory import Pool
from fake_driver.local_driver import LocalDriver
from fake_driver.node import Node
from fake_driver.scope import EVERYWHERE, Scope


class DriverHost:
    """Serves drivers on nodes; as a context manager it withdraws them all at the end.

    `labels` are put on every object that a driver creates.
    """

    def __init__(self, api: Api, nodes: Iterable[Node], labels: Mapping[str, str] | None = None) -> None:
        self._api = api
        self._nodes = {node.name: node for node in nodes}
        self._labels = labels
        self._drivers: dict[str, LocalDriver] = {}

    def serve(
        self,
        name: str,
        pools: Iterable[Pool] = (),
        nodes: Iterable[str] | None = None,
        health: bool = True,
        scope: Scope = EVERYWHERE,
        start: bool = True,
    ) -> LocalDriver:
        """Publish the pools and start the driver's plugins, on all nodes unless some are named.

        Without `health` the plugins offer no health service. Pools outside of the `scope` are left to others.
        Without `start` the driver is as one that was stopped.
        Raises ConfigError (nothing is left behind then) and ApiError.
        """
        if name in self._drivers:
            raise ConfigError(f"driver {name!r} is served already")
        driver = LocalDriver(self._api, name, self._chosen(nodes), self._labels, health, scope)
        self._drivers[name] = driver
        try:
            if not start:
                driver.stop()
            driver.set_pools(pools)
            if start:
                driver.start()
        except BaseException:
            self.withdraw(name)
            raise
        return driver

    def driver(self, name: str) -> LocalDriver | None:
        """The driver of that name, None when it is not served here."""
        return self._drivers.get(name)

    def withdraw(self, name: str) -> None:
        """End a driver and leave nothing of it. Raises ApiError."""
        self._drivers[name].withdraw()
        del self._drivers[name]

    def withdraw_all(self) -> None:
        """End all drivers and leave nothing of them. Raises ApiError."""
        for name in list(self._drivers):
            self.withdraw(name)

    def close(self) -> None:
        """End all drivers in order; their slices and checkpoints stay."""
        while self._drivers:
            _, driver = self._drivers.popitem()
            driver.close()

    def __enter__(self) -> "DriverHost":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.withdraw_all()

    def _chosen(self, names: Iterable[str] | None) -> list[Node]:
        chosen = list(self._nodes) if names is None else list(names)
        for name in chosen:
            if name not in self._nodes:
                raise ConfigError(f"unknown node {name!r}: this host serves {', '.join(self._nodes) or 'none'}")
        return [self._nodes[name] for name in chosen]
