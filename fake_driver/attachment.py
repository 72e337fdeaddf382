"""How the attaching of an allocated device goes: plays that a test chooses from, and what they say of a device."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fake_driver.errors import ConfigError


@dataclass(frozen=True)
class Allocated:
    """A device of the driver that a claim has been given, and the node for which it is to be attached.

    `node` is None where the allocation is good for more than one node: nobody can tell then where to attach.
    """

    namespace: str
    claim: str
    pool: str
    device: str
    node: str | None
    binding_conditions: tuple[str, ...] = ()
    failure_conditions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """Conditions (type → status) to write `after` seconds after the step before; of another device where one is named.

    Statuses are `True`, `False` and `Unknown`.
    """

    statuses: Mapping[str, str]
    after: float = 0.0
    reason: str = "Attach"
    message: str = ""
    device: str | None = None


@dataclass(frozen=True)
class Written:
    """One step of a play as it went: `result` is "ok" or what the API server said."""

    of: Allocated
    statuses: Mapping[str, str]
    result: str


@dataclass(frozen=True)
class Play:
    """The steps that a device goes through once it is allocated, as plain data: also a driver elsewhere can play them.

    A play is made by the functions below; `name` is that of the function, `arguments` are what it was given.
    Raises ConfigError for a name that none of them has.
    """

    name: str
    arguments: Mapping[str, Any]

    def __post_init__(self) -> None:
        if self.name not in _STEPS:
            raise ConfigError(f"unknown play {self.name!r}: choose one of {', '.join(_STEPS)}")

    def __call__(self, device: Allocated) -> Sequence[Step]:
        """The steps of this device."""
        return _STEPS[self.name](device, **self.arguments)


def succeed(delay: float = 0.0) -> Play:
    """The device is attached `delay` seconds after its allocation: every binding condition is True. Late, if long."""
    return Play("succeed", {"delay": delay})


def fail(message: str = "", reason: str = "AttachFailed", delay: float = 0.0) -> Play:
    """The attaching fails: every failure condition is True."""
    return Play("fail", {"message": message, "reason": reason, "delay": delay})


def never() -> Play:
    """No answer at all."""
    return Play("never", {})


def partly(delay: float = 0.0) -> Play:
    """Every binding condition but the last is True."""
    return Play("partly", {"delay": delay})


def flap(interval: float, delay: float = 0.0) -> Play:
    """Attached, lost `interval` seconds later, attached again after as long."""
    return Play("flap", {"interval": interval, "delay": delay})


def wrong_device(name: str, delay: float = 0.0) -> Play:
    """The controller takes the device for another one of the same pool, and reports that one as attached."""
    return Play("wrong_device", {"name": name, "delay": delay})


def allocated_devices(claim: Mapping[str, Any], driver: str) -> list[Allocated]:
    """The driver's devices in the claim's allocation."""
    allocation = (claim.get("status") or {}).get("allocation") or {}
    metadata = claim["metadata"]
    return [
        Allocated(
            metadata["namespace"],
            metadata["name"],
            result["pool"],
            result["device"],
            chosen_node(allocation),
            tuple(result.get("bindingConditions", ())),
            tuple(result.get("bindingFailureConditions", ())),
        )
        for result in (allocation.get("devices") or {}).get("results", ())
        if result["driver"] == driver
    ]


def chosen_node(allocation: Mapping[str, Any]) -> str | None:
    """The one node for which the allocation is good by its name, None where it is good for others too."""
    terms = (allocation.get("nodeSelector") or {}).get("nodeSelectorTerms", ())
    names = [
        field["values"]
        for term in terms
        for field in term.get("matchFields", ())
        if (field["key"], field["operator"]) == ("metadata.name", "In")
    ]
    return str(names[0][0]) if len(terms) == 1 and names and len(names[0]) == 1 else None


def _all(status: str, types: Sequence[str]) -> dict[str, str]:
    return dict.fromkeys(types, status)


def _succeed(device: Allocated, delay: float) -> Sequence[Step]:
    return [Step(_all("True", device.binding_conditions), delay, "Attached")]


def _fail(device: Allocated, message: str, reason: str, delay: float) -> Sequence[Step]:
    return [Step(_all("True", device.failure_conditions), delay, reason, message)]


def _never(device: Allocated) -> Sequence[Step]:
    return []


def _partly(device: Allocated, delay: float) -> Sequence[Step]:
    return [Step(_all("True", device.binding_conditions[:-1]), delay, "Attached")]


def _flap(device: Allocated, interval: float, delay: float) -> Sequence[Step]:
    conditions = device.binding_conditions
    return [
        Step(_all("True", conditions), delay, "Attached"),
        Step(_all("False", conditions), interval, "Lost"),
        Step(_all("True", conditions), interval, "Attached"),
    ]


def _wrong_device(device: Allocated, name: str, delay: float) -> Sequence[Step]:
    return [Step(_all("True", device.binding_conditions), delay, "Attached", device=name)]


_STEPS: dict[str, Callable[..., Sequence[Step]]] = {
    "succeed": _succeed,
    "fail": _fail,
    "never": _never,
    "partly": _partly,
    "flap": _flap,
    "wrong_device": _wrong_device,
}
