"""ResourceClaims, their templates and requests, DeviceClasses."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from harness.kube.builders.meta import built, given, quantities
from harness.kube.resources import Obj

ADMIN_ACCESS_LABEL = "resource.kubernetes.io/admin-access"


def request(
    device_class: str | Obj, name: str = "gpu", *, count: int | None = None, all_devices: bool = False,
    selectors: Sequence[str] = (), tolerations: Sequence[Obj] = (), admin_access: bool | None = None,
    capacity: Mapping[str, str | int] | None = None,
) -> Obj:  # fmt: skip
    """A request for exactly these devices. `selectors` are CEL expressions, `capacity` is for shared devices."""
    return {"name": name, "exactly": _wanted(device_class, count, all_devices, selectors, tolerations, capacity)
            | given(adminAccess=admin_access)}  # fmt: skip


def first_available(name: str, *subrequests: Obj) -> Obj:
    """A request that takes the first of its subrequests that can be had."""
    return {"name": name, "firstAvailable": list(subrequests)}


def subrequest(
    device_class: str | Obj, name: str, *, count: int | None = None, all_devices: bool = False,
    selectors: Sequence[str] = (), tolerations: Sequence[Obj] = (), capacity: Mapping[str, str | int] | None = None,
) -> Obj:  # fmt: skip
    """One of the alternatives of `first_available`."""
    return {"name": name} | _wanted(device_class, count, all_devices, selectors, tolerations, capacity)


def _wanted(
    device_class: str | Obj, count: int | None, all_devices: bool, selectors: Sequence[str],
    tolerations: Sequence[Obj], capacity: Mapping[str, str | int] | None,
) -> Obj:  # fmt: skip
    return given(
        deviceClassName=device_class if isinstance(device_class, str) else device_class["metadata"]["name"],
        allocationMode="All" if all_devices else None,
        count=count,
        selectors=[cel(expression) for expression in selectors],
        tolerations=list(tolerations),
        capacity={"requests": quantities(capacity)} if capacity else None,
    )


def cel(expression: str) -> Obj:
    """A selector of devices."""
    return {"cel": {"expression": expression}}


def device_toleration(
    key: str | None = None, *, value: str | None = None, operator: Literal["Exists", "Equal"] | None = None,
    effect: Literal["NoSchedule", "NoExecute", "None"] | None = None, seconds: int | None = None,
) -> Obj:  # fmt: skip
    """A toleration of device taints: Equal where a value is given, Exists otherwise, unless told."""
    chosen = operator or ("Exists" if value is None else "Equal")
    return given(key=key, operator=chosen, value=value, effect=effect, tolerationSeconds=seconds)


def match_attribute(attribute: str, *requests: str) -> Obj:
    """A constraint: all devices (of these requests) have the same value of the attribute."""
    return given(requests=requests, matchAttribute=attribute)


def distinct_attribute(attribute: str, *requests: str) -> Obj:
    """A constraint: no two devices (of these requests) have the same value of the attribute."""
    return given(requests=requests, distinctAttribute=attribute)


def opaque_config(driver: str, parameters: Mapping[str, Any], *requests: str) -> Obj:
    """Configuration that the driver is handed as it is."""
    return given(requests=requests, opaque={"driver": driver, "parameters": dict(parameters)})


def claim_spec(*requests: Obj, constraints: Sequence[Obj] = (), config: Sequence[Obj] = ()) -> Obj:
    """The `spec` of a claim."""
    return {"devices": given(requests=requests, constraints=list(constraints), config=list(config))}


def claim(
    name: str, *requests: Obj, constraints: Sequence[Obj] = (), config: Sequence[Obj] = (),
    namespace: str | None = None, labels: Mapping[str, str] | None = None,
) -> Obj:  # fmt: skip
    """A ResourceClaim."""
    spec = claim_spec(*requests, constraints=constraints, config=config)
    return built("ResourceClaim", name, namespace=namespace, labels=labels, spec=spec)


def claim_template(
    name: str, *requests: Obj, constraints: Sequence[Obj] = (), config: Sequence[Obj] = (),
    namespace: str | None = None, claim_labels: Mapping[str, str] | None = None,
    claim_annotations: Mapping[str, str] | None = None,
) -> Obj:  # fmt: skip
    """A ResourceClaimTemplate; the claims made from it carry `claim_labels` and `claim_annotations`."""
    inner = given(metadata=given(labels=claim_labels, annotations=claim_annotations))
    inner["spec"] = claim_spec(*requests, constraints=constraints, config=config)
    return built("ResourceClaimTemplate", name, namespace=namespace, spec=inner)


def device_class(
    name: str, driver: str | None = None, *, selectors: Sequence[str] = (), extended_resource_name: str | None = None,
    config: Sequence[Obj] = (), labels: Mapping[str, str] | None = None,
) -> Obj:  # fmt: skip
    """A DeviceClass of the driver's devices that the CEL selectors also match."""
    expressions = [f"device.driver == '{driver}'"] if driver else []
    spec = given(
        selectors=[cel(expression) for expression in (*expressions, *selectors)],
        extendedResourceName=extended_resource_name,
        config=list(config),
    )
    return built("DeviceClass", name, labels=labels, spec=spec)
