"""The lanes of devices: published, tainted, allocated, attached, prepared, failed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.kube.predicates import AllocatedDevice, allocation_results, find_condition
from harness.kube.resources import Obj
from harness.timeline.facts import Call, Fact, about, happened
from harness.timeline.lives import Instant, Life, Version, seconds, when, within
from harness.timeline.model import Source, State
from harness.timeline.pods import allocated_at, bound

_PREPARE, _UNPREPARE = "NodePrepareResources", "NodeUnprepareResources"
_PREPARE_FAILED = "FailedPrepareDynamicResources"


@dataclass
class Device:
    """What happened to one device. `taints`: what they are called, from when until when (None: until the end)."""

    facts: list[Fact] = field(default_factory=list)
    taints: list[tuple[str, Instant, Instant | None]] = field(default_factory=list)

    @property
    def eventful(self) -> bool:
        """Whether more happened than that it was published."""
        return bool(self.taints) or any(fact.state is not State.PUBLISHED for fact in self.facts)


@dataclass(frozen=True)
class Seen:
    """All that devices are told from."""

    claims: Sequence[Life]
    pods: Sequence[Life]
    slices: Sequence[Life]
    rules: Sequence[Life]
    events: Sequence[Obj]
    calls: Sequence[Call]


def devices(seen: Seen) -> dict[AllocatedDevice, Device]:
    """Every device that is published or allocated."""
    found: dict[AllocatedDevice, Device] = {}
    for life in seen.slices:
        for key, fact in _published(life):
            found.setdefault(key, Device()).facts.append(fact)
    for claim in seen.claims:
        for key, facts in _held(claim, seen).items():
            found.setdefault(key, Device()).facts += facts
    for key, device in found.items():
        device.facts.sort(key=lambda fact: fact.instant.at)
        device.taints = [*_own_taints(key, seen.slices), *_rule_taints(key, seen.rules)]
    return found


# --- slices ---------------------------------------------------------------------------------------------------------


def _published(life: Life) -> Iterator[tuple[AllocatedDevice, Fact]]:
    """The devices of a slice, when they appeared in it, and when they were no more in it."""
    present: dict[AllocatedDevice, bool] = {}
    for version in life.versions:
        keys = _keys(version.obj)
        for key in keys:
            if not present.get(key):
                first = version is life.versions[0]
                yield (
                    key,
                    Fact(
                        life.created if first else _changed(version.obj, version.prompt), "published", State.PUBLISHED
                    ),
                )
        for key in [key for key, there in present.items() if there and key not in keys]:
            yield key, Fact(_changed(version.obj, version.prompt), "withdrawn")
        present = {**dict.fromkeys(present, False), **dict.fromkeys(keys, True)}
    if life.gone:
        for key in (key for key, there in present.items() if there):
            yield key, Fact(Instant(life.gone, Source.OBSERVED), "withdrawn")


def _changed(obj: Obj, arrived: float | None) -> Instant:
    """When this version of an object was written, by its managedFields."""
    times = [each["time"] for each in obj["metadata"].get("managedFields") or () if each.get("time")]
    return when(max(times, default=obj["metadata"]["creationTimestamp"]), arrived)


def _keys(published: Obj) -> dict[AllocatedDevice, Obj]:
    spec = published["spec"]
    return {
        AllocatedDevice(spec["driver"], spec["pool"]["name"], device["name"]): device
        for device in spec.get("devices") or ()
    }


# --- taints ---------------------------------------------------------------------------------------------------------


def _own_taints(key: AllocatedDevice, slices: Iterable[Life]) -> Iterator[tuple[str, Instant, Instant | None]]:
    """Taints in the slice, which its driver sets."""
    for life in slices:
        began: dict[str, Instant] = {}
        for version in life.versions:
            device = _keys(version.obj).get(key) or {}
            now = {_called(taint): taint for taint in device.get("taints") or ()}
            for name, taint in now.items():
                stamp = taint.get("timeAdded")
                began.setdefault(name, when(stamp, version.prompt) if stamp else _changed(version.obj, version.prompt))
            for name in [name for name in began if name not in now]:
                yield name, began.pop(name), _changed(version.obj, version.prompt)
        for name, instant in began.items():
            yield name, instant, Instant(life.gone, Source.OBSERVED) if life.gone else None


def _added(taint: Obj, version: Version) -> Instant:
    stamp = taint.get("timeAdded")
    return when(stamp, version.prompt) if stamp else _changed(version.obj, version.prompt)


def _rule_taints(key: AllocatedDevice, rules: Iterable[Life]) -> Iterator[tuple[str, Instant, Instant | None]]:
    """Taints of DeviceTaintRules that select the device."""
    own = {"driver": key.driver, "pool": key.pool, "device": key.device}
    for life in rules:
        taint = life.last["spec"]["taint"]
        selector = life.last["spec"].get("deviceSelector")
        if selector is not None and all(selector.get(part) in (None, value) for part, value in own.items()):
            stamp = taint.get("timeAdded") or life.last["metadata"]["creationTimestamp"]
            arrived = next((v.prompt for v in life.versions if v.obj["spec"]["taint"] == taint), None)
            yield _called(taint), when(stamp, arrived), life.deleted


def _called(taint: Mapping[str, str]) -> str:
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"


# --- claims ---------------------------------------------------------------------------------------------------------


def _held(claim: Life, seen: Seen) -> dict[AllocatedDevice, list[Fact]]:
    """What happened to the devices of a claim from each of its allocations on."""
    found: dict[AllocatedDevice, list[Fact]] = {}
    name = claim.last["metadata"]["name"]
    stamps = list(dict.fromkeys(stamp for v in claim.versions if (stamp := allocated_at(v.obj))))
    for stamp in stamps:
        versions = [v for v in claim.versions if allocated_at(v.obj) == stamp]
        instant = _allocated(claim, stamp, seen)
        end = _released(claim, stamp)
        for result in allocation_results(versions[-1].obj):
            facts = found.setdefault(AllocatedDevice(result["driver"], result["pool"], result["device"]), [])
            facts.append(Fact(instant, "allocated", State.ALLOCATED, f"to {name}"))
            facts += _conditions(claim, stamp, result, instant.at)
            facts += _prepared(claim, seen, instant.at, end)
            if end:
                facts.append(Fact(end, "released", State.PUBLISHED, f"by {name}"))
    return found


def _allocated(claim: Life, stamp: str, seen: Seen) -> Instant:
    """An allocation precedes its arrival here and the binding of the Pods that it is reserved for."""
    uids = {
        consumer["uid"]
        for version in claim.versions
        if allocated_at(version.obj) == stamp
        for consumer in version.obj["status"].get("reservedFor") or ()
    }
    bounds = [
        instant.at
        for pod in seen.pods
        if pod.last["metadata"]["uid"] in uids and (instant := bound(pod, seen.events)) and instant.at % 1
    ]
    arrived = claim.prompt(lambda obj: allocated_at(obj) == stamp)
    known = [each for each in (arrived, *bounds) if each is not None and each >= seconds(stamp)]
    found = when(stamp, min(known, default=None), claim.created.at)
    return found if found.at == arrived else Instant(found.at, Source.CLUSTER)


def _released(claim: Life, stamp: str) -> Instant | None:
    """When that allocation was seen to be no more: no timestamp tells of it."""
    last = max(number for number, version in enumerate(claim.versions) if allocated_at(version.obj) == stamp)
    later = [version.arrived for version in claim.versions[last + 1 :] if version.arrived is not None]
    seen = min(later, default=claim.gone)
    return Instant(seen, Source.OBSERVED) if seen else None


def _conditions(claim: Life, stamp: str, result: Obj, lower: float) -> Iterator[Fact]:
    """Attached: every binding condition is True. Failed: one of the binding failure conditions is."""
    wanted = result.get("bindingConditions") or ()
    failing = result.get("bindingFailureConditions") or ()
    if wanted and (moment := _all_true(claim, stamp, result, wanted, lower)):
        yield Fact(moment, "attached", State.ATTACHED, ", ".join(wanted))
    for type in failing:
        if moment := _all_true(claim, stamp, result, [type], lower):
            yield Fact(moment, "failed", State.FAILED, type)


def _all_true(claim: Life, stamp: str, result: Obj, types: Sequence[str], lower: float) -> Instant | None:
    for version in claim.versions:
        if allocated_at(version.obj) != stamp:
            continue
        entry = _entry(version.obj, result)
        found = [find_condition({"status": entry}, type) or {} for type in types]
        if all(condition.get("status") == "True" for condition in found):
            times = [condition["lastTransitionTime"] for condition in found if condition.get("lastTransitionTime")]
            moment = when(max(times), version.prompt, lower) if times else _changed(version.obj, version.prompt)
            return moment if moment.at >= lower else Instant(lower, moment.source)
    return None


def _entry(claim: Obj, result: Obj) -> Obj:
    """The device in `status.devices`."""
    own = {name: result.get(name) for name in ("driver", "pool", "device", "shareID")}
    entries: list[Obj] = claim["status"].get("devices") or []
    return next((each for each in entries if all(each.get(name) == value for name, value in own.items())), {})


def _prepared(claim: Life, seen: Seen, start: float, end: Instant | None) -> Iterator[Fact]:
    """By the driver's own word; where there is none, by what the kubelet tells of the Pods."""
    uid = claim.last["metadata"]["uid"]
    limit = end.at + 1 if end else float("inf")
    own = [call for call in seen.calls if call.claim == uid and start - 1 <= call.at <= limit]
    for call in own:
        instant = Instant(call.at, Source.OBSERVED)
        if call.method == _UNPREPARE and not call.error:
            yield Fact(instant, "unprepared", State.ALLOCATED)
        elif call.method == _PREPARE:
            yield (
                Fact(instant, "prepare failed", State.FAILED, call.error)
                if call.error
                else Fact(instant, "prepared", State.PREPARED)
            )
    if not own:
        consumers = (claim.last.get("status") or {}).get("reservedFor") or ()
        uids = {consumer["uid"] for consumer in consumers}
        for pod in (pod for pod in seen.pods if pod.last["metadata"]["uid"] in uids):
            placed = bound(pod, seen.events)
            lower = max(start, placed.at) if placed else start
            yield from (fact for fact in _started(pod, seen.events, lower) if not end or fact.instant.at < end.at)


def _started(pod: Life, events: Iterable[Obj], start: float) -> Iterator[Fact]:
    """The kubelet prepares a Pod's devices before it makes its sandbox."""
    for event in about(events, pod.last):
        if event.get("reason") == _PREPARE_FAILED:
            yield Fact(happened(event, start), "prepare failed", State.FAILED, event.get("message", ""))
    condition = find_condition(pod.last, "PodReadyToStartContainers") or {}
    if condition.get("status") == "True":
        at = within(seconds(condition["lastTransitionTime"]), None, start)
        yield Fact(at, "prepared", State.PREPARED, "its Pod has a sandbox")
