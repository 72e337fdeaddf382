"""Named inventories of simulated hardware. Each profile returns a template to put on nodes, any size by parameter."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack

from fake_driver.errors import ConfigError
from fake_driver.inventory import (
    Capacity,
    CounterConsumption,
    Device,
    Pool,
    Version,
    by_capacity,
    by_device,
    overhead,
)

_DRIVER_VERSION = Version("580.65.6")


class PoolOptions(TypedDict, total=False):
    """The further arguments of every profile: those of `Pool`, beside devices and counters."""

    name: str
    node: str | None
    node_selector: Mapping[str, Any] | None
    all_nodes: bool
    skip_node_operations: Sequence[str]
    slice_size: int | None
    slice_names: Sequence[str]
    generation: int | None
    slice_count: int | None


def gpus(count: int = 8, **pool: Unpack[PoolOptions]) -> Pool:
    """Data-centre GPUs with 80 GiB; every two share a PCIe root, the first half is on NUMA node 0, the others on 1."""
    return Pool(devices=_data_centre(count), **pool)


def small_gpus(count: int = 2, **pool: Unpack[PoolOptions]) -> Pool:
    """Small GPUs with 24 GiB, all on one PCIe root."""
    return Pool(devices=_small(count), **pool)


def partitionable(count: int = 1, **pool: Unpack[PoolOptions]) -> Pool:
    """GPUs of 80 GiB and 8 compute units, each whole, as 2 halves and as 4 quarters, which share its counters."""
    indexes = range(count)
    return Pool(
        devices=tuple(partition for index in indexes for partition in _partitions(index)),
        shared_counters={_counter_set(index): {"memory": "80Gi", "compute": "8"} for index in indexes},
        **pool,
    )


def shareable(
    count: int = 1, default: str = "8Gi", minimum: str = "1Gi", step: str = "1Gi", **pool: Unpack[PoolOptions]
) -> Pool:
    """GPUs of 80 GiB that many claims can share: a claim gets `default` memory, or what it asks for in steps."""
    return Pool(devices=_shareable(count, default, minimum, step), **pool)


def fabric(
    count: int = 1,
    conditions: Sequence[str] = ("DeviceAttached",),
    failures: Sequence[str] = ("DeviceAttachFailed",),
    binds_to_node: bool = True,
    **pool: Unpack[PoolOptions],
) -> Pool:
    """GPUs that are attached over a fabric to the node chosen for them, as their conditions report."""
    devices = tuple(
        replace(
            device,
            binds_to_node=binds_to_node,
            binding_conditions=conditions,
            binding_failure_conditions=failures,
        )
        for device in _data_centre(count)
    )
    return Pool(devices=devices, **pool)


def mixed(**pool: Unpack[PoolOptions]) -> Pool:
    """A node with GPUs of each sort: two data-centre, two small, a partitionable and a shareable one."""
    partitions = partitionable(1)
    return Pool(
        devices=(*_data_centre(2), *_small(2), *partitions.devices, *_shareable(1, "8Gi", "1Gi", "1Gi")),
        shared_counters=partitions.shared_counters,
        **pool,
    )


def cpu_sockets(count: int = 2, cpus: str = "128", multiplier: str = "1", **pool: Unpack[PoolOptions]) -> Pool:
    """CPU sockets that many claims draw from: what one consumes of the capacity `cpu` is taken from the node's cpu."""
    devices = tuple(_drawn_from(f"socket{index}cpus", "cpu", cpus, "cpu", multiplier) for index in range(count))
    return Pool(devices=devices, **pool)


def memory_blocks(count: int = 2, size: str = "64Gi", **pool: Unpack[PoolOptions]) -> Pool:
    """Memory banks that many claims draw from: what one consumes is taken from the node's memory."""
    devices = tuple(_drawn_from(f"memory-{index}", "memory", size, "memory", "1") for index in range(count))
    return Pool(devices=devices, **pool)


def hugepages(count: int = 1, size: str = "1Gi", page: str = "2Mi", **pool: Unpack[PoolOptions]) -> Pool:
    """Stocks of huge pages that many claims draw from: what one consumes is taken from the node's `hugepages-<page>`.

    The capacity is called `hugepages`.
    """
    devices = tuple(
        _drawn_from(f"pages-{index}", "hugepages", size, f"hugepages-{page}", "1") for index in range(count)
    )
    return Pool(devices=devices, **pool)


