"""What must be true of every cluster, whatever has happened to it: pure functions of one `State`.

What is absent from the ResourceSlices is judged with care: a pool that is not there, or not whole, says nothing (its
driver may be away, its slices deleted; a running Pod keeps its devices), a whole one is its driver's word.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from harness.explain.amounts import amount, show
from harness.explain.claims import present, uses
from harness.explain.inventory import Device, Inventory, inventory, reserved_for
from harness.explain.placement import selects
from harness.faults.state import Plugin, State
from harness.kube.predicates import AllocatedDevice, allocated, allocation_results
from harness.kube.resources import Obj, reference

_FINISHED = ("Succeeded", "Failed")


@dataclass(frozen=True)
class Violation:
    """An invariant that does not hold: in a sentence, with what proves it."""

    invariant: str
    sentence: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Invariant:
    """One of them. What is true `always` is so in every moment, the rest once the cluster has come to rest."""

    name: str
    title: str
    check: Callable[[State], Iterator[Violation]]
    always: bool = False


def check(state: State, *, at_rest: bool = True) -> list[Violation]:
    """All violations; `at_rest` False: of what must be true in every moment only."""
    return [violation for each in INVARIANTS if each.always or at_rest for violation in each.check(state)]


# --- a Pod runs only on devices that it owns ------------------------------------------------------------------------


def _owned(state: State) -> Iterator[Violation]:
    devices = inventory(state.snapshot)
    for pod in state.pods():
        if _phase(pod) == "Running":
            yield from _missing(state, pod)
            for claim in present(state.snapshot, pod):
                yield from _not_its_own(state, devices, pod, claim)


def _missing(state: State, pod: Obj) -> Iterator[Violation]:
    for use in uses(state.snapshot, pod):
        if use.claim is None:
            named = f"ResourceClaim {use.name}" if use.name else "no ResourceClaim"
            sentence = f"{reference(pod)} runs, but its claim {use.entry['name']!r} does not exist"
            yield Violation("owned", sentence, (f"its status names {named}", _of_pod(pod)))
        elif use.template and not _made_for(state, use.claim, pod):
            owners = ", ".join(f"{each['kind']} {each['name']} ({each['uid']})" for each in _owners(use.claim))
            sentence = f"{reference(pod)} runs with {reference(use.claim)}, which was not made for it"
            yield Violation("owned", sentence, (f"the claim is owned by {owners or 'nobody'}", _of_pod(pod)))


def _not_its_own(state: State, devices: Inventory, pod: Obj, claim: Obj) -> Iterator[Violation]:
    evidence = (_of_pod(pod), _of_claim(claim))
    if not allocated()(claim):
        yield Violation("owned", f"{reference(pod)} runs, but {reference(claim)} is not allocated", evidence)
        return
    if not {each["uid"] for each in reserved_for(claim)} & _identities(state, pod):
        yield Violation("owned", f"{reference(pod)} runs, but {reference(claim)} is not reserved for it", evidence)
    selector = claim["status"]["allocation"].get("nodeSelector")
    node = state.snapshot.find("Node", pod["spec"]["nodeName"])
    if selector and node and not selects(selector, node):
        sentence = f"{reference(pod)} runs on {pod['spec']['nodeName']}, but {reference(claim)} is allocated elsewhere"
        yield Violation("owned", sentence, (*evidence, f"its allocation is for {selector}"))
    for result in allocation_results(claim):
        key = _key(result)
        if devices.find(*key) is None and _whole(devices, key):
            sentence = f"{reference(pod)} runs on {'/'.join(key)}, which its pool does not have"
            yield Violation("owned", sentence, (*evidence, f"pool {key.pool} of {key.driver} is complete without it"))


def _whole(devices: Inventory, key: AllocatedDevice) -> bool:
    """Whether the device's pool is there, complete and valid."""
    return any((pool.driver, pool.name) == key[:2] and not pool.problem for pool in devices.pools)


def _identities(state: State, pod: Obj) -> set[str]:
    """The UIDs under which a claim can be reserved for the Pod: its own and its group's."""
    meta = pod["metadata"]
    group = (pod["spec"].get("schedulingGroup") or {}).get("podGroupName")
    found = state.snapshot.find("PodGroup", group, meta["namespace"]) if group else None
    return {meta["uid"], *([found["metadata"]["uid"]] if found else [])}


