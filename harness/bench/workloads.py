"""The workloads that are measured: what each Pod brings along, which devices it meets, which features it needs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fake_driver.inventory import Pool, Taint
from fake_driver.profiles import core_complexes, fabric, gpus
from harness.clusters.profile import Profile
from harness.kube import Obj
from harness.kube.builders import claim, claim_template, device_class, gang, pod, pod_group, request
from harness.releases import Release

DRIVER = "bench.example.com"
RESOURCE = "bench.example.com/gpu"
TEMPLATE = "one-device"

#: The label of what stays when the Pods of a measurement are removed.
LABEL = "dra-e2e/bench"

#: Pods of a gang, and Pods that share a claim.
TOGETHER = 8

#: Every so many devices one is tainted.
TAINTED = 10

#: What a device of a node costs of the node's CPUs, where it costs some.
CPU = "100m"

#: The objects of a unit of that name whose containers run that image: its Pods are the last of them.
Unit = Callable[[str, str], Sequence[Obj]]

#: The devices of a node: of the node's number, and so many.
Inventory = Callable[[int, int], Pool]


@dataclass(frozen=True)
class Workload:
    """One kind of Pods. They come in units that are asked for together: single Pods, or eight."""

    name: str
    title: str
    unit: Unit
    inventory: Inventory
    size: int = 1
    """Pods of a unit."""
    gates: tuple[str, ...] = ()
    attaching: bool = False
    """Somebody has to report the binding conditions of allocated devices."""


def available(workload: Workload, profile: Profile, release: Release) -> bool:
    """Whether a cluster of this profile and release can schedule it."""
    on = profile.resolve(release).gates["kube-scheduler"]
    gates = [release.gate(name) for name in workload.gates]
    kinds = {str(obj["kind"]) for obj in workload.unit("one", "image")}
    return all(gate is not None and on.get(gate.name, gate.default) for gate in gates) and all(
        release.api_version(kind) for kind in kinds
    )


def shared_objects() -> list[Obj]:
    """What every unit may use: the class of all devices, and a template of claims."""
    return [
        device_class(DRIVER, DRIVER, extended_resource_name=RESOURCE),
        claim_template(TEMPLATE, request(DRIVER)),
    ]


def names(workload: Workload, unit: str) -> list[str]:
    """The names of the Pods of a unit."""
    return [f"{unit}-{number}" for number in range(workload.size)]


# --- units ----------------------------------------------------------------------------------------------------------


def _plain(name: str, image: str) -> list[Obj]:
    return [pod(f"{name}-0", image=image, requests={"cpu": CPU})]


def _claim(name: str, image: str) -> list[Obj]:
    wanted = claim(f"{name}-0", request(DRIVER))
    return [wanted, pod(f"{name}-0", image=image, claims={"gpu": wanted})]


def _template(name: str, image: str) -> list[Obj]:
    return [pod(f"{name}-0", image=image, templates={"gpu": TEMPLATE})]


def _shared(name: str, image: str) -> list[Obj]:
    wanted = claim(f"{name}-0", request(DRIVER))
    return [wanted, *(pod(f"{name}-{number}", image=image, claims={"gpu": wanted}) for number in range(TOGETHER))]


def _extended(name: str, image: str) -> list[Obj]:
    return [pod(f"{name}-0", image=image, limits={RESOURCE: 1})]


def _gang(name: str, image: str) -> list[Obj]:
    group = pod_group(name, gang(TOGETHER))
    claims = [claim(f"{name}-{number}", request(DRIVER)) for number in range(TOGETHER)]
    members = [pod(one["metadata"]["name"], image=image, claims={"gpu": one}, pod_group=group) for one in claims]
    return [group, *claims, *members]


# --- inventories ----------------------------------------------------------------------------------------------------


def _gpus(_: int, devices: int) -> Pool:
    return gpus(devices)


def _tainted(node: int, devices: int) -> Pool:
    pool = gpus(devices)
    taint = Taint("example.com/worn", "NoSchedule")
    return replace(
        pool,
        devices=tuple(
            device if (node * devices + number) % TAINTED else replace(device, taints=(taint,))
            for number, device in enumerate(pool.devices)
        ),
    )


def _attached(_: int, devices: int) -> Pool:
    return fabric(devices)


def _costly(_: int, devices: int) -> Pool:
    return core_complexes(devices, cpus=CPU)


CLAIM = Workload("claim", "one claim each", _claim, _gpus)
TEMPLATED = Workload("template", "a claim from a template", _template, _gpus)
PLAIN = Workload("plain", "no device", _plain, _gpus)
SHARED = Workload("shared", "a claim for every 8", _shared, _gpus, TOGETHER)
EXTENDED = Workload("extended", "an extended resource", _extended, _gpus, gates=("DRAExtendedResource",))
GANG = Workload("gang", "gangs of 8, one claim each", _gang, _gpus, TOGETHER, ("GenericWorkload",))
CONDITIONS = Workload(
    "conditions", "binding conditions", _claim, _attached, gates=("DRADeviceBindingConditions",), attaching=True
)
TAINTS = Workload("taints", "10 % of devices tainted", _claim, _tainted, gates=("DRADeviceTaints",))
ALLOCATABLE = Workload(
    "allocatable", "node-allocatable demand", _claim, _costly, gates=("DRANodeAllocatableResources",)
)
