"""A driver in this process."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from fake_driver.api import Api
from fake_driver.attachment import Allocated, Play, Written
from fake_driver.calls import Call, CallLog, registered
from fake_driver.changes import Pools
from fake_driver.conditions import Controller
from fake_driver.faults import Faults
from fake_driver.health import Health, HealthBoard
from fake_driver.inventory import Pool
from fake_driver.kubelet_plugin import KubeletPlugin
from fake_driver.node import Node
from fake_driver.preparation import Preparation
from fake_driver.scope import EVERYWHERE, Scope
from fake_driver.services import Backing
from fake_driver.slices import Publisher
from fake_driver.steered import SteeredDriver


class LocalDriver(SteeredDriver):
    """The `Driver` whose publisher and kubelet plugins run in this process; without `health` it reports none.

    It publishes what is in its `scope`, and knows the other pools.
    """

    def __init__(
        self,
        api: Api,
        name: str,
        nodes: Iterable[Node],
        labels: Mapping[str, str] | None = None,
        health: bool = True,
        scope: Scope = EVERYWHERE,
    ) -> None:
        served = list(nodes)
        super().__init__(name, (node.name for node in served))
        self._api = api
        self._publisher = Publisher(api, name, labels, scope)
        self._controller = Controller(api, name)
        self._faults = Faults()
        self._health = HealthBoard()
        self._reports_health = health
        self.log = CallLog()
        self._lock = threading.Lock()
        self._plugins = {node.name: KubeletPlugin(name, node, self._backing(node)) for node in served}
        # How many calls there were when a plugin was started: its registration comes later.
        self._started: dict[str, int] = {}

    @property
    def pools(self) -> tuple[Pool, ...]:
        """The pools as they are published."""
        return self._publisher.pools

    def set_health(self, pool: str, device: str, health: Health) -> None:
        """Report this health of a device to the kubelet."""
        self._health.set(pool, device, health)

    def fail_prepare(self, message: str, times: int | None = None, node: str | None = None) -> None:
        """Answer NodePrepareResources with an error."""
        self._faults.fail("NodePrepareResources", message, times, node)

    def fail_unprepare(self, message: str, times: int | None = None, node: str | None = None) -> None:
        """Answer NodeUnprepareResources with an error."""
        self._faults.fail("NodeUnprepareResources", message, times, node)

    def delay_prepare(self, seconds: float | None = None, times: int | None = None, node: str | None = None) -> None:
        """Answer NodePrepareResources later."""
        self._faults.delay("NodePrepareResources", seconds, times, node)

    def delay_unprepare(self, seconds: float | None = None, times: int | None = None, node: str | None = None) -> None:
        """Answer NodeUnprepareResources later."""
        self._faults.delay("NodeUnprepareResources", seconds, times, node)

    def clear_faults(self) -> None:
        """End all failures and delays."""
        self._faults.clear()

    def drop_connection(self, node: str) -> None:
        """Break the kubelet's connections; the plugin goes on serving."""
        self._plugin(node).drop_connection()

    def crash(self, node: str) -> None:
        """Kill the driver on a node."""
        self._publisher.suspend(node)
        self._plugin(node).crash()

    def restart(self, node: str) -> None:
        """Crash on a node, unless it is down already, and start again."""
        self.crash(node)
        self.start(node)

    def stop(self, node: str | None = None) -> None:
        """End the driver in order, on a node or on all."""
        for name in self._chosen(node):
            self._publisher.suspend(name)
            self._plugins[name].stop()

    def start(self, node: str | None = None) -> None:
        """Start what is not running. Raises ConfigError and ApiError."""
        for name in self._chosen(node):
            if not self._plugins[name].running:
                self._started[name] = len(self.log.all())
                self._plugins[name].start()
            self._publisher.resume(name)

    def wait_registered(self, timeout: float) -> None:
        """Wait until the kubelets of all running plugins have taken them since their start."""
        for node, plugin in self._plugins.items():
            if plugin.running:
                self.log.wait(registered(node), timeout, self._started[node])

    def attach(self, play: Play, pool: str | None = None, device: str | None = None, node: str | None = None) -> None:
        """Be the controller too: devices allocated from now on go this play."""
        self._controller.attach(play, pool, device, node)

    def report(
        self, claim: Mapping[str, Any], pool: str, device: str, statuses: Mapping[str, str],
        reason: str = "Attach", message: str = "",
    ) -> None:  # fmt: skip
        """Write conditions of a claim's device at once."""
        metadata = claim["metadata"]
        named = Allocated(metadata["namespace"], metadata["name"], pool, device, None)
        self._controller.report(named, statuses, reason, message)

    @property
    def written(self) -> tuple[Written, ...]:
        """What the plays have written so far, or tried to."""
        return self._controller.written

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every gRPC call so far."""
        return self.log.all()

    def wait_for_call(self, predicate: Callable[[Call], bool], timeout: float, after: int = 0) -> Call:
        """The first call, from the `after`-th on, for which the predicate is true."""
        return self.log.wait(predicate, timeout, after)

    def close(self) -> None:
        """End in order and leave slices and checkpoints as they are, for the driver's next life."""
        self._faults.clear()
        self._controller.close()
        self._publisher.close()
        for plugin in self._plugins.values():
            plugin.stop()

    def withdraw(self) -> None:
        """End the driver everywhere and leave nothing of it."""
        self._faults.clear()
        self._controller.close()
        for plugin in self._plugins.values():
            plugin.remove()
        self._publisher.withdraw()

    def _backing(self, node: Node) -> Callable[[], Backing]:
        def devices() -> Iterator[tuple[str, str]]:
            return (
                (pool.name, device.name)
                for pool in self._publisher.pools
                if pool.node in (None, node.name)
                for device in pool.devices
            )

        def load() -> Backing:
            preparation = Preparation(
                self._api, self._name, node.checkpoint(self._name), node.cdi_dir, uuid_of=self._uuid_of
            )
            board = self._health if self._reports_health else None
            return Backing(self._name, node.name, preparation, self._faults, self.log, board, devices)

        return load

    def _uuid_of(self, pool: str, device: str) -> str:
        found = next((p.device(device) for p in self._publisher.pools if p.name == pool), None)
        # A device that is gone, or has no uuid, is still told apart.
        return (found and found.uuid) or f"{pool}/{device}"

    def _change(self, change: Callable[[Pools], Pools]) -> None:
        with self._lock:
            self._publisher.publish(change(self._publisher.pools))
        self._health.wake()

    def _plugin(self, node: str) -> KubeletPlugin:
        return self._plugins[self._chosen(node)[0]]
