"""Slices of a driver: what the API server has of them, and which outlast the start of a kubelet."""

from harness.drivers import Driver
from harness.plugin.scenario import Object, Scenario


def published_devices(scenario: Scenario, driver: Driver) -> list[Object]:
    """All devices of the driver, as its slices have them in the API: the numbers that sums are checked against."""
    slices, _ = scenario.client.list("ResourceSlice", field_selector=f"spec.driver={driver.name}")
    return [device for found in slices for device in found["spec"].get("devices") or ()]


def multiplier_of(device: Object, resource: str) -> str:
    """By what a published device multiplies what is given of it, in either shape of the field."""
    found = device.get("nodeAllocatableResourceMappings") or {
        name: entry["mapping"] for name, entry in device["nodeAllocatableResources"].items()
    }
    (written,) = (value for name, value in found[resource].items() if name.endswith("Multiplier"))
    return str(written)


def selecting(node: str) -> Object:
    """A pool's node selector for one node. A kubelet that starts removes the slices that name its node, not these."""
    here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    return {"nodeSelectorTerms": [{"matchExpressions": [here]}]}
