"""What a driver's slices must be like, as pure functions of them."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from harness.kube.predicates import Predicate
from harness.plugin.scenario import Object

#: The most devices of a slice, and of a slice that has taints, counters or the like.
MOST_DEVICES, MOST_DETAILED = 128, 64

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_DETAILS = ("taints", "consumesCounters")


def whole() -> Predicate[Sequence[Object]]:
    """There are slices, and each pool's newest generation has as many as its slices say."""
    return Predicate("slices, in whole pools", lambda slices: bool(slices) and not [*incomplete(slices)])


def well_formed() -> Predicate[Sequence[Object]]:
    """There are slices, and devices and numbers are as the API has them."""
    return Predicate("slices, without a fault", lambda slices: bool(slices) and not [*faults(slices)])


def incomplete(slices: Sequence[Object]) -> Iterator[str]:
    """Pools of which slices are missing, or say different things."""
    for pool, newest in _newest(slices).items():
        counts = {each["spec"]["pool"]["resourceSliceCount"] for each in newest}
        if counts != {len(newest)}:
            yield f"pool {pool} has {len(newest)} slices, which say {sorted(counts)}"


def faults(slices: Sequence[Object]) -> Iterator[str]:
    """What is wrong with devices, one line each."""
    for pool, newest in _newest(slices).items():
        devices = [device for each in newest for device in each["spec"].get("devices", ())]
        names = Counter(device["name"] for device in devices)
        yield from (f"pool {pool}: device {name} is there {n} times" for name, n in names.items() if n > 1)
        yield from (f"pool {pool}: {name!r} is no DNS label" for name in names if not _DNS_LABEL.fullmatch(name))
    for each in slices:
        own = each["spec"].get("devices", ())
        detailed = any(detail in device for device in own for detail in _DETAILS)
        if len(own) > (MOST_DETAILED if detailed else MOST_DEVICES):
            yield f"slice {each['metadata']['name']} has {len(own)} devices"


def _newest(slices: Sequence[Object]) -> dict[str, list[Object]]:
    """The slices of each pool's newest generation."""
    pools: dict[str, list[Object]] = defaultdict(list)
    for each in slices:
        pools[each["spec"]["pool"]["name"]].append(each)
    return {
        pool: [s for s in all_of if _generation(s) == max(map(_generation, all_of))] for pool, all_of in pools.items()
    }


def _generation(each: Object) -> int:
    return int(each["spec"]["pool"]["generation"])
