"""What keeps each published device from being allocated for a request."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from harness.explain.amounts import amount, show
from harness.explain.inventory import Device, Inventory, Taint
from harness.explain.placement import tolerates
from harness.explain.snapshot import Snapshot
from harness.kube.resources import Obj

Kind = Literal[
    "class", "selector", "cel", "pool-incomplete", "pool-invalid", "taint", "taint-rule", "taken", "capacity",
    "capacity-small", "counters",
]  # fmt: skip

#: What says that the device is not asked for at all, unlike what keeps one that is from being had.
UNWANTED: frozenset[Kind] = frozenset({"class", "selector", "cel"})


@dataclass(frozen=True)
class Wanted:
    """One request of a claim, or one alternative of it (`name` is `request/subrequest` then)."""

    owner: str
    name: str
    spec: Obj
    device_class: Obj | None

    @property
    def class_name(self) -> str:
        """The name of the DeviceClass."""
        return str(self.spec["deviceClassName"])

    @property
    def all_devices(self) -> bool:
        """Whether it asks for all devices that match."""
        return self.spec.get("allocationMode") == "All"

    @property
    def count(self) -> int:
        """How many devices it asks for, at least."""
        return int(self.spec.get("count") or 1)

    def __str__(self) -> str:
        return f"request {self.name} of {self.owner}"


@dataclass(frozen=True)
class Obstacle:
    """Why a device cannot be had. `taint` is the one without toleration."""

    kind: Kind
    text: str
    taint: Taint | None = None


@dataclass(frozen=True)
class Judged:
    """A device and all that keeps it from a request. `doubts`: selectors that could not be evaluated here."""

    device: Device
    obstacles: tuple[Obstacle, ...]
    doubts: tuple[str, ...] = ()

    @property
    def wanted(self) -> bool:
        """The device is one of those that are asked for."""
        return not any(obstacle.kind in UNWANTED for obstacle in self.obstacles)

    @property
    def free(self) -> bool:
        """The device could be allocated."""
        return not self.obstacles

    def obstacle(self, kind: Kind) -> Obstacle | None:
        """The obstacle of that kind, if there is one."""
        return next((each for each in self.obstacles if each.kind == kind), None)


def alternatives(snapshot: Snapshot, owner: str, spec: Obj) -> list[list[Wanted]]:
    """The requests of a claim's spec; each is a list of alternatives, most with one."""
    found = []
    for request in (spec.get("devices") or {}).get("requests") or ():
        if exactly := request.get("exactly"):
            choices = [(request["name"], exactly)]
        else:
            choices = [(f"{request['name']}/{each['name']}", each) for each in request.get("firstAvailable") or ()]
        found.append([wanted(snapshot, owner, name, each) for name, each in choices])
    return found


def wanted(snapshot: Snapshot, owner: str, name: str, spec: Obj) -> Wanted:
    """A request with its class."""
    return Wanted(owner, name, spec, snapshot.find("DeviceClass", spec["deviceClassName"]))


def judge(request: Wanted, devices: Inventory) -> list[Judged]:
    """Each published device, and what keeps it from the request."""
    return [_judge(request, device, devices) for device in devices.devices]


def _judge(request: Wanted, device: Device, devices: Inventory) -> Judged:
    unwanted, doubts = _selected(request, device)
    if unwanted:
        return Judged(device, (unwanted,), doubts)
    return Judged(device, tuple(_obstacles(request, device, devices)), doubts)


def _selected(request: Wanted, device: Device) -> tuple[Obstacle | None, tuple[str, ...]]:
    # Not before there is something to explain: no start shall pay for the import of the evaluator (0.1 s of CPU time).
    from harness.explain.selectors import evaluate  # noqa: PLC0415

    doubts = []
    device_class = (request.device_class or {"spec": {}})["spec"]
    rows: list[tuple[Kind, str, Sequence[Obj]]] = [
        ("class", f"class {request.class_name}", device_class.get("selectors") or ()),
        ("selector", str(request), request.spec.get("selectors") or ()),
    ]  # fmt: skip
    for kind, whose, selectors in rows:
        for index, selector in enumerate(selectors):
            expression = (selector.get("cel") or {}).get("expression", "")
            answer = evaluate(expression, device.driver, device.spec)
            if answer.failed:
                return Obstacle("cel", f"selector #{index} of {whose}: {answer.error}"), ()
            if answer.matched is None:
                doubts.append(f"selector #{index} of {whose}, {expression!r}, {answer.error}")
            elif not answer.matched:
                return Obstacle(kind, f"selector #{index} of {whose}, {expression}"), ()
    return None, tuple(doubts)


