"""The part of the drivers that one Pod serves: the plugins of its node, or what belongs to no node with a plugin.

A Pod comes and goes, by a crash or a rolling update. What it was told to serve is in files, and so is what its plugins
have prepared: its successor goes on with both. Ordered failures and delays end with the process, as a driver's do.
"""

import json
import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from fake_driver.api import Api
from fake_driver.errors import ConfigError
from fake_driver.host import DriverHost
from fake_driver.inventory import Pool, place
from fake_driver.local_driver import LocalDriver
from fake_driver.node import Node
from fake_driver.pool_file import parse_pool, to_data
from fake_driver.scope import Beside, OnNode, Scope

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Order:
    """What to serve under a driver's name; `pools` are in the form of a configuration file.

    `plugins` names all nodes on which the driver has a plugin; pools elsewhere are the controller's to publish.
    """

    pools: Sequence[dict[str, Any]] = ()
    plugins: Sequence[str] = ()
    health: bool = True
    running: bool = True


class Agent:
    """Serves drivers on one node, or with `node` None what is on no node with a plugin. Safe to use from many threads.

    With `state`, a directory, it takes up what a predecessor was told. Raises ConfigError when that cannot be read.
    """

    def __init__(self, api: Api, node: Node | None, state: Path) -> None:
        self._node = node
        self._host = DriverHost(api, [node] if node else [])
        self._state = state
        self._orders: dict[str, Order] = {}
        state.mkdir(parents=True, exist_ok=True, mode=0o750)

    @property
    def names(self) -> tuple[str, ...]:
        """The drivers that are served here."""
        return tuple(self._orders)

    def resume(self) -> None:
        """Serve what the predecessor served. Raises ConfigError and ApiError."""
        for file in sorted(self._state.glob("*.json")):
            try:
                order = Order(**json.loads(file.read_text()))
            except (ValueError, TypeError) as error:
                raise ConfigError(f"{file} cannot be read: {error}; delete it to forget the driver") from error
            self.serve(file.stem, order)
            _log.info("driver %s is served again", file.stem)

    def serve(self, name: str, order: Order) -> LocalDriver:
        """Publish the pools that are this agent's, and start the plugin. Raises ConfigError and ApiError.

        The same order once more changes nothing.
        """
        served = self._host.driver(name)
        if served and self._orders[name] == order:
            return served
        pools = self._pools(order.pools)
        nodes = [self._node.name] if self._node else []
        driver = self._host.serve(name, pools, nodes, order.health, self._scope(order), order.running)
        self._remember(name, order)
        return driver

    def driver(self, name: str) -> LocalDriver:
        """A driver that is served here. Raises ConfigError for another one."""
        driver = self._host.driver(name)
        if driver is None:
            raise ConfigError(f"driver {name!r} is not served here")
        return driver

    def set_pools(self, name: str, pools: Sequence[dict[str, Any]]) -> None:
        """Publish these pools in place of the ones before. Raises ConfigError and ApiError."""
        self.driver(name).set_pools(self._pools(pools))
        self._remember(name, replace(self._orders[name], pools=pools))

    def set_running(self, name: str, running: bool) -> None:
        """Remember whether the driver's plugin is to run, for a successor."""
        self._remember(name, replace(self._orders[name], running=running))

    def withdraw(self, name: str) -> None:
        """Leave nothing of a driver, also of one that only a predecessor knew. Raises ApiError."""
        if self._host.driver(name) is None:
            self.serve(name, Order(running=False))
        self._host.withdraw(name)
        self._orders.pop(name, None)
        self._file(name).unlink(missing_ok=True)

    def close(self) -> None:
        """End in order; slices, checkpoints and orders stay for the successor."""
        self._host.close()

    def _pools(self, content: Iterable[dict[str, Any]]) -> list[Pool]:
        pools = [parse_pool(pool) for pool in content]
        return list(place(pools, [self._node.name])) if self._node else pools

    def _scope(self, order: Order) -> Scope:
        return OnNode(self._node.name) if self._node else Beside(tuple(order.plugins))

    def _remember(self, name: str, order: Order) -> None:
        self._orders[name] = order
        scratch = self._file(name).with_suffix(".new")
        scratch.write_text(json.dumps(asdict(order)))
        os.replace(scratch, self._file(name))

    def _file(self, name: str) -> Path:
        return self._state / f"{name}.json"


def order_for(pools: Iterable[Pool], plugins: Iterable[str], health: bool = True) -> Order:
    """The order to serve these pools."""
    return Order([to_data(pool) for pool in pools], list(plugins), health)
