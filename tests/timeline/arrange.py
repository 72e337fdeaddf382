"""Objects as a cluster has them."""

from typing import Any

from harness.evidence import Sighting
from harness.timeline.lives import seconds

#: The second in which it all begins; times of the tests are after it.
ZERO = seconds("2026-03-02T09:14:00Z")

DRIVER = "gpu.example.com"


def stamp(at: float) -> str:
    """A timestamp in whole seconds, as most of the API's."""
    return f"2026-03-02T09:14:{int(at):02}Z"


def micro(at: float) -> str:
    """One that tells more."""
    return f"2026-03-02T09:14:{at:09.6f}Z"


def meta(name: str, created: float, version: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "namespace": "ns",
        "uid": f"uid-{name}",
        "resourceVersion": str(version),
        "creationTimestamp": stamp(created),
        **more,
    }


def condition(type: str, status: str, at: float, reason: str = "", message: str = "") -> dict[str, Any]:
    return {"type": type, "status": status, "lastTransitionTime": stamp(at), "reason": reason, "message": message}


def pod(
    name: str, created: float, *conditions: dict[str, Any], node: str = "", started: float | None = None,
    version: int = 1, gates: bool = False, **metadata: Any,
) -> dict[str, Any]:  # fmt: skip
    spec: dict[str, Any] = {"containers": [{"name": "c"}]}
    spec |= {"nodeName": node} if node else {}
    spec |= {"schedulingGates": [{"name": "g"}]} if gates else {}
    status: dict[str, Any] = {"phase": "Pending" if started is None else "Running", "conditions": list(conditions)}
    if started is not None:
        status["containerStatuses"] = [{"state": {"running": {"startedAt": stamp(started)}}}]
    return {"kind": "Pod", "metadata": meta(name, created, version, **metadata), "spec": spec, "status": status}


def claim(
    name: str, created: float, allocated: float | None = None, consumer: str = "", *conditions: dict[str, Any],
    device: str = "gpu-0", binding: bool = False, version: int = 1, **metadata: Any,
) -> dict[str, Any]:  # fmt: skip
    key = {"driver": DRIVER, "pool": "node-1", "device": device}
    status: dict[str, Any] = {}
    if allocated is not None:
        result: dict[str, Any] = {**key, "request": "r"}
        result |= {"bindingConditions": ["Attached"], "bindingFailureConditions": ["Broken"]} if binding else {}
        status["allocation"] = {"allocationTimestamp": stamp(allocated), "devices": {"results": [result]}}
    if consumer:
        status["reservedFor"] = [{"resource": "pods", "name": consumer, "uid": f"uid-{consumer}"}]
    if conditions:
        status["devices"] = [{**key, "conditions": list(conditions)}]
    return {"kind": "ResourceClaim", "metadata": meta(name, created, version, **metadata), "spec": {}, "status": status}


def published(created: float, *devices: dict[str, Any], version: int = 1, **metadata: Any) -> dict[str, Any]:
    spec: dict[str, Any] = {"driver": DRIVER, "pool": {"name": "node-1"}, "devices": list(devices)}
    return {"kind": "ResourceSlice", "metadata": meta("slice", created, version, **metadata), "spec": spec}


def rule(created: float, **selector: str) -> dict[str, Any]:
    taint = {"key": "broken", "effect": "NoExecute", "timeAdded": stamp(created)}
    spec: dict[str, Any] = {"taint": taint, "deviceSelector": selector}
    return {"kind": "DeviceTaintRule", "metadata": meta("rule", created), "spec": spec}


def event(about: str, reason: str, at: float, message: str = "") -> dict[str, Any]:
    return {
        "kind": "Event",
        "metadata": meta(f"{about}.{reason}.{at}", at),
        "involvedObject": {"kind": "Pod", "name": about, "namespace": "ns", "uid": f"uid-{about}"},
        "reason": reason,
        "message": message,
        "eventTime": micro(at),
    }


def seen(at: float, obj: dict[str, Any], *, gone: bool = False, read: bool = False) -> Sighting:
    return Sighting(ZERO + at, obj, gone, read)
