"""The cluster's devices: what is published, in which pools, with which taints, and who holds what."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from harness.explain.placement import selects, show
from harness.explain.snapshot import Snapshot
from harness.kube.predicates import AllocatedDevice, allocation_results
from harness.kube.resources import Obj, reference


@dataclass(frozen=True)
class Taint:
    """A taint of a device and where it comes from."""

    spec: Obj
    origin: str

    def __str__(self) -> str:
        return f"{show(self.spec)} ({self.origin})"


@dataclass(frozen=True)
class Hold:
    """A claim that a device is allocated to, and the result in its allocation."""

    claim: Obj
    result: Obj

    def __str__(self) -> str:
        users = [f"{each['resource'].removesuffix('s')} {each['name']}" for each in reserved_for(self.claim)]
        return f"{reference(self.claim)}, used by {', '.join(users) or 'nobody'}"


@dataclass(frozen=True)
class Pool:
    """A pool: the slices of its highest generation."""

    driver: str
    name: str
    slices: tuple[Obj, ...]

    @cached_property
    def problem(self) -> str:
        """Why nothing of the pool can be allocated, empty where nothing is wrong with it."""
        announced = max(each["spec"]["pool"]["resourceSliceCount"] for each in self.slices)
        if len(self.slices) < announced:
            return f"incomplete: {len(self.slices)} of {announced} slices of generation {self.generation} are there"
        names = [device["name"] for each in self.slices for device in each["spec"].get("devices") or ()]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            return f"invalid: more than one device is called {', '.join(twice)}"
        unknown = sorted(
            {
                consumption["counterSet"]
                for each in self.slices
                for device in each["spec"].get("devices") or ()
                for consumption in device.get("consumesCounters") or ()
                if consumption["counterSet"] not in self.counters
            }
        )
        return f"invalid: devices consume counters of unknown sets: {', '.join(unknown)}" if unknown else ""

    @property
    def incomplete(self) -> bool:
        """Whether the problem is that slices are missing."""
        return self.problem.startswith("incomplete")

    @property
    def generation(self) -> int:
        """The generation that counts."""
        return int(self.slices[0]["spec"]["pool"]["generation"])

    @cached_property
    def counters(self) -> Mapping[str, Mapping[str, str]]:
        """Counter sets, by name: counter → amount."""
        return {
            group["name"]: {name: counter["value"] for name, counter in group["counters"].items()}
            for each in self.slices
            for group in each["spec"].get("sharedCounters") or ()
        }

    def __str__(self) -> str:
        return f"{self.driver}/{self.name}"


@dataclass(frozen=True, eq=False)
class Device:
    """A published device."""

    pool: Pool
    spec: Obj
    slice: Obj
    taints: tuple[Taint, ...] = ()
    holds: tuple[Hold, ...] = field(default=())

    @property
    def driver(self) -> str:
        """The driver's name."""
        return self.pool.driver

    @property
    def key(self) -> AllocatedDevice:
        """The full name, as allocations have it."""
        return AllocatedDevice(self.pool.driver, self.pool.name, self.spec["name"])

    def __str__(self) -> str:
        return "/".join(self.key)

    def reaches(self, node: Obj) -> bool:
        """Whether the node can have it."""
        spec = self.spec if self.slice["spec"].get("perDeviceNodeSelection") else self.slice["spec"]
        if spec.get("allNodes"):
            return True
        if spec.get("nodeName"):
            return bool(spec["nodeName"] == node["metadata"]["name"])
        return bool(spec.get("nodeSelector")) and selects(spec["nodeSelector"], node)


@dataclass(frozen=True)
class Inventory:
    """All pools and devices of the cluster."""

    pools: tuple[Pool, ...]
    devices: tuple[Device, ...]

    def find(self, driver: str, pool: str, device: str) -> Device | None:
        """The device of that name, None where none is published."""
        return next((each for each in self.devices if each.key == (driver, pool, device)), None)


def inventory(snapshot: Snapshot) -> Inventory:
    """The devices of all slices that count, with what DeviceTaintRules and allocations add."""
    pools = _pools(snapshot.all("ResourceSlice"))
    holds = _holds(snapshot.all("ResourceClaim"))
    rules = snapshot.all("DeviceTaintRule")
    devices = (
        (pool, device, each) for pool in pools for each in pool.slices for device in each["spec"].get("devices") or ()
    )
    return Inventory(
        pools,
        tuple(
            Device(
                pool,
                device,
                each,
                (*_own_taints(device, each), *_rule_taints(rules, pool, device)),
                holds.get(AllocatedDevice(pool.driver, pool.name, device["name"]), ()),
            )
            for pool, device, each in devices
        ),
    )


def reserved_for(claim: Obj) -> list[Obj]:
    """The consumers of a claim."""
    consumers: list[Obj] = (claim.get("status") or {}).get("reservedFor") or []
    return consumers


def _pools(slices: Iterable[Obj]) -> tuple[Pool, ...]:
    groups: dict[tuple[str, str], list[Obj]] = defaultdict(list)
    for each in slices:
        groups[each["spec"]["driver"], each["spec"]["pool"]["name"]].append(each)
    pools = []
    for (driver, name), members in sorted(groups.items()):
        newest = max(each["spec"]["pool"]["generation"] for each in members)
        current = [each for each in members if each["spec"]["pool"]["generation"] == newest]
        pools.append(Pool(driver, name, tuple(sorted(current, key=lambda each: str(each["metadata"]["name"])))))
    return tuple(pools)


def _holds(claims: Iterable[Obj]) -> Mapping[AllocatedDevice, tuple[Hold, ...]]:
    holds: dict[AllocatedDevice, tuple[Hold, ...]] = {}
    for claim in claims:
        for result in allocation_results(claim):
            if not result.get("adminAccess"):
                key = AllocatedDevice(result["driver"], result["pool"], result["device"])
                holds[key] = (*holds.get(key, ()), Hold(claim, result))
    return holds


def _own_taints(device: Obj, origin: Obj) -> list[Taint]:
    return [Taint(taint, f"in {reference(origin)}") for taint in device.get("taints") or ()]


def _rule_taints(rules: Iterable[Obj], pool: Pool, device: Obj) -> list[Taint]:
    found = []
    own = {"driver": pool.driver, "pool": pool.name, "device": device["name"]}
    for rule in rules:
        selector = rule["spec"].get("deviceSelector")
        if selector is not None and all(selector.get(key) in (None, value) for key, value in own.items()):
            found.append(Taint(rule["spec"]["taint"], f"by {reference(rule)}"))
    return found
