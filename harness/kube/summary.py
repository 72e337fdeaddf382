"""An object's state in a few words, for messages."""

from harness.kube.predicates import allocated_devices, find_condition
from harness.kube.resources import Obj


def describe(obj: Obj | None) -> str:
    """What a reader of a failed wait wants to know of the object's last state."""
    if obj is None:
        return "does not exist"
    parts = [_pod(obj) if obj.get("kind") == "Pod" else _claim(obj) if obj.get("kind") == "ResourceClaim" else ""]
    if "deletionTimestamp" in obj["metadata"]:
        parts.append("terminating, finalizers " + (", ".join(obj["metadata"].get("finalizers") or ()) or "none"))
    if obj.get("kind") not in ("Pod", "ResourceClaim"):
        parts += [_condition(found) for found in (obj.get("status") or {}).get("conditions") or ()]
    return "; ".join(part for part in parts if part) or "exists"


def _pod(pod: Obj) -> str:
    status = pod.get("status") or {}
    parts = [f"phase {status.get('phase', 'unknown')}", f"node {pod['spec'].get('nodeName') or 'none'}"]
    for type in ("PodScheduled", "DisruptionTarget"):
        found = find_condition(pod, type)
        if found and (type, found["status"]) != ("PodScheduled", "True"):
            parts.append(_condition(found))
    if not pod["spec"].get("nodeName") and find_condition(pod, "PodScheduled") is None:
        parts.append("no PodScheduled condition (not tried, or held back before the scheduler's queue)")
    parts += [f"{entry['name']} → claim {entry.get('resourceClaimName') or 'none'}"
              for entry in status.get("resourceClaimStatuses") or ()]  # fmt: skip
    parts += [_container(container) for container in status.get("containerStatuses") or ()]
    if status.get("reason"):
        parts.append(f"{status['reason']}: {status.get('message', '')}")
    return ", ".join(part for part in parts if part)


def _container(container: Obj) -> str:
    for state, details in (container.get("state") or {}).items():
        if state == "running":
            return ""
        code = f" exit code {details['exitCode']}" if "exitCode" in details else ""
        return f"container {container['name']} {state}{code} {details.get('reason', '')}".rstrip()
    return ""


def _claim(claim: Obj) -> str:
    if (claim.get("status") or {}).get("allocation") is None:
        devices = "not allocated"
    else:
        devices = "allocated " + (", ".join("/".join(device) for device in allocated_devices(claim)) or "no device")
    consumers = ", ".join(consumer["name"] for consumer in claim.get("status", {}).get("reservedFor") or ())
    return f"{devices}, reserved for {consumers or 'nobody'}"


def _condition(found: Obj) -> str:
    return f"{found['type']}={found['status']} {found.get('reason', '')}: {found.get('message', '')}".rstrip(": ")


def describe_event(event: Obj) -> str:
    """One line for an Event."""
    count = (event.get("series") or {}).get("count") or event.get("count") or 1
    times = f" ({count} times)" if count > 1 else ""
    return f"{event.get('type', '')} {event.get('reason', '')}: {event.get('message', '')}{times}"