def _made_for(state: State, claim: Obj, pod: Obj) -> bool:
    return bool({each["uid"] for each in _owners(claim)} & _identities(state, pod))


# --- no device is given twice ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Share:
    """A claim's part of a device."""

    claim: Obj
    result: Obj

    def __str__(self) -> str:
        consumed = self.result.get("consumedCapacity") or {}
        part = ", ".join(f"{value} {name}" for name, value in sorted(consumed.items()))
        share = f" as share {self.result['shareID']}" if self.result.get("shareID") else ""
        return f"{reference(self.claim)}, request {self.result['request']}{share}{f' ({part})' if part else ''}"


def _shares(state: State) -> Mapping[AllocatedDevice, Sequence[_Share]]:
    """Who has which device, administrators apart: they look at devices, and take none."""
    shares: dict[AllocatedDevice, list[_Share]] = defaultdict(list)
    for claim in state.claims():
        for result in allocation_results(claim):
            if not result.get("adminAccess"):
                shares[_key(result)].append(_Share(claim, result))
    return shares


def _given_once(state: State) -> Iterator[Violation]:
    devices = inventory(state.snapshot)
    for key, shares in _shares(state).items():
        device = devices.find(*key)
        shared = device is None or bool(device.spec.get("allowMultipleAllocations"))
        ids = [share.result.get("shareID") for share in shares]
        if len(shares) > 1 and not (shared and all(ids) and len(set(ids)) == len(ids)):
            kind = "is shared under one name" if shared and all(ids) else "is allocated"
            sentence = f"device {'/'.join(key)} {kind} {len(shares)} times"
            yield Violation("given once", sentence, tuple(map(str, shares)))


def _capacity(state: State) -> Iterator[Violation]:
    devices = inventory(state.snapshot)
    for key, shares in _shares(state).items():
        device = devices.find(*key)
        if device is None or not device.spec.get("allowMultipleAllocations"):
            continue
        for name, has in (device.spec.get("capacity") or {}).items():
            consumed = [(share.result.get("consumedCapacity") or {}).get(name) for share in shares]
            total = sum((amount(each) for each in consumed if each is not None), Decimal())
            if total > amount(has["value"]):
                sentence = f"claims consume {show(total)} {name} of device {device}, which has {has['value']}"
                yield Violation("capacity", sentence, tuple(map(str, shares)))


def _counters(state: State) -> Iterator[Violation]:
    shares = _shares(state)
    devices = inventory(state.snapshot)
    for pool in devices.pools:
        if pool.problem:
            continue
        taken = [device for device in devices.devices if device.pool is pool and device.key in shares]
        for (group, counter), drawn in _drawn(taken).items():
            total = sum((each for _, each in drawn), Decimal())
            if total > amount(pool.counters[group][counter]):
                has = pool.counters[group][counter]
                sentence = f"devices draw {show(total)} {counter} of {group} in pool {pool}, which has {has}"
                evidence = tuple(f"{device} draws {show(each)}: {shares[device.key][0]}" for device, each in drawn)
                yield Violation("counters", sentence, evidence)


def _drawn(taken: Sequence[Device]) -> Mapping[tuple[str, str], Sequence[tuple[Device, Decimal]]]:
    """Who draws how much of each counter; a device draws once, however many share it."""
    drawn: dict[tuple[str, str], list[tuple[Device, Decimal]]] = defaultdict(list)
    for device in taken:
        for consumption in device.spec.get("consumesCounters") or ():
            for name, counter in consumption["counters"].items():
                drawn[consumption["counterSet"], name].append((device, amount(counter["value"])))
    return drawn


# --- nothing is kept after its last consumer ------------------------------------------------------------------------


