"""What a device takes of its node, in the shape that a release has for it."""

from collections.abc import Mapping
from typing import Any

Footprint = Mapping[str, Mapping[str, Any]]

#: The field of a device by which older releases have it.
MAPPINGS = "ResourceSlice.spec.devices.nodeAllocatableResourceMappings"


def as_mappings(footprint: Footprint) -> dict[str, dict[str, Any]] | None:
    """`nodeAllocatableResources` of a device as `nodeAllocatableResourceMappings`.

    None where these cannot say it: they know no overhead.
    """
    if any("overhead" in entry for entry in footprint.values()):
        return None
    return {resource: _mapping(entry.get("mapping") or {}) for resource, entry in footprint.items()}


def _mapping(given: Mapping[str, Any]) -> dict[str, Any]:
    names = {"capacityKey": "capacityKey", "capacityMultiplier": "allocationMultiplier"}
    names["deviceMultiplier"] = "allocationMultiplier"
    return {names[name]: value for name, value in given.items()}
