"""Extended resources: devices that a Pod asks for without a claim."""

from collections.abc import Sequence

from harness.explain.allocation import Demand
from harness.explain.amounts import amount
from harness.explain.model import Finding
from harness.explain.snapshot import Snapshot
from harness.kube.resources import Obj

#: A class can always be asked for by this prefix and its name.
IMPLICIT = "deviceclass.resource.kubernetes.io/"


def unknown(snapshot: Snapshot, pod: Obj, nodes: Sequence[Obj]) -> list[Finding]:
    """Resources that no node has and no class stands for."""
    if not snapshot.knows("DeviceClass"):
        return []
    return [
        Finding(
            "extended-resource-unknown",
            f"the Pod asks for {name}, which no node offers and no DeviceClass stands for",
            (f"no node has {name} in status.allocatable", f"no DeviceClass has extendedResourceName {name}"),
            f"create a DeviceClass with extendedResourceName {name}, or start the device plugin that offers it",
        )
        for name in asked(pod)
        if not offered(nodes, name) and _class_of(snapshot, name) is None
    ]


def demands(snapshot: Snapshot, pod: Obj, nodes: Sequence[Obj]) -> list[Demand]:
    """The claims that are to be made for the Pod's extended resources, as demands."""
    if (pod.get("status") or {}).get("extendedResourceClaimStatus"):
        return []
    found = []
    for name, count in asked(pod).items():
        device_class = _class_of(snapshot, name)
        if device_class and not offered(nodes, name):
            exactly = {"deviceClassName": device_class, "count": count}
            spec = {"devices": {"requests": [{"name": name, "exactly": exactly}]}}
            found.append(Demand(f"Pod {pod['metadata']['namespace']}/{pod['metadata']['name']}", spec))
    return found


def asked(pod: Obj) -> dict[str, int]:
    """The extended resources that the Pod's containers ask for."""
    total: dict[str, int] = {}
    for container in pod["spec"]["containers"]:
        for name, quantity in ((container.get("resources") or {}).get("requests") or {}).items():
            if "/" in name and amount(quantity):
                total[name] = total.get(name, 0) + int(amount(quantity))
    return total


def offered(nodes: Sequence[Obj], name: str) -> bool:
    """Whether a node has the resource by itself, as device plugins make it have it."""
    return any(amount((node["status"].get("allocatable") or {}).get(name, 0)) for node in nodes)


def _class_of(snapshot: Snapshot, name: str) -> str | None:
    if name.startswith(IMPLICIT):
        found = snapshot.find("DeviceClass", name.removeprefix(IMPLICIT))
        return found["metadata"]["name"] if found else None
    classes = [each for each in snapshot.all("DeviceClass") if each["spec"].get("extendedResourceName") == name]
    newest_first = sorted(classes, key=lambda each: str(each["metadata"]["name"]))
    newest_first.sort(key=lambda each: str(each["metadata"]["creationTimestamp"]), reverse=True)
    return newest_first[0]["metadata"]["name"] if newest_first else None
