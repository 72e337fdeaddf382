"""What a named fault is, and the list of them."""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from harness.clusters.protocol import Cluster, NotObservable
from harness.drivers import Driver
from harness.errors import UsageError
from harness.faults.disks import Disks
from harness.kube import Client

#: Ends a fault; returns when what it broke has been started again, whether or not it is well by then.
Heal = Callable[[], None]


@dataclass(frozen=True)
class Target:
    """What a fault may break: a cluster, one of its nodes, a driver on it, its disks."""

    cluster: Cluster
    client: Client
    node: str
    driver: Driver | None = None
    disks: Disks | None = None

    @property
    def steered(self) -> Driver:
        """The driver; raises NotObservable without one."""
        if self.driver is None:
            raise NotObservable("no driver that can be steered is on the cluster")
        return self.driver


@dataclass(frozen=True)
class Fault:
    """A named fault. `inject` raises NotObservable where the cluster does not let it happen."""

    name: str
    text: str
    inject: Callable[[Target], Heal]
    seconds: float
    """How long `make chaos` lets it last."""
    bound: float
    """Seconds after its end within which everything must be well again, on a machine of two cores."""
    steady: float = 0
    """Seconds for which it must stay so, where what was broken may come back."""


#: Every fault by its name, in the order in which `make chaos` runs them.
FAULTS: dict[str, Fault] = {}


def fault(
    name: str, text: str, *, seconds: float = 10, bound: float = 60, steady: float = 0
) -> Callable[[Callable[[Target], Heal]], Callable[[Target], Heal]]:
    """Declare the function below as a named fault."""

    def declare(inject: Callable[[Target], Heal]) -> Callable[[Target], Heal]:
        FAULTS[name] = Fault(name, text, inject, seconds, bound, steady)
        return inject

    return declare


def meanwhile(what: str, work: Callable[[threading.Event], None]) -> Heal:
    """Work in the background until its event is set; healing sets it, and returns when the work has ended."""
    over = threading.Event()
    thread = threading.Thread(target=work, args=(over,), name=what, daemon=True)
    thread.start()

    def heal() -> None:
        over.set()
        thread.join()

    return heal


def named(names: Iterable[str], faults: Mapping[str, Fault]) -> list[Fault]:
    """The faults of these names, all without any. Raises UsageError for a name that none has."""
    wanted = list(names)
    for name in wanted:
        if name not in faults:
            raise UsageError(f"unknown fault {name!r}: choose of {', '.join(faults)}")
    return [each for each in faults.values() if not wanted or each.name in wanted]
