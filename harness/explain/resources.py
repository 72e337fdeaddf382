"""Node resources: what a Pod needs, what of that comes with its devices, and what nodes have left."""

import re
from collections.abc import Iterable
from decimal import Decimal

from harness.explain.amounts import amount, show
from harness.explain.claims import present
from harness.explain.extended import offered
from harness.explain.inventory import Device, inventory
from harness.explain.messages import last_word
from harness.explain.model import Finding
from harness.explain.placement import eligible
from harness.explain.requests import alternatives, judge
from harness.explain.snapshot import Snapshot
from harness.kube.predicates import allocated, allocated_devices
from harness.kube.resources import Obj, reference

_OVER = ("Succeeded", "Failed")
_NODES_SHOWN = 4


def short_of(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    """The resources of which the scheduler says that nodes have too little."""
    names = sorted(set(re.findall(r"Insufficient ([\w./-]+[\w])", last_word(pod).message)))
    nodes = snapshot.all("Node")
    # What no node offers by itself is a matter of devices.
    return [_short_of(snapshot, pod, name) for name in names if "/" not in name or offered(nodes, name)]


def _short_of(snapshot: Snapshot, pod: Obj, name: str) -> Finding:
    nodes = sorted(eligible(snapshot, pod), key=lambda node: node["metadata"]["name"])
    own = requested(pod, name)
    by_node = {node["metadata"]["name"]: _device_demand(snapshot, pod, node, name) for node in nodes}
    devices = max(by_node.values(), default=Decimal())
    facts = [usage(snapshot, node, name) for node in nodes[:_NODES_SHOWN]]
    with_devices = f" and {show(devices)} for its devices" if devices else ""
    return Finding(
        "node-resources-for-devices" if devices else "node-resources",
        f"no node has enough {name} left: the Pod needs {show(own)}{with_devices}",
        (last_word(pod).fact, *facts),
        f"ask for less {name}, delete a Pod that uses it, or add a node",
    )


def usage(snapshot: Snapshot, node: Obj, name: str) -> str:
    """What a node has of a resource and who has taken it, with the part for devices apart."""
    here = [
        pod
        for pod in snapshot.all("Pod")
        if pod["spec"].get("nodeName") == node["metadata"]["name"]
        and (pod.get("status") or {}).get("phase") not in _OVER
    ]
    total = amount((node["status"].get("allocatable") or {}).get(name, 0))
    plain = sum((requested(pod, name) for pod in here), Decimal())
    devices = sum((for_devices(pod, name) for pod in here), Decimal())
    return (
        f"node {node['metadata']['name']}: {name} {show(total)}, taken by Pods {show(plain)},"
        f" through devices {show(devices)}, left {show(total - plain - devices)}"
    )


def requested(pod: Obj, name: str) -> Decimal:
    """What the Pod's spec asks for, as the scheduler counts it."""
    own = (pod["spec"].get("resources") or {}).get("requests") or {}
    if name in own:
        return amount(own[name])
    init = pod["spec"].get("initContainers") or ()
    sidecars = [each for each in init if each.get("restartPolicy") == "Always"]
    steady = _sum((*pod["spec"]["containers"], *sidecars), name)
    first = max((_sum([each], name) for each in init), default=Decimal())
    overhead = amount((pod["spec"].get("overhead") or {}).get(name, 0))
    return max(steady, first) + overhead


def _sum(containers: Iterable[Obj], name: str) -> Decimal:
    asked = (((each.get("resources") or {}).get("requests") or {}).get(name, 0) for each in containers)
    return sum(map(amount, asked), Decimal())


def for_devices(pod: Obj, name: str) -> Decimal:
    """What the Pod takes of a resource through its devices, as its status tells."""
    total = Decimal()
    for each in (pod.get("status") or {}).get("nodeAllocatableResourceClaimStatuses") or ():
        total += sum((amount(m["quantity"]) for m in each.get("mapping") or () if m["name"] == name), Decimal())
        for overhead in each.get("overhead") or ():
            if overhead["name"] == name:
                total += amount(overhead.get("perPod") or 0)
                total += amount(overhead.get("perContainer") or 0) * len(each.get("containers") or ())
    return total


def _device_demand(snapshot: Snapshot, pod: Obj, node: Obj, name: str) -> Decimal:
    """What the Pod's devices would take on a node: those it has, or the first ones it could be given."""
    devices = inventory(snapshot)
    total = Decimal()
    for claim in present(snapshot, pod):
        containers = sum(
            any(use["name"] == entry["name"] for use in (each.get("resources") or {}).get("claims") or ())
            for each in pod["spec"]["containers"]
            for entry in pod["spec"].get("resourceClaims") or ()
        )
        if allocated()(claim):
            own = [found for key in allocated_devices(claim) if (found := devices.find(*key))]
        else:
            own = [
                each.device
                for choices in alternatives(snapshot, reference(claim), claim["spec"])
                for choice in choices[:1]
                for each in [j for j in judge(choice, devices) if j.wanted and j.device.reaches(node)][: choice.count]
            ]
        total += sum((_takes(device, name, containers) for device in own), Decimal())
    return total


def _takes(device: Device, name: str, containers: int) -> Decimal:
    entry = (device.spec.get("nodeAllocatableResources") or {}).get(name) or {}
    mapping, overhead = entry.get("mapping") or {}, entry.get("overhead") or {}
    total = amount(mapping.get("deviceMultiplier") or 0)
    if key := mapping.get("capacityKey"):
        capacity = (device.spec.get("capacity") or {}).get(key) or {"value": 0}
        total += amount(capacity["value"]) * amount(mapping["capacityMultiplier"])
    return total + amount(overhead.get("perPod") or 0) + amount(overhead.get("perContainer") or 0) * containers
