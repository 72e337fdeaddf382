"""Findings about the devices for a request."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.explain.model import Finding, many, some
from harness.explain.requests import Judged, Kind, Wanted
from harness.kube.resources import Obj

#: The kinds of obstacles to devices that are asked for, and the cause that each is.
NAMES: Mapping[Kind, str] = {
    "pool-incomplete": "pool-incomplete",
    "pool-invalid": "pool-invalid",
    "taint": "device-tainted",
    "taint-rule": "device-tainted-by-rule",
    "taken": "devices-taken",
    "capacity": "capacity-exhausted",
    "capacity-small": "capacity-too-small",
    "counters": "counters-exhausted",
}

_WORDS: Mapping[Kind, tuple[str, str]] = {
    "pool-incomplete": ("in an incomplete pool", "have the driver publish the missing slices, or correct their number"),
    "pool-invalid": ("in an invalid pool", "have the driver publish a valid pool"),
    "taken": ("taken", "delete a Pod that uses one, or add devices"),
    "capacity": ("without enough capacity left", "delete a Pod that shares one, or ask for less"),
    "capacity-small": ("too small", "ask for less capacity, or add larger devices"),
    "counters": ("short of counters that devices in use share", "delete a Pod that uses a part, or ask for less"),
}  # fmt: skip


def blocked(request: Wanted, kind: Kind, matching: Sequence[Judged]) -> Finding:
    """Devices that are asked for cannot be had for a reason of this kind."""
    hit = [(each, obstacle) for each in matching if (obstacle := each.obstacle(kind))]
    how_many = (
        f"all {many(len(hit), 'device')}" if len(hit) == len(matching) else f"{len(hit)} of {len(matching)} devices"
    )
    if len(matching) == 1:
        how_many = "the only device"
    facts = tuple(f"{each.device}: {obstacle.text}" for each, obstacle in hit[:8]) + _rest(len(hit), 8)
    if kind in ("taint", "taint-rule"):
        return _tainted(request, kind, how_many, facts, [obstacle.taint.spec for _, obstacle in hit if obstacle.taint])
    words, remedy = _WORDS[kind]
    verb = "is" if len(hit) == 1 else "are"
    sentence = f"{how_many} for {request} {verb} {words}{_by_whom(kind, hit[0][0])}"
    return Finding(NAMES[kind], sentence, facts + _doubts(matching), remedy)


def _by_whom(kind: Kind, example: Judged) -> str:
    return f" ({example.device.spec['name']} by {example.device.holds[0]})" if kind == "taken" else ""


def _tainted(request: Wanted, kind: Kind, how_many: str, facts: tuple[str, ...], taints: Sequence[Obj]) -> Finding:
    missing = distinct_texts(
        f"{{key: {taint['key']}, operator: Equal, value: {taint['value']!r}, effect: {taint['effect']}}}"
        if taint.get("value")
        else f"{{key: {taint['key']}, operator: Exists, effect: {taint['effect']}}}"
        for taint in taints
    )
    source = "a DeviceTaintRule" if kind == "taint-rule" else "its driver"
    remedy = "delete the rule" if kind == "taint-rule" else "have the driver remove the taint"
    return Finding(
        NAMES[kind],
        f"{how_many} for {request} has a taint, by {source}, that the request does not tolerate",
        (*facts, f"the request tolerates {some(map(_toleration, request.spec.get('tolerations') or ())) or 'nothing'}"),
        f"{remedy}, or add the toleration {' or '.join(missing)} to the request (in a new claim)",
    )


def _toleration(toleration: Obj) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in toleration.items()) + "}"


def unwanted(request: Wanted, judged: Sequence[Judged]) -> list[Finding]:
    """No device is one that is asked for."""
    failed = [(each, obstacle) for each in judged if (obstacle := each.obstacle("cel"))]
    if failed:
        return [
            Finding(
                "cel-error",
                f"a selector fails on device {failed[0][0].device}: {failed[0][1].text}",
                tuple(f"{each.device}: {obstacle.text}" for each, obstacle in failed[:6]),
                "make the selector test whether the attribute is there before it uses it (in a new claim or the class)",
            )
        ]
    rejected = [(each, obstacle) for each in judged if (obstacle := each.obstacle("selector"))]
    if not rejected:
        drivers = sorted({each.device.driver for each in judged})
        return [
            Finding(
                "devices-missing",
                f"class {request.class_name}, which {request} names, selects none of the"
                f" {len(judged)} devices that are published",
                (f"drivers that publish devices: {some(drivers) or 'none'}",),
                "start the driver that should publish the devices, or correct the selectors of the class",
            )
        ]
    texts = distinct_texts(obstacle.text for _, obstacle in rejected)
    return [
        Finding(
            "selector-rejects",
            f"no device matches {request}: {texts[0]} rejects {len(rejected)} of the {len(rejected)} in its class",
            tuple(
                f"{text} rejects {some(str(each.device) for each, obstacle in rejected if obstacle.text == text)}"
                for text in texts
            ),
            "ask for what the devices have (see their attributes in the ResourceSlices), or add such devices",
        )
    ]


def too_few(request: Wanted, best: Sequence[Judged]) -> Finding:
    """No node has as many devices as are asked for at once."""
    return Finding(
        "devices-too-few",
        f"{request} asks for {many(request.count, 'device')} at once, no node has more than {len(best)} that match",
        (f"that match on one node: {some(str(each.device) for each in best)}",),
        "ask for fewer devices, or add devices to a node",
    )


def elsewhere(request: Wanted, matching: Sequence[Judged], nodes: Sequence[Obj]) -> list[Finding]:
    """Devices match, on nodes that the Pod may not use."""
    names = [node["metadata"]["name"] for node in nodes]
    return [
        Finding(
            "devices-elsewhere",
            f"the {many(len(matching), 'device')} for {request} cannot be reached from any node that the Pod may use",
            (
                f"devices: {some(f'{each.device} ({_where(each)})' for each in matching)}",
                f"nodes that the Pod may use: {some(names) or 'none'}",
            ),
            "let the Pod use a node that has such devices, or add devices to one that it may use",
        )
    ]


def free_outside(finding: Finding, outside: Sequence[Judged]) -> Finding:
    """The finding is about the nodes that the Pod may use; on others there are free devices."""
    return replace(
        finding,
        sentence=f"{finding.sentence}, on the nodes that the Pod may use",
        facts=(*finding.facts, f"free on other nodes: {some(f'{each.device} ({_where(each)})' for each in outside)}"),
        remedy=f"{finding.remedy}, or let the Pod use a node that has free ones",
    )


def _where(judged: Judged) -> str:
    spec = judged.device.slice["spec"]
    own = judged.device.spec if spec.get("perDeviceNodeSelection") else spec
    return f"on node {own['nodeName']}" if own.get("nodeName") else "by node selector"


def distinct_texts(texts: object) -> list[str]:
    """Each text once, in order."""
    return list(dict.fromkeys(texts))  # type: ignore[call-overload]


def _doubts(matching: Sequence[Judged]) -> tuple[str, ...]:
    return tuple(distinct_texts(doubt for each in matching for doubt in each.doubts))


def _rest(count: int, shown: int) -> tuple[str, ...]:
    return (f"and {count - shown} more",) if count > shown else ()
