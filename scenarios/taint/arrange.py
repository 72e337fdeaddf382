"""Devices with taints, and Pods that want one of them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

from fake_driver.inventory import Pool, Taint
from harness.drivers import Driver
from harness.kube.builders import claim, pod, request
from harness.kube.times import api_time
from harness.plugin.scenario import Object, Scenario

#: No new work for the device.
BROKEN = Taint("example.com/broken", "NoSchedule", "ecc")
#: No work at all.
LOST = Taint("example.com/lost", "NoExecute", "bus")

#: Seconds. A taint of almost an hour ago and a toleration for an hour leave little to wait for, and to be mistaken in.
HOUR = 3600


def lost_since(moment: float) -> Taint:
    """The taint LOST of that time, in seconds since the epoch; the API keeps whole seconds."""
    return replace(LOST, time_added=api_time(datetime.fromtimestamp(moment, UTC)))


class Consumer(NamedTuple):
    """A Pod and the claim that only it refers to."""

    pod: Object
    claim: Object


def tainted(pool: Pool, device: str, *taints: Taint) -> Pool:
    """The pool with these taints on one of its devices."""
    return replace(pool, devices=[replace(d, taints=taints) if d.name == device else d for d in pool.devices])


def only(driver: Driver, index: int) -> str:
    """A selector for the GPU with that index."""
    return f"device.attributes['{driver.name}'].index == {index}"


def consumer(
    scenario: Scenario,
    driver: Driver,
    name: str,
    gpu: int | None = None,
    *,
    tolerations: Sequence[Object] = (),
    node_tolerations: Sequence[Object] = (),
) -> Consumer:
    """A Pod that wants any GPU of the driver, or the one with that index; `tolerations` are those of the request."""
    selectors = [] if gpu is None else [only(driver, gpu)]
    wanted = scenario.create(claim(name, request(driver.device_class, selectors=selectors, tolerations=tolerations)))
    return Consumer(scenario.create(pod(name, claims={"gpu": wanted}, tolerations=node_tolerations)), wanted)
