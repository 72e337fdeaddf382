"""Named faults: what the driver reads off a device, and the taints that it publishes because of it.

| fault | key | value | effect | goes when |
|---|---|---|---|---|
| too many ECC errors | `ECC` | `over-limit` | NoSchedule | the count is below the limit again: after a reset |
| too hot | `HEAT` | `over-limit` | NoSchedule | the device is well below the limit, not only just |
| fallen off the bus | `BUS` | `lost` | NoExecute | the device is found again |
| planned maintenance | `MAINTENANCE` | `announced` | NoSchedule | the maintenance begins, or is over or called off |
| the maintenance itself | `MAINTENANCE` | `begun` | NoExecute | it is over |

A device can have several faults at once, and so several taints.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from fake_driver.control import Driver
from fake_driver.errors import ConfigError
from fake_driver.inventory import Device, Taint

ECC = "fault.example.com/ecc-errors"
HEAT = "fault.example.com/over-temperature"
BUS = "fault.example.com/off-the-bus"
MAINTENANCE = "fault.example.com/maintenance"

#: From so many uncorrectable errors on a device gets no new work.
ECC_LIMIT = 8
#: From this temperature in °C on a device gets no new work …
HOT = 90
#: … until it is no warmer than this: near the limit the taint would come and go with every reading.
COOLED = 80

_KEYS = frozenset({ECC, HEAT, BUS, MAINTENANCE})


@dataclass(frozen=True)
class Readings:
    """The state of a device; as it stands here it is in good order."""

    ecc_errors: int = 0
    celsius: int = 45
    on_bus: bool = True
    maintenance: Literal["announced", "begun"] | None = None


def diagnose(device: Device, readings: Readings) -> tuple[Taint, ...]:
    """The device's taints after these readings: those for its faults; taints with other keys stay as they are."""
    others = [taint for taint in device.taints if taint.key not in _KEYS]
    was_hot = any(taint.key == HEAT for taint in device.taints)
    return (*others, *_faults(readings, was_hot))


def _faults(readings: Readings, was_hot: bool) -> Iterable[Taint]:
    if readings.ecc_errors >= ECC_LIMIT:
        yield Taint(ECC, "NoSchedule", "over-limit")
    if readings.celsius >= HOT or (was_hot and readings.celsius > COOLED):
        yield Taint(HEAT, "NoSchedule", "over-limit")
    if not readings.on_bus:
        yield Taint(BUS, "NoExecute", "lost")
    if readings.maintenance:
        yield Taint(MAINTENANCE, "NoExecute" if readings.maintenance == "begun" else "NoSchedule", readings.maintenance)


def report(driver: Driver, pool: str, device: str, readings: Readings) -> None:
    """Let the driver read this off a device of its own, and publish what follows from it.

    Raises ConfigError if the device is not there, ApiError when the slice cannot be written.
    """
    found = next((p.device(device) for p in driver.pools if p.name == pool), None)
    if found is None:
        raise ConfigError(f"{driver.name} has no device {device!r} in a pool {pool!r}: nothing can be read off it")
    driver.update_device(pool, device, taints=diagnose(found, readings))
