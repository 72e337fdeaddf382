"""A small cluster at rest, as objects: what the tests break."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.explain.snapshot import Snapshot
from harness.faults.state import Plugin, State
from harness.kube.resources import Obj

DRIVER = "gpu.example.com"
NODE = "node-a"


def device(name: str, *, shared: bool = False, memory: str = "80Gi", draws: str | None = None) -> Obj:
    """A device as a slice has it; `draws` so much memory of the counter set `card`."""
    made: Obj = {"name": name, "capacity": {"memory": {"value": memory}}}
    if shared:
        made["allowMultipleAllocations"] = True
    if draws:
        made["consumesCounters"] = [{"counterSet": "card", "counters": {"memory": {"value": draws}}}]
    return made


def resource_slice(*devices: Obj, counters: str | None = None, announced: int = 1, pool: str = NODE) -> Obj:
    """A slice of generation 1; `counters` is the memory of the counter set `card`."""
    spec: Obj = {
        "driver": DRIVER,
        "nodeName": NODE,
        "pool": {"name": pool, "generation": 1, "resourceSliceCount": announced},
        "devices": list(devices),
    }
    if counters:
        spec["sharedCounters"] = [{"name": "card", "counters": {"memory": {"value": counters}}}]
    return {"kind": "ResourceSlice", "metadata": {"name": f"slice-{pool}", "uid": f"slice-{pool}"}, "spec": spec}


def result(device_name: str, **more: Any) -> Obj:
    """One allocated device."""
    return {"request": "gpu", "driver": DRIVER, "pool": NODE, "device": device_name, **more}


def share(device_name: str, identity: str, memory: str) -> Obj:
    """A part of a shared device."""
    return result(device_name, shareID=identity, consumedCapacity={"memory": memory})


def claim(
    name: str, *results: Obj, users: Sequence[str] = (), owner: str | None = None, node: str = NODE,
    allocated: bool = True, resource: str = "pods",
) -> Obj:  # fmt: skip
    """A claim with this allocation, reserved for Pods of these names (their UIDs are `uid-NAME`)."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    status: Obj = {"reservedFor": [{"resource": resource, "name": user, "uid": f"uid-{user}"} for user in users]}
    if allocated:
        status["allocation"] = {"devices": {"results": list(results)}, "nodeSelector": {"nodeSelectorTerms": [term]}}
    meta: Obj = {"namespace": "default", "name": name, "uid": f"uid-{name}"}
    if owner:
        meta["ownerReferences"] = [{"kind": "Pod", "name": owner, "uid": f"uid-{owner}", "controller": True}]
    return {"kind": "ResourceClaim", "metadata": meta, "spec": {}, "status": status}


def pod(name: str, *claims: str, phase: str = "Running", generated: bool = False, node: str | None = NODE) -> Obj:
    """A Pod that uses claims of these names, `generated` for it from a template or not."""
    if generated:
        entries = [{"name": each, "resourceClaimTemplateName": "template"} for each in claims]
    else:
        entries = [{"name": each, "resourceClaimName": each} for each in claims]
    status: Obj = {"phase": phase}
    if generated:
        status["resourceClaimStatuses"] = [{"name": each, "resourceClaimName": each} for each in claims]
    spec: Obj = {"resourceClaims": entries, "containers": []} | ({"nodeName": node} if node else {})
    return {
        "kind": "Pod",
        "metadata": {"namespace": "default", "name": name, "uid": f"uid-{name}"},
        "spec": spec,
        "status": status,
    }


def group(name: str) -> Obj:
    """A PodGroup."""
    return {"kind": "PodGroup", "metadata": {"namespace": "default", "name": name, "uid": f"uid-{name}"}}


@dataclass
class Cluster:
    """Objects, and what the driver on NODE has prepared (claims by name; None: nobody can tell)."""

    pods: Sequence[Obj] = ()
    claims: Sequence[Obj] = ()
    slices: Sequence[Obj] = field(default_factory=lambda: [resource_slice(device("gpu-0"), device("gpu-1"))])
    groups: Sequence[Obj] = ()
    prepared: Sequence[str] | None = None

    def state(self) -> State:
        """The same, as it is read."""
        node: Obj = {"kind": "Node", "metadata": {"name": NODE, "labels": {}}}
        objects: Mapping[str, Sequence[Obj]] = {
            "Pod": self.pods,
            "ResourceClaim": self.claims,
            "ResourceSlice": self.slices,
            "PodGroup": self.groups,
            "Node": [node, {"kind": "Node", "metadata": {"name": "node-b", "labels": {}}}],
        }
        prepared = {} if self.prepared is None else {
            Plugin(DRIVER, NODE): frozenset(f"uid-{name}" for name in self.prepared)
        }  # fmt: skip
        return State(Snapshot(objects), prepared)
