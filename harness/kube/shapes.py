"""Objects in the shape that a release has for them. Builders know the newest; here are the older ones."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from harness.kube.footprints import MAPPINGS, as_mappings
from harness.kube.resources import Obj, Release

#: How a group may be disrupted, in words, by the newest release's structs.
_DISRUPTION_MODES = MappingProxyType({"single": "Pod", "all": "PodGroup"})


def fitted(obj: Obj, release: Release | None) -> Obj:
    """The object as this release has it; without a release as it is. Changes the object that it is given.

    What the release has in no shape stays as it is: the API server refuses it, or drops it with a gate that is off.
    """
    if release is not None and (fit := _FITTERS.get(obj["kind"])):
        fit(obj, release)
    return obj


def _pod(obj: Obj, release: Release) -> None:
    """A Pod of a group; where groups are parts of Workloads it names both, which `_pod_group` gives one name."""
    spec = obj.get("spec", {})
    if "schedulingGroup" in spec and release.has("Pod.spec.workloadRef"):
        name = spec.pop("schedulingGroup")["podGroupName"]
        spec["workloadRef"] = {"name": name, "podGroup": name}


def _pod_group(obj: Obj, release: Release) -> None:
    spec = obj.get("spec", {})
    if release.has("Workload.spec.podGroups"):
        obj["kind"] = "Workload"
        if spec:
            spec["podGroups"] = [{"name": obj["metadata"]["name"], "policy": spec.pop("schedulingPolicy")}]
        return
    _disruption_mode(spec, release)
    if release.has("PodGroup.spec.podGroupTemplateRef") and "workloadRef" in spec:
        made_from = spec.pop("workloadRef")
        spec["podGroupTemplateRef"] = {
            "workload": {
                "workloadName": made_from["workloadName"],
                "podGroupTemplateName": made_from["templateName"],
            }
        }


def _workload(obj: Obj, release: Release) -> None:
    for template in obj.get("spec", {}).get("podGroupTemplates", ()):
        _disruption_mode(template, release)


def _disruption_mode(spec: Obj, release: Release) -> None:
    mode = spec.get("disruptionMode")
    if isinstance(mode, Mapping) and not release.has("PodGroup.spec.disruptionMode.single"):
        (name,) = mode
        spec["disruptionMode"] = _DISRUPTION_MODES[name]


def _resource_slice(obj: Obj, release: Release) -> None:
    for device in obj["spec"].get("devices") or () if release.has(MAPPINGS) else ():
        mappings = as_mappings(device.get("nodeAllocatableResources") or {})
        if mappings:
            del device["nodeAllocatableResources"]
            device["nodeAllocatableResourceMappings"] = mappings


_FITTERS: Mapping[str, Callable[[Obj, Release], None]] = MappingProxyType(
    {"Pod": _pod, "PodGroup": _pod_group, "Workload": _workload, "ResourceSlice": _resource_slice}
)
