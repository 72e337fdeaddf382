"""ResourceSlices made by hand, and rules about devices."""

from collections.abc import Mapping, Sequence
from typing import Literal

from harness.kube.builders.meta import built, given
from harness.kube.resources import Obj

Effect = Literal["NoSchedule", "NoExecute", "None"]


def resource_slice(
    name: str, driver: str, devices: Sequence[str | Obj] = (), *, pool: str | None = None, generation: int = 1,
    slice_count: int = 1, node: str | None = None, node_selector: Obj | None = None, all_nodes: bool = False,
    shared_counters: Sequence[Obj] = (), labels: Mapping[str, str] | None = None,
) -> Obj:  # fmt: skip
    """A slice that no driver stands behind. The pool is named like the node, or else like the slice, unless told."""
    spec = given(
        driver=driver,
        pool={"name": pool or node or name, "generation": generation, "resourceSliceCount": slice_count},
        nodeName=node,
        nodeSelector=node_selector,
        allNodes=all_nodes or None,
        devices=[{"name": device} if isinstance(device, str) else device for device in devices],
        sharedCounters=list(shared_counters),
    )
    return built("ResourceSlice", name, labels=labels, spec=spec)


def device_taint(key: str, effect: Effect, value: str | None = None) -> Obj:
    """A taint, of a device in a slice or of a rule."""
    return given(key=key, value=value, effect=effect)


def device_taint_rule(
    name: str, taint: Obj, *, driver: str | None = None, pool: str | None = None, device: str | None = None
) -> Obj:
    """A DeviceTaintRule for the devices that all given names match; without any it selects every device there is."""
    spec = {"deviceSelector": given(driver=driver, pool=pool, device=device), "taint": taint}
    return built("DeviceTaintRule", name, spec=spec)
