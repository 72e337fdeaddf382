"""What an observation of an object says beside the observation: where a Pod is and with which devices, or why not."""

from harness.explain.gang import group_name
from harness.kube.client import Client
from harness.kube.predicates import allocated_devices, generated_claim_name
from harness.kube.resources import Obj


def placed(client: Client, obj: Obj) -> str:
    """A bound Pod's node, devices and group, or an allocated claim's devices; empty for everything else."""
    if obj.get("kind") == "ResourceClaim":
        return _devices([obj])
    if obj.get("kind") != "Pod" or not obj.get("spec", {}).get("nodeName"):
        return ""
    parts = [f"on {obj['spec']['nodeName']}", _devices(_claims(client, obj))]
    parts += [f"in group {group_name(obj)}"] if group_name(obj) else []
    return ", ".join(part for part in parts if part)


def waits(obj: Obj) -> bool:
    """Whether it is a Pod that has no node yet and is not to go."""
    return (
        obj.get("kind") == "Pod"
        and not obj.get("spec", {}).get("nodeName")
        and (obj.get("status") or {}).get("phase") == "Pending"
        and "deletionTimestamp" not in obj["metadata"]
    )


def _claims(client: Client, pod: Obj) -> list[Obj]:
    """The Pod's claims, read one by one: most Pods have none, or one."""
    names = [
        entry.get("resourceClaimName") or generated_claim_name(pod, entry["name"])
        for entry in pod["spec"].get("resourceClaims") or ()
    ]
    names.append(((pod.get("status") or {}).get("extendedResourceClaimStatus") or {}).get("resourceClaimName"))
    found = (client.find("ResourceClaim", name, pod["metadata"]["namespace"]) for name in names if name)
    return [claim for claim in found if claim]


def _devices(claims: list[Obj]) -> str:
    devices = ["/".join(device) for claim in claims for device in allocated_devices(claim)]
    return f"with {', '.join(devices)}" if devices else ""