def core_complexes(count: int = 4, cpus: str = "8", **pool: Unpack[PoolOptions]) -> Pool:
    """Groups of cores that share a cache, given whole: each device takes so many CPUs of the node."""
    devices = tuple(
        Device(f"ccx-{index}", node_allocatable_resources={"cpu": by_device(cpus)}) for index in range(count)
    )
    return Pool(devices=devices, **pool)


def accelerators(
    count: int = 1,
    per_pod: str | None = "8Gi",
    per_container: str | None = None,
    resource: str = "memory",
    **pool: Unpack[PoolOptions],
) -> Pool:
    """Accelerators that cost host memory (or another node allocatable resource) where they are used."""
    cost = overhead(per_pod, per_container)
    devices = tuple(
        Device(f"xpu-{index}", attributes={"model": "model-x"}, node_allocatable_resources={resource: cost})
        for index in range(count)
    )
    return Pool(devices=devices, **pool)


PROFILES: dict[str, Callable[..., Pool]] = {
    "gpus": gpus,
    "small-gpus": small_gpus,
    "partitionable": partitionable,
    "shareable": shareable,
    "fabric": fabric,
    "mixed": mixed,
    "cpu-sockets": cpu_sockets,
    "memory-blocks": memory_blocks,
    "hugepages": hugepages,
    "core-complexes": core_complexes,
    "accelerators": accelerators,
}


def profile(name: str, parameters: Mapping[str, Any]) -> Pool:
    """A profile by its name. Raises ConfigError for an unknown name or parameter."""
    if name not in PROFILES:
        raise ConfigError(f"unknown profile {name!r}: choose one of {', '.join(PROFILES)}")
    try:
        return PROFILES[name](**parameters)
    except TypeError as error:
        raise ConfigError(f"profile {name!r}: {error}") from error


def _drawn_from(name: str, capacity: str, amount: str, resource: str, multiplier: str) -> Device:
    return Device(
        name,
        capacity={capacity: amount},
        allow_multiple_allocations=True,
        node_allocatable_resources={resource: by_capacity(capacity, multiplier)},
    )


def _data_centre(count: int) -> tuple[Device, ...]:
    return tuple(
        _gpu(
            f"gpu-{index}",
            index,
            "DC-80G",
            "hopper",
            "80Gi",
            root=index // 2,
            numa=0 if index < (count + 1) // 2 else 1,
        )
        for index in range(count)
    )


def _small(count: int) -> tuple[Device, ...]:
    return tuple(_gpu(f"small-{index}", index, "Small-24G", "ada", "24Gi", root=0, numa=0) for index in range(count))


def _shareable(count: int, default: str, minimum: str, step: str) -> tuple[Device, ...]:
    policy = {"default": default, "validRange": {"min": minimum, "step": step}}
    return tuple(
        replace(
            _gpu(f"shared-{index}", index, "Shared-80G", "hopper", "80Gi", root=index, numa=0),
            capacity={"memory": Capacity("80Gi", policy)},
            allow_multiple_allocations=True,
        )
        for index in range(count)
    )


def _partitions(index: int) -> Iterable[Device]:
    whole = _gpu(f"part-{index}", index, "DC-80G", "hopper", "80Gi", root=index // 2, numa=0)
    for size, parts, memory, compute in (
        ("whole", 1, "80Gi", "8"),
        ("half", 2, "40Gi", "4"),
        ("quarter", 4, "20Gi", "2"),
    ):
        for part in range(parts):
            yield replace(
                whole,
                name=f"part-{index}-{size}-{part}" if parts > 1 else f"part-{index}-{size}",
                attributes={**whole.attributes, "partition": size},
                capacity={"memory": memory, "compute": compute},
                consumes_counters=(CounterConsumption(_counter_set(index), {"memory": memory, "compute": compute}),),
            )


def _counter_set(index: int) -> str:
    return f"part-{index}-counters"


def _gpu(name: str, index: int, model: str, architecture: str, memory: str, *, root: int, numa: int) -> Device:
    return Device(
        name=name,
        attributes={
            "index": index,
            "uuid": f"GPU-{name}",
            "model": model,
            "architecture": architecture,
            "driverVersion": _DRIVER_VERSION,
            "numaNode": numa,
            "resource.kubernetes.io/pcieRoot": f"pci0000:{root:02x}",
        },
        capacity={"memory": memory},
    )
