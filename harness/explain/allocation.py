"""Why a claim is not allocated: which devices there are for each of its requests, and what keeps each from it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from harness.explain.inventory import Inventory
from harness.explain.model import Finding, distinct
from harness.explain.obstacles import NAMES, blocked, elsewhere, free_outside, too_few, unwanted
from harness.explain.requests import Judged, Kind, Wanted, alternatives, judge
from harness.explain.snapshot import Snapshot
from harness.kube.resources import Obj, reference

#: Devices that one claim can have.
LIMIT = 32


@dataclass(frozen=True)
class Demand:
    """A claim to allocate: as messages name it, and its spec (of what Kubernetes makes up, a spec made up likewise)."""

    owner: str
    spec: Obj

    @classmethod
    def of(cls, claim: Obj) -> "Demand":
        """The demand of a ResourceClaim."""
        return cls(reference(claim), claim["spec"])


def unallocated(snapshot: Snapshot, demand: Demand, devices: Inventory, nodes: Sequence[Obj]) -> list[Finding]:
    """What keeps a claim from being allocated on any of these nodes; nothing where nothing does."""
    found: list[Finding] = []
    met: list[tuple[Wanted, list[Judged]]] = []
    for choices in alternatives(snapshot, demand.owner, demand.spec):
        answers = [(choice, judge(choice, devices)) for choice in choices]
        findings = [_unmet(choice, judged, devices, nodes) for choice, judged in answers]
        if all(findings):
            found += [finding for each in findings for finding in each]
        else:
            met.append(next(answer for answer, each in zip(answers, findings, strict=True) if not each))
    return distinct(found) or _together(demand, met, nodes)


def _unmet(request: Wanted, judged: Sequence[Judged], devices: Inventory, nodes: Sequence[Obj]) -> list[Finding]:
    if request.device_class is None:
        return [
            Finding(
                "class-missing",
                f"{request} names the DeviceClass {request.class_name}, which does not exist",
                (f"no DeviceClass {request.class_name} exists",),
                f"create the DeviceClass {request.class_name}, or correct the name in a new claim",
            )
        ]
    if request.count > LIMIT:
        return [
            Finding(
                "claim-too-large",
                f"{request} asks for {request.count} devices, a claim can have {LIMIT}",
                (f"count: {request.count}",),
                remedy="spread the devices over several claims",
            )
        ]
    matching = [each for each in judged if each.wanted]
    if not matching:
        return unwanted(request, judged)
    reachable = {node["metadata"]["name"]: [each for each in matching if each.device.reaches(node)] for node in nodes}
    if not any(reachable.values()):
        return elsewhere(request, matching, nodes)
    if request.all_devices:
        return _all_devices(request, reachable, devices, nodes)
    outside = [each for each in matching if each.free and not any(map(each.device.reaches, nodes))]
    found = _exact_count(request, [here for here in reachable.values() if here])
    return [free_outside(finding, outside) for finding in found] if outside else found


def _exact_count(request: Wanted, places: Sequence[Sequence[Judged]]) -> list[Finding]:
    if any(_within(here, frozenset()) >= request.count for here in places):
        return []
    if max(map(len, places)) < request.count:
        return [too_few(request, max(places, key=len))]
    best = max(places, key=lambda here: (_within(here, frozenset()), len(here)))
    kinds: list[Kind] = [kind for kind in NAMES if any(_within(here, {kind}) >= request.count for here in places)]
    kinds = kinds or [kind for kind in NAMES if any(each.obstacle(kind) for each in best)]
    every = list({id(each.device): each for here in places for each in here}.values())
    return [blocked(request, kind, every) for kind in kinds]


def _within(here: Sequence[Judged], kinds: frozenset[Kind] | set[Kind]) -> int:
    """How many devices could be had if no obstacle of these kinds existed."""
    return sum(all(obstacle.kind in kinds for obstacle in each.obstacles) for each in here)


def _all_devices(
    request: Wanted, reachable: dict[str, list[Judged]], devices: Inventory, nodes: Sequence[Obj]
) -> list[Finding]:
    """A request for all devices is hindered by any of them, and by any broken pool in sight."""
    found: list[Finding] = []
    for node in nodes:
        here = reachable[node["metadata"]["name"]]
        broken = [
            pool
            for pool in devices.pools
            if pool.problem and any(each.pool == pool and each.reaches(node) for each in devices.devices)
        ]
        if here and not broken and all(each.free for each in here):
            return []
        found += [
            Finding(
                "pool-incomplete" if pool.incomplete else "pool-invalid",
                f"{request} asks for all devices, which cannot be told while pool {pool} is {pool.problem}",
                (f"node {node['metadata']['name']} sees the pool",),
                "have the pool's driver publish what is missing, or keep the Pod to nodes that do not see the pool",
            )
            for pool in broken
        ]
        found += [blocked(request, kind, here) for kind in NAMES if any(each.obstacle(kind) for each in here)]
    return found


def _together(demand: Demand, met: Sequence[tuple[Wanted, list[Judged]]], nodes: Sequence[Obj]) -> list[Finding]:
    """Each request could be met; why not all of them at once, on one node?"""
    constraints = (demand.spec.get("devices") or {}).get("constraints") or ()
    places = []
    for node in nodes:
        free = [[each for each in judged if each.free and each.device.reaches(node)] for _, judged in met]
        if all(len(here) >= request.count for (request, _), here in zip(met, free, strict=True)):
            places.append(list(zip([request for request, _ in met], free, strict=True)))
    if met and not places:
        return [_no_common_node(demand, met)]
    for constraint in constraints:
        if places and not any(_satisfiable(constraint, place) for place in places):
            return [_constraint(demand, constraint, places[0])]
    needed = sum(request.count for request, _ in met)
    distinct_devices = [len({id(each.device) for _, here in place for each in here}) for place in places]
    if needed > LIMIT or (places and max(distinct_devices) < needed):
        return [
            Finding(
                "devices-too-few",
                f"{demand.owner} needs {needed} devices at once, no node has more than"
                f" {max(distinct_devices, default=0)} free ones that fit",
                tuple(f"{request.name}: {request.count}" for request, _ in met),
                remedy="ask for fewer devices, or free some",
            )
        ]
    return []


def _no_common_node(demand: Demand, met: Sequence[tuple[Wanted, list[Judged]]]) -> Finding:
    return Finding(
        "devices-apart",
        f"no node has devices for all requests of {demand.owner}, though each could be met somewhere",
        tuple(
            f"{request.name}: {', '.join(sorted({str(each.device) for each in judged if each.free}))[:300]}"
            for request, judged in met
        ),
        "free devices on one node, or split the claim",
    )


def _satisfiable(constraint: Obj, place: Sequence[tuple[Wanted, list[Judged]]]) -> bool:
    covered = _covered(constraint, place)
    needed = sum(request.count for request, _ in covered)
    devices = {id(each.device): each for _, here in covered for each in here}
    attribute = constraint.get("matchAttribute") or constraint.get("distinctAttribute")
    if not covered or not attribute:
        return True
    values = Counter(value for each in devices.values() if (value := attribute_of(each, attribute)) is not None)
    return max(values.values(), default=0) >= needed if constraint.get("matchAttribute") else len(values) >= needed


def _covered(constraint: Obj, place: Sequence[tuple[Wanted, list[Judged]]]) -> list[tuple[Wanted, list[Judged]]]:
    names = constraint.get("requests")
    return [each for each in place if not names or {each[0].name, each[0].name.split("/")[0]} & set(names)]


def attribute_of(judged: Judged, attribute: str) -> str | None:
    """The value of an attribute by its full name, None where the device has none."""
    device = judged.device
    domain, _, name = attribute.rpartition("/")
    attributes = device.spec.get("attributes") or {}
    value = attributes.get(attribute) or (attributes.get(name) if domain == device.driver else None)
    return None if value is None else str(next(iter(value.values())))


def _constraint(demand: Demand, constraint: Obj, place: Sequence[tuple[Wanted, list[Judged]]]) -> Finding:
    match = constraint.get("matchAttribute")
    attribute = match or constraint["distinctAttribute"]
    needed = sum(request.count for request, _ in _covered(constraint, place))
    devices = {str(each.device): each for _, here in _covered(constraint, place) for each in here}
    what = "the same value" if match else "different values"
    return Finding(
        "constraint-unmet",
        f"{demand.owner} wants {needed} devices with {what} of {attribute}, and no node has such free ones",
        tuple(f"{name} has {attribute_of(each, attribute) or 'no value'}" for name, each in list(devices.items())[:12]),
        "ask for fewer devices, drop the constraint, or free devices that meet it",
    )