def _obstacles(request: Wanted, device: Device, devices: Inventory) -> Iterable[Obstacle]:
    if problem := device.pool.problem:
        kind: Kind = "pool-incomplete" if device.pool.incomplete else "pool-invalid"
        yield Obstacle(kind, f"pool {device.pool} is {problem}")
    for taint in device.taints:
        if taint.spec["effect"] in ("NoSchedule", "NoExecute") and not any(
            tolerates(toleration, taint.spec) for toleration in request.spec.get("tolerations") or ()
        ):
            yield Obstacle("taint-rule" if "DeviceTaintRule" in taint.origin else "taint", str(taint), taint)
    if request.spec.get("adminAccess"):
        return
    if device.spec.get("allowMultipleAllocations"):
        yield from _shared_capacity(request, device)
    else:
        if device.holds:
            yield Obstacle("taken", f"allocated to {device.holds[0]}")
        yield from _own_capacity(request, device)
    if not device.holds:
        yield from _counters(device, devices)


def _asked(request: Wanted) -> dict[str, str]:
    return dict((request.spec.get("capacity") or {}).get("requests") or {})


def _own_capacity(request: Wanted, device: Device) -> Iterable[Obstacle]:
    for name, quantity in _asked(request).items():
        own = (device.spec.get("capacity") or {}).get(name)
        if own is None or amount(own["value"]) < amount(quantity):
            has = own["value"] if own else "none"
            yield Obstacle("capacity-small", f"has {name} {has}, asked for is {quantity}")


def _shared_capacity(request: Wanted, device: Device) -> Iterable[Obstacle]:
    asked = _asked(request)
    for name, own in (device.spec.get("capacity") or {}).items():
        total = amount(own["value"])
        share = asked.get(name) or (own.get("requestPolicy") or {}).get("default") or own["value"]
        used = [amount(hold.result.get("consumedCapacity", {}).get(name, 0)) for hold in device.holds]
        if amount(share) > total:
            yield Obstacle("capacity-small", f"has {name} {own['value']}, asked for is {share}")
        elif sum(used, Decimal()) + amount(share) > total:
            users = "; ".join(f"{show(part)} by {hold}" for part, hold in zip(used, device.holds, strict=True))
            yield Obstacle("capacity", f"of {name} {own['value']} are taken: {users}; asked for is {share}")


def _counters(device: Device, devices: Inventory) -> Iterable[Obstacle]:
    siblings = [each for each in devices.devices if each.pool == device.pool and each.holds]
    for consumption in device.spec.get("consumesCounters") or ():
        group = device.pool.counters.get(consumption["counterSet"])
        if group is None:  # the pool is invalid, which is told apart
            continue
        for name, counter in consumption["counters"].items():
            used = [(each, part) for each in siblings if (part := _consumed(each, consumption["counterSet"], name))]
            left = amount(group.get(name, 0)) - sum((part for _, part in used), Decimal())
            if amount(counter["value"]) > left:
                users = "; ".join(f"{show(part)} by {each.spec['name']}, {each.holds[0]}" for each, part in used)
                yield Obstacle(
                    "counters",
                    f"needs {name} {counter['value']} of {consumption['counterSet']}, which has {show(left)} left"
                    f" (taken: {users or 'nothing'})",
                )


def _consumed(device: Device, counter_set: str, counter: str) -> Decimal:
    return sum(
        (
            amount(each["counters"][counter]["value"])
            for each in device.spec.get("consumesCounters") or ()
            if each["counterSet"] == counter_set and counter in each["counters"]
        ),
        Decimal(),
    )
