"""The time axis of a namespace of a live cluster, read once with nothing but `list`."""

import time

from harness.errors import InfrastructureError
from harness.explain import snapshot
from harness.kube.client import Client
from harness.timeline.collect import collect
from harness.timeline.model import Timeline

#: Without these there is nothing to draw.
_NEEDED = ("Pod", "ResourceClaim")

#: More than these no picture shows well.
_LANES = 200


def read(client: Client, namespace: str) -> tuple[Timeline | None, tuple[str, ...]]:
    """The namespace's Pods and the devices that they may have, until now; and what may not be read, a line each.

    None where the namespace has neither Pods nor claims. Raises InfrastructureError.
    """
    taken = snapshot.read(client, namespace)
    if missing := [kind for kind in _NEEDED if not taken.knows(kind)]:
        raise InfrastructureError(f"cannot read {', '.join(missing)} of {namespace}: {'; '.join(taken.unread)}")
    own = [*taken.all("Pod", namespace), *taken.all("ResourceClaim", namespace), *taken.all("Event", namespace)]
    found = collect(
        [*own, *taken.all("ResourceSlice"), *taken.all("DeviceTaintRule")],
        end=time.time(),
        pods_shown=_LANES,
        devices_shown=_LANES,
    )
    return found, taken.unread
