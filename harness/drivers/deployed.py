"""A driver that the Pods of a deployment serve: each node's plugin its own part, the controller the rest."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from fake_driver import control
from fake_driver.agent import order_for
from fake_driver.api import ApiError
from fake_driver.attachment import Play, Written
from fake_driver.calls import Call
from fake_driver.changes import Pools
from fake_driver.errors import ConfigError
from fake_driver.health import Health
from fake_driver.inventory import Pool, place
from fake_driver.pool_file import to_data
from fake_driver.steered import SteeredDriver
from fake_driver.wire import written_from
from harness.drivers.call_mirror import CallMirror
from harness.drivers.deployment import Deployment
from harness.drivers.steering import Part
from harness.errors import InfrastructureError


class DeployedHost:
    """Serves drivers by the Pods of a deployment, as `fake_driver.host.DriverHost` does by its own process."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._drivers: dict[str, DeployedDriver] = {}

    def serve(
        self, name: str, pools: Iterable[Pool] = (), nodes: Iterable[str] | None = None, health: bool = True
    ) -> control.Driver:
        """Publish the pools and start the driver's plugins, on all nodes unless some are named.

        Raises ConfigError (nothing is left behind then), ApiError of the driver, and InfrastructureError.
        """
        plugins = self._deployment.plugins
        chosen = list(plugins) if nodes is None else list(nodes)
        for node in chosen:
            if node not in plugins:
                raise ConfigError(f"no plugin of the driver runs on {node!r}, only on {', '.join(plugins) or 'none'}")
        driver = DeployedDriver(name, {node: plugins[node] for node in chosen}, self._deployment.controller)
        self._drivers[name] = driver
        try:
            driver.serve(pools, health)
        except BaseException:
            with suppress(ApiError, InfrastructureError):  # the first error is the one to tell
                self.withdraw(name)
            raise
        return driver

    def withdraw(self, name: str) -> None:
        """End a driver and leave nothing of it."""
        self._drivers[name].withdraw()
        del self._drivers[name]

    def withdraw_all(self) -> None:
        """End all drivers and leave nothing of them."""
        for name in list(self._drivers):
            self.withdraw(name)


class DeployedDriver(SteeredDriver):
    """Implements `fake_driver.control.Driver`."""

    def __init__(self, name: str, plugins: Mapping[str, Part], controller: Part) -> None:
        super().__init__(name, plugins)
        self._plugins = plugins
        self._controller = controller
        self._pools: Pools = ()
        self._lock = threading.Lock()
        self._mirror = CallMirror(name, plugins)

    def serve(self, pools: Iterable[Pool], health: bool) -> None:
        """Publish the pools and start the plugins."""
        placed = place(pools, self.nodes)
        order = order_for(placed, self.nodes, health)
        for part in self._parts:
            part.serve(self._name, order)
        self._pools = placed

    @property
    def pools(self) -> tuple[Pool, ...]:
        """The pools as they are published."""
        return self._pools

    def set_health(self, pool: str, device: str, health: Health) -> None:
        """Report this health of a device to the kubelet."""
        self._act("set_health", pool=pool, device=device, health=health)

    def fail_prepare(self, message: str, times: int | None = None, node: str | None = None) -> None:
        """Answer NodePrepareResources with an error."""
        self._fault("fail_prepare", times, node, message=message)

    def fail_unprepare(self, message: str, times: int | None = None, node: str | None = None) -> None:
        """Answer NodeUnprepareResources with an error."""
        self._fault("fail_unprepare", times, node, message=message)

    def delay_prepare(self, seconds: float | None = None, times: int | None = None, node: str | None = None) -> None:
        """Answer NodePrepareResources later."""
        self._fault("delay_prepare", times, node, seconds=seconds)

    def delay_unprepare(self, seconds: float | None = None, times: int | None = None, node: str | None = None) -> None:
        """Answer NodeUnprepareResources later."""
        self._fault("delay_unprepare", times, node, seconds=seconds)

    def clear_faults(self) -> None:
        """End all failures and delays."""
        self._act("clear_faults")

    def drop_connection(self, node: str) -> None:
        """Break the kubelet's connections; the plugin goes on serving."""
        self._act("drop_connection", node, node=node)

    def crash(self, node: str) -> None:
        """Kill the driver on a node, as far as kubelet and API server can tell: other drivers live in the same Pod."""
        self._act("crash", node, node=node)

    def restart(self, node: str) -> None:
        """Crash on a node, unless it is down already, and start again."""
        self._act("restart", node, node=node)

    def stop(self, node: str | None = None) -> None:
        """End the driver in order, on a node or on all."""
        self._act("stop", node)

    def start(self, node: str | None = None) -> None:
        """Start what is not running."""
        self._act("start", node)

    def wait_registered(self, timeout: float) -> None:
        """Wait until the kubelets of all running plugins have taken them since their start."""
        for part in self._plugins.values():
            part.act(self._name, "wait_registered", wait=timeout, timeout=timeout)

    def attach(self, play: Play, pool: str | None = None, device: str | None = None, node: str | None = None) -> None:
        """Let the controller attach: devices allocated from now on go this play."""
        self._controller.act(self._name, "attach", play=play, pool=pool, device=device, node=node)

    def report(
        self, claim: Mapping[str, Any], pool: str, device: str, statuses: Mapping[str, str],
        reason: str = "Attach", message: str = "",
    ) -> None:  # fmt: skip
        """Write conditions of a claim's device at once."""
        named = {"metadata": {name: claim["metadata"][name] for name in ("namespace", "name")}}
        self._controller.act(
            self._name, "report",
            claim=named, pool=pool, device=device, statuses=dict(statuses), reason=reason, message=message,
        )  # fmt: skip

    @property
    def written(self) -> tuple[Written, ...]:
        """What the plays have written so far, or tried to."""
        return tuple(written_from(data) for data in self._controller.written(self._name))

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every gRPC call so far, also those that a Pod got which is gone, if they were seen before it went."""
        return self._mirror.all()

    def wait_for_call(self, predicate: Callable[[Call], bool], timeout: float, after: int = 0) -> Call:
        """The first call, from the `after`-th on, for which the predicate is true."""
        return self._mirror.wait(predicate, timeout, after)

    def withdraw(self) -> None:
        """End the driver everywhere and leave nothing of it."""
        self._mirror.close()
        for part in (*self._plugins.values(), self._controller):
            part.withdraw(self._name)
        self._pools = ()

    @property
    def _parts(self) -> Sequence[Part]:
        return (self._controller, *self._plugins.values())

    def _change(self, change: Callable[[Pools], Pools]) -> None:
        with self._lock:
            pools = change(self._pools)
            data = [to_data(pool) for pool in pools]
            for part in self._parts:
                part.set_pools(self._name, data)
            self._pools = pools

    def _fault(self, action: str, times: int | None, node: str | None, **arguments: Any) -> None:
        if times is not None and node is None and len(self._plugins) > 1:
            raise ConfigError(
                f"{self._name} runs on {len(self._plugins)} nodes: say on which one, when you say how often"
            )
        self._act(action, node, times=times, **arguments)

    def _act(self, action: str, on: str | None = None, **arguments: Any) -> None:
        """Let the plugin of a node, or those of all nodes, do something."""
        for node in self._chosen(on):
            self._plugins[node].act(self._name, action, **arguments)
