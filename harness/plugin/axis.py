"""The time axis of a scenario, taken at its end while its objects are there."""

import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from harness.drivers import Driver
from harness.errors import HarnessError
from harness.evidence import Sightings
from harness.kube import ApiError, Client
from harness.timeline import Call, Timeline, collect

#: Most of a scenario was seen as it happened; these are read once more for what nobody waited for.
_LAST_READ = ("Pod", "ResourceClaim", "Event")
_METHODS = ("NodePrepareResources", "NodeUnprepareResources")


def of_scenario(
    client: Client, sightings: Sightings, drivers: Iterable[Driver], started: float
) -> Timeline | None:  # fmt: skip
    """What became of the scenario's Pods and devices, None where it has none.

    A cluster that a scenario leaves broken does not answer: then what was seen before is enough.
    """
    if not any(seen.obj["kind"] in ("Pod", "ResourceClaim") for seen in sightings.all()):
        return None
    names = [driver.name for driver in drivers]
    with ThreadPoolExecutor() as readers:
        reads = [readers.submit(client.list, kind) for kind in _LAST_READ]
        slices = [readers.submit(client.list, "ResourceSlice", field_selector=f"spec.driver={name}") for name in names]
    for kind, read in zip(_LAST_READ, reads, strict=True):
        if read.exception() is None and kind != "Event":
            sightings.missing(kind, read.result()[0])
    del slices  # the client's witness has seen them
    calls = [call for driver in drivers for call in _calls(driver)]
    return collect(sightings=sightings.all(), calls=calls, start=started, end=time.time())


def _calls(driver: Driver) -> list[Call]:
    """What the kubelets asked of the driver about claims."""
    try:
        found = [call for method in _METHODS for call in driver.calls(method)]
    except (HarnessError, ApiError, OSError):
        return []
    return [
        Call(call.time, call.method, call.claim.uid, "" if call.result == "ok" else call.result or "no answer yet")
        for call in found
        if call.claim
    ]
