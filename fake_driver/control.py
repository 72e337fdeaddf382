"""What a test steers of a driver, wherever the driver runs."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from fake_driver.attachment import Play, Written
from fake_driver.calls import Call
from fake_driver.health import Health
from fake_driver.inventory import Device, Pool


class Driver(Protocol):
    """One driver name on some nodes. What changes slices has written them when it returns, and raises ApiError."""

    @property
    def name(self) -> str:
        """The driver's name."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes on which the driver has a kubelet plugin; templates of pools are put on each of them."""

    @property
    def pools(self) -> tuple[Pool, ...]:
        """The pools as they are published."""

    def set_pools(self, pools: Iterable[Pool]) -> None:
        """Publish these pools in place of the ones before."""

    def add_device(self, pool: str, device: Device) -> None:
        """Add a device at the end of a pool. Raises ConfigError if the pool has one of that name."""

    def remove_device(self, pool: str, device: str) -> None:
        """Take a device out of a pool. Raises ConfigError if it is not there."""

    def update_device(self, pool: str, device: str, **changes: Any) -> None:
        """Replace fields of a device: `attributes=…`, `taints=…`. Raises ConfigError if it is not there."""

    def set_health(self, pool: str, device: str, health: Health) -> None:
        """Report this health of a device to the kubelet."""

    def fail_prepare(self, message: str, times: int | None = None, node: str | None = None) -> None:
        """Answer NodePrepareResources with an error, `times` times or until `clear_faults`, on a node or on all."""

    def fail_unprepare(self, message: str, times: int | None = None, node: str | None = None) -> None:
        """The same for NodeUnprepareResources."""

    def delay_prepare(self, seconds: float | None = None, times: int | None = None, node: str | None = None) -> None:
        """Answer NodePrepareResources `seconds` later; without `seconds`: at `clear_faults`."""

    def delay_unprepare(self, seconds: float | None = None, times: int | None = None, node: str | None = None) -> None:
        """The same for NodeUnprepareResources."""

    def clear_faults(self) -> None:
        """End all failures and delays; delayed calls go on at once."""

    def drop_connection(self, node: str) -> None:
        """Break the kubelet's connections; the plugin goes on serving."""

    def crash(self, node: str) -> None:
        """Kill the driver on a node: sockets stay behind, its slices stay and nobody looks after them."""

    def restart(self, node: str) -> None:
        """Crash on a node, unless it is down already, and start again."""

    def stop(self, node: str | None = None) -> None:
        """End the driver in order, on a node or on all: the plugin unregisters, the slices stay, unattended."""

    def start(self, node: str | None = None) -> None:
        """Start what was stopped or has crashed."""

    def wait_registered(self, timeout: float) -> None:
        """Wait until the kubelets of all running plugins have taken them since their start. Raises TimeoutError."""

    def attach(self, play: Play, pool: str | None = None, device: str | None = None, node: str | None = None) -> None:
        """Be the controller too: devices allocated from now on go this play (see `fake_driver.attachment`).

        All devices or those of a pool, of a name, for a node; of several plays that apply the last given one counts.
        Without any call nobody reports conditions, and nobody watches claims.
        """

    def report(
        self, claim: Mapping[str, Any], pool: str, device: str, statuses: Mapping[str, str],
        reason: str = "Attach", message: str = "",
    ) -> None:  # fmt: skip
        """Write conditions (type → status) of a claim's device at once. Raises ApiError when refused."""

    @property
    def written(self) -> tuple[Written, ...]:
        """What the plays have written so far, or tried to."""

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every gRPC call so far, in the order in which they began."""

    def wait_for_call(self, predicate: Callable[[Call], bool], timeout: float, after: int = 0) -> Call:
        """The first call, from the `after`-th on, for which the predicate is true. Raises TimeoutError."""

    def withdraw(self) -> None:
        """End the driver everywhere: its slices, sockets, CDI files and checkpoints are gone. Idempotent."""
