"""The simulated hardware as data: devices and the pools they are published in."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from fake_driver.errors import ConfigError


@dataclass(frozen=True)
class Version:
    """A semantic version as the value of an attribute (a plain string would be published as a string)."""

    value: str


AttributeValue = bool | int | str | Version | Sequence[int] | Sequence[bool] | Sequence[str] | Sequence[Version]


@dataclass(frozen=True)
class Capacity:
    """A capacity with the policy for requests of a part of it (`requestPolicy`, in the API's form)."""

    value: str
    request_policy: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Taint:
    """A device taint. Without `time_added` the API server fills it in and the publisher keeps what it filled in."""

    key: str
    effect: str
    value: str = ""
    time_added: str | None = None

    def to_api(self) -> dict[str, Any]:
        """The taint as it stands in a ResourceSlice."""
        return _without_empty(
            {"key": self.key, "value": self.value, "effect": self.effect, "timeAdded": self.time_added}
        )


@dataclass(frozen=True)
class CounterConsumption:
    """What a device takes from a shared counter set while it is allocated."""

    counter_set: str
    counters: Mapping[str, str]
    compatibility_groups: Sequence[str] = ()

    def to_api(self) -> dict[str, Any]:
        """The consumption as it stands in a device."""
        groups = {"compatibilityGroups": list(self.compatibility_groups)} if self.compatibility_groups else {}
        return {"counterSet": self.counter_set, "counters": _counters(self.counters), **groups}


@dataclass(frozen=True)
class Device:
    """One device of a pool; the names are those of the API's Device in Python's spelling.

    `node_name`, `node_selector` and `all_nodes` are only for pools whose devices choose their nodes themselves.
    `node_selector` and what is node allocatable have the API's form; its mappings are the field of Kubernetes 1.36.
    """

    name: str
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    capacity: Mapping[str, str | Capacity] = field(default_factory=dict)
    taints: Sequence[Taint] = ()
    binds_to_node: bool = False
    binding_conditions: Sequence[str] = ()
    binding_failure_conditions: Sequence[str] = ()
    allow_multiple_allocations: bool = False
    consumes_counters: Sequence[CounterConsumption] = ()
    node_allocatable_resources: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    node_allocatable_resource_mappings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    node_name: str | None = None
    node_selector: Mapping[str, Any] | None = None
    all_nodes: bool = False

    def to_api(self) -> dict[str, Any]:
        """The device as it stands in a ResourceSlice."""
        return _without_empty(
            {
                "name": self.name,
                "attributes": {name: _attribute(value) for name, value in self.attributes.items()},
                "capacity": {name: _capacity(value) for name, value in self.capacity.items()},
                "taints": [taint.to_api() for taint in self.taints],
                "bindsToNode": self.binds_to_node,
                "bindingConditions": list(self.binding_conditions),
                "bindingFailureConditions": list(self.binding_failure_conditions),
                "allowMultipleAllocations": self.allow_multiple_allocations,
                "consumesCounters": [consumption.to_api() for consumption in self.consumes_counters],
                "nodeAllocatableResources": _copied(self.node_allocatable_resources),
                "nodeAllocatableResourceMappings": _copied(self.node_allocatable_resource_mappings),
                "nodeName": self.node_name,
                "nodeSelector": dict(self.node_selector) if self.node_selector else None,
                "allNodes": self.all_nodes,
            }
        )

    @property
    def uuid(self) -> str | None:
        """The attribute `uuid`, if the device has one."""
        value = self.attributes.get("uuid")
        return value if isinstance(value, str) else None

    @property
    def has_list_attributes(self) -> bool:
        """Whether an attribute has a list as its value."""
        return any(not isinstance(value, bool | int | str | Version) for value in self.attributes.values())


@dataclass(frozen=True)
class Pool:
    """A pool of devices and how it is cut into slices.

    Exactly one of `node`, `node_selector` (API form), `all_nodes` and `per_device` says where its devices are; a pool
    with none of them is a template that `on` (or `place`) puts on nodes. `name` may be left out of such a template.

    `slice_size` devices go into each slice (default: as many as the API allows), under the names `slice_names` where
    given. `generation` and `slice_count` replace the numbers that the publisher would announce: for broken pools.
    """

    name: str = ""
    devices: Sequence[Device] = ()
    node: str | None = None
    node_selector: Mapping[str, Any] | None = None
    all_nodes: bool = False
    per_device: bool = False
    shared_counters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    skip_node_operations: Sequence[str] = ()
    partition_type_attribute: str | None = None
    slice_size: int | None = None
    slice_names: Sequence[str] = ()
    generation: int | None = None
    slice_count: int | None = None

    def __post_init__(self) -> None:
        if sum(map(bool, (self.node, self.node_selector, self.all_nodes, self.per_device))) > 1:
            raise ConfigError(
                f"pool {self.name!r}: only one of node, node_selector, all_nodes, per_device can be given"
            )
        if self.placed and not self.name:
            raise ConfigError("a pool that is not a template for nodes needs a name")
        if self.slice_size is not None and self.slice_size < 1:
            raise ConfigError(f"pool {self.name!r}: slice_size must be at least 1, not {self.slice_size}")

    @property
    def placed(self) -> bool:
        """Whether the pool says where its devices are."""
        return bool(self.node or self.node_selector or self.all_nodes or self.per_device)

    def on(self, node: str) -> "Pool":
        """The template's pool on a node, named after it; each device gets a uuid of its own."""
        name = f"{node}/{self.name}" if self.name else node
        return replace(self, name=name, node=node, devices=tuple(_unique(device, name) for device in self.devices))

    def device(self, name: str) -> Device | None:
        """The device of that name, None if there is none."""
        return next((device for device in self.devices if device.name == name), None)


def place(pools: Iterable[Pool], nodes: Iterable[str]) -> tuple[Pool, ...]:
    """Put each template on each of the nodes; placed pools stay as they are. Raises ConfigError without nodes."""
    pools, nodes = tuple(pools), tuple(nodes)
    if not nodes and not all(pool.placed for pool in pools):
        raise ConfigError("a pool that is a template needs a node to be put on")
    return tuple(placed for pool in pools for placed in ([pool] if pool.placed else [pool.on(node) for node in nodes]))


def _unique(device: Device, pool: str) -> Device:
    if device.uuid is None:
        return device
    return replace(
        device, attributes={**device.attributes, "uuid": f"GPU-{uuid5(NAMESPACE_OID, f'{pool}/{device.name}')}"}
    )


def _copied(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: dict(entry) for name, entry in entries.items()}


def _attribute(value: AttributeValue) -> dict[str, Any]:
    match value:
        case bool():
            return {"bool": value}
        case int():
            return {"int": value}
        case str():
            return {"string": value}
        case Version():
            return {"version": value.value}
    kind, *_ = {next(iter(_attribute(item))) for item in value} or {"string"}
    return {f"{kind}s": [item.value if isinstance(item, Version) else item for item in value]}


def _capacity(value: str | Capacity) -> dict[str, Any]:
    if isinstance(value, str):
        return {"value": value}
    return _without_empty({"value": value.value, "requestPolicy": dict(value.request_policy or {})})


def _counters(counters: Mapping[str, str]) -> dict[str, Any]:
    return {name: {"value": value} for name, value in counters.items()}


def by_capacity(capacity: str, multiplier: str = "1") -> dict[str, Any]:
    """A node allocatable resource of which a claim gets the capacity it consumes, times `multiplier`."""
    return {"mapping": {"capacityKey": capacity, "capacityMultiplier": multiplier}}


def by_device(multiplier: str) -> dict[str, Any]:
    """A node allocatable resource of which a claim gets so much with each device."""
    return {"mapping": {"deviceMultiplier": multiplier}}


def overhead(per_pod: str | None = None, per_container: str | None = None) -> dict[str, Any]:
    """What a device costs of a node allocatable resource, for each Pod and for each container that uses the claim."""
    return {"overhead": _without_empty({"perPod": per_pod, "perContainer": per_container})}


def counter_sets(pool: Pool) -> list[dict[str, Any]]:
    """The pool's counter sets as they stand in a ResourceSlice."""
    return [{"name": name, "counters": _counters(counters)} for name, counters in pool.shared_counters.items()]


def _without_empty(values: dict[str, Any]) -> dict[str, Any]:
    # What is false or empty is the API's default; left out, the object equals what the server gives back.
    return {name: value for name, value in values.items() if value or (value == 0 and not isinstance(value, bool))}


def device_class(name: str, driver: str, extended_resource_name: str | None = None) -> dict[str, Any]:
    """The manifest of a DeviceClass that selects all devices of a driver."""
    more = {"extendedResourceName": extended_resource_name} if extended_resource_name else {}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{driver}"'}}], **more},
    }
