"""Snapshots made by hand."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

from harness.explain.snapshot import Snapshot
from harness.kube.builders import claim, device_class, pod, request, resource_slice
from harness.kube.resources import Obj, resource

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
DRIVER = "gpu.example.com"


def ago(seconds: float) -> str:
    """A time before the snapshot, as the API writes it."""
    return (NOW - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def stored(obj: Obj, age: float = 60, **fields: Any) -> Obj:
    """An object as the API server keeps it; its uid is its name."""
    meta = obj["metadata"]
    meta |= {"uid": f"uid-{meta['name']}", "creationTimestamp": ago(age)}
    if resource(obj["kind"]).namespaced:
        meta.setdefault("namespace", "ns")
    return {**obj, **fields}


def snapshot(*objs: Obj, missing: tuple[str, ...] = ()) -> Snapshot:
    """A snapshot of these objects; kinds that are `missing` could not be read."""
    kinds: dict[str, list[Obj]] = defaultdict(list)
    for kind in ("Node", "Pod", "ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice",
                 "DeviceTaintRule", "PodGroup", "Event", "Lease"):  # fmt: skip
        kinds[kind] = []
    for obj in objs:
        kinds[obj["kind"]].append(obj)
    return Snapshot({kind: found for kind, found in kinds.items() if kind not in missing}, NOW)


def a_node(name: str = "n1", *, ready: bool = True, taints: tuple[Obj, ...] = (), **allocatable: str) -> Obj:
    """A node."""
    amounts = {"cpu": "4", "memory": "8Gi", **allocatable}
    conditions = [{"type": "Ready", "status": "True" if ready else "Unknown"}]
    return stored(
        {"kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}},
        spec={"taints": list(taints)},
        status={"allocatable": amounts, "conditions": conditions},
    )


def devices(*found: str | Obj, node: str = "n1", **fields: Any) -> list[Obj]:
    """A slice on a node, and the class of its devices."""
    return [
        stored(resource_slice(f"slice-{node}", DRIVER, found, node=node, **fields)),
        stored(device_class(DRIVER, DRIVER)),
    ]


def unplaced(name: str = "waiter", message: str = "0/1 nodes are available: 1 cannot allocate all claims.",
             reason: str = "Unschedulable", **fields: Any) -> Obj:  # fmt: skip
    """A Pod that the scheduler could not place; without message it has not been tried."""
    condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message,
                 "lastTransitionTime": ago(5)}  # fmt: skip
    made = stored(pod(name, **fields), status={"phase": "Pending", "conditions": [condition] if message else []})
    made["spec"].setdefault("schedulerName", "default-scheduler")
    return made


def wants(name: str = "wanted", *requests: Obj, **fields: Any) -> Obj:
    """A claim that is not allocated."""
    return stored(claim(name, *(requests or (request(DRIVER),)), **fields), status={})


def has(name: str, device: str, user: str, *, pool: str = "n1", **result: Any) -> Obj:
    """A claim that is allocated, and reserved for a Pod."""
    entry = {"driver": DRIVER, "pool": pool, "device": device, "request": "gpu", **result}
    return stored(
        claim(name, request(DRIVER)),
        status={
            "allocation": {"devices": {"results": [entry]}, "allocationTimestamp": ago(30)},
            "reservedFor": [{"resource": "pods", "name": user, "uid": f"uid-{user}"}],
        },
    )


def event(about: Obj, reason: str, message: str, age: float = 5, count: int = 1) -> Obj:
    """An Event."""
    meta = about["metadata"]
    target = {"kind": about["kind"], "name": meta["name"], "namespace": meta["namespace"], "uid": meta["uid"]}
    return {
        "kind": "Event",
        "metadata": {"name": f"{meta['name']}.{reason}", "namespace": "ns", "creationTimestamp": ago(age)},
        "involvedObject": target, "reason": reason, "message": message, "count": count, "lastTimestamp": ago(age),
    }  # fmt: skip