def _released(state: State) -> Iterator[Violation]:
    pods = {pod["metadata"]["uid"]: pod for pod in state.pods()}
    groups = {group["metadata"]["uid"] for group in state.snapshot.all("PodGroup")}
    for claim in state.claims():
        for consumer in reserved_for(claim):
            named = f"{consumer['resource'].removesuffix('s')} {consumer['name']} ({consumer['uid']})"
            there = {"pods": consumer["uid"] in pods, "podgroups": consumer["uid"] in groups}
            if not there.get(consumer["resource"], True):
                sentence = f"{reference(claim)} is reserved for {named}, which is gone"
                yield Violation("released", sentence, (_of_claim(claim),))
            elif (pod := pods.get(consumer["uid"])) and _phase(pod) in _FINISHED:
                sentence = f"{reference(claim)} is reserved for {named}, which has finished"
                yield Violation("released", sentence, (_of_claim(claim), _of_pod(pod)))
        if allocated()(claim) and not reserved_for(claim):
            sentence = f"{reference(claim)} is allocated, and nobody has reserved it"
            yield Violation("released", sentence, (_of_claim(claim),))


# --- prepared where it is used, and nowhere else --------------------------------------------------------------------


def _prepared(state: State) -> Iterator[Violation]:
    names = {claim["metadata"]["uid"]: reference(claim) for claim in state.claims()}
    used: dict[Plugin, dict[str, Obj]] = defaultdict(dict)
    for pod in state.pods():
        if _phase(pod) not in _FINISHED and pod["spec"].get("nodeName"):
            for claim in present(state.snapshot, pod):
                for driver in _preparing(claim):
                    used[Plugin(driver, pod["spec"]["nodeName"])][claim["metadata"]["uid"]] = pod
    for plugin, uids in state.prepared.items():
        for uid in sorted(uids - used[plugin].keys()):
            named = names.get(uid, f"a claim that is gone, uid {uid},")
            sentence = f"{named} is prepared by {plugin}, where no Pod uses it"
            yield Violation("prepared", sentence, (f"used there: {', '.join(used[plugin]) or 'nothing'}",))
        for uid in sorted(used[plugin].keys() - uids):
            if _phase(pod := used[plugin][uid]) == "Running":
                sentence = f"{reference(pod)} runs, but {names[uid]} is not prepared by {plugin}"
                yield Violation("prepared", sentence, (_of_pod(pod), f"prepared there: {', '.join(sorted(uids))}"))


def _preparing(claim: Obj) -> set[str]:
    """The drivers that are asked to prepare the claim."""
    return {
        result["driver"]
        for result in allocation_results(claim)
        if not {"*", "NodePrepareResources"} & set(result.get("skipNodeOperations") or ())
    }


# --- words ----------------------------------------------------------------------------------------------------------


def _phase(pod: Obj) -> str:
    return str((pod.get("status") or {}).get("phase", "Pending"))


def _owners(obj: Obj) -> list[Obj]:
    owners: list[Obj] = obj["metadata"].get("ownerReferences") or []
    return owners


def _key(result: Obj) -> AllocatedDevice:
    return AllocatedDevice(result["driver"], result["pool"], result["device"])


def _of_pod(pod: Obj) -> str:
    meta = pod["metadata"]
    leaving = f", being deleted since {meta['deletionTimestamp']}" if "deletionTimestamp" in meta else ""
    node = pod["spec"].get("nodeName") or "no node"
    return f"{reference(pod)} ({meta['uid']}): {_phase(pod)} on {node}{leaving}"


def _of_claim(claim: Obj) -> str:
    devices = ", ".join("/".join(_key(result)) for result in allocation_results(claim))
    users = ", ".join(f"{each['resource']} {each['name']} ({each['uid']})" for each in reserved_for(claim))
    state = f"allocated {devices or 'without devices'}" if allocated()(claim) else "not allocated"
    return f"{reference(claim)} ({claim['metadata']['uid']}): {state}, reserved for {users or 'nobody'}"


INVARIANTS = (
    Invariant("owned", "No Pod runs on a device that it does not own", _owned),
    Invariant("given once", "No device is allocated twice, admin access and shared devices apart", _given_once, True),
    Invariant("capacity", "Those who share a device do not consume more than it has", _capacity, True),
    Invariant("counters", "Partitions do not draw more from their counters than there is", _counters, True),
    Invariant("released", "No claim stays allocated or reserved once its last consumer is gone", _released),
    Invariant("prepared", "A claim is prepared on a node if and only if a Pod there uses it", _prepared),
)
