"""Pods of a PodGroup: what holds the whole group up."""

from harness.explain.claims import missing
from harness.explain.messages import last_word, short
from harness.explain.model import Finding, some
from harness.explain.snapshot import Snapshot
from harness.kube.predicates import find_group_condition
from harness.kube.resources import Obj, reference

_OVER = ("Succeeded", "Failed")


def group_name(pod: Obj) -> str | None:
    """The name of the Pod's group."""
    name: str | None = (pod["spec"].get("schedulingGroup") or {}).get("podGroupName")
    return name


def members(snapshot: Snapshot, name: str, namespace: str) -> list[Obj]:
    """The Pods of a group that are not over."""
    return [
        pod
        for pod in snapshot.all("Pod", namespace)
        if group_name(pod) == name and (pod.get("status") or {}).get("phase") not in _OVER
    ]


def gang(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    """What the Pod's group adds to what holds it up."""
    name, namespace = group_name(pod), pod["metadata"]["namespace"]
    if not name or not snapshot.knows("PodGroup"):
        return []
    group = snapshot.find("PodGroup", name, namespace)
    if group is None:
        return [
            Finding(
                "group-missing",
                f"the Pod belongs to PodGroup {namespace}/{name}, which does not exist",
                (f"no PodGroup {name} in namespace {namespace}",),
                f"create the PodGroup {name}; its Pods go on by themselves then",
            )
        ]
    return of_group(snapshot, group, pod)


def of_group(snapshot: Snapshot, group: Obj, subject: Obj | None = None) -> list[Finding]:
    """What holds a group up, as one of its Pods (`subject`) or as a whole."""
    meta = group["metadata"]
    own = members(snapshot, meta["name"], meta["namespace"])
    return (
        _quorum(group, own)
        or _held_member(snapshot, group, own, subject)
        or _different(group, own)
        or _no_room(group, own)
    )


def minimum(group: Obj) -> int:
    """How many Pods the group needs at once."""
    return int((group["spec"]["schedulingPolicy"].get("gang") or {}).get("minCount") or 1)


def _quorum(group: Obj, own: list[Obj]) -> list[Finding]:
    if len(own) >= minimum(group):
        return []
    return [
        Finding(
            "group-quorum",
            f"{reference(group)} needs {minimum(group)} Pods, {len(own)} of {minimum(group)} exist:"
            " the scheduler does not try before",
            (f"minCount {minimum(group)}", f"Pods: {some(pod['metadata']['name'] for pod in own) or 'none'}"),
            f"create {minimum(group) - len(own)} more Pods of the group, or lower its minCount",
        )
    ]


def _held_member(snapshot: Snapshot, group: Obj, own: list[Obj], subject: Obj | None) -> list[Finding]:
    uid = (subject or {"metadata": {}})["metadata"].get("uid")
    for pod in own:
        if pod["metadata"]["uid"] == uid or pod["spec"].get("nodeName"):
            continue
        gates = [each["name"] for each in pod["spec"].get("schedulingGates") or ()]
        reasons = [f"scheduling gate {each}" for each in gates]
        reasons += [finding.sentence for finding in missing(snapshot, pod)]
        if reasons:
            return [
                Finding(
                    "group-member-held",
                    f"{reference(group)} waits for its member {pod['metadata']['name']}: {reasons[0]}",
                    tuple(reasons),
                    f"free {reference(pod)} of what holds it",
                )
            ]
    return []


def _different(group: Obj, own: list[Obj]) -> list[Finding]:
    schedulers = {pod["metadata"]["name"]: pod["spec"].get("schedulerName", "") for pod in own}
    if len(set(schedulers.values())) > 1:
        return [
            Finding(
                "group-schedulers",
                f"the Pods of {reference(group)} name different schedulers: {some(sorted(set(schedulers.values())))}",
                tuple(f"{name}: {scheduler}" for name, scheduler in schedulers.items()),
                "give all Pods of the group the same schedulerName",
            )
        ]
    wanted = group["spec"].get("priority") or 0
    others = {pod["metadata"]["name"]: found for pod in own if (found := pod["spec"].get("priority") or 0) != wanted}
    if not others:
        return []
    return [
        Finding(
            "group-priorities",
            f"Pods of {reference(group)} have another priority than the group's {wanted}: "
            + some(f"{name} {priority}" for name, priority in others.items()),
            (f"the group's priority is {wanted}", *_said(group)),
            "give the group and all its Pods the same priorityClassName",
        )
    ]


def _no_room(group: Obj, own: list[Obj]) -> list[Finding]:
    said = find_group_condition(group)
    bound = [pod for pod in own if pod["spec"].get("nodeName")]
    if said is None or said["status"] != "False" or len(bound) >= minimum(group):
        return []
    placeless = [pod for pod in own if "nodes are available" in last_word(pod)]
    return [
        Finding(
            "group-no-room",
            f"there is no room for {minimum(group)} Pods of {reference(group)} at once"
            + (f"; no place for {some(pod['metadata']['name'] for pod in placeless)}" if placeless else ""),
            (*_said(group), *(f"{pod['metadata']['name']}: {short(last_word(pod).message)}" for pod in placeless[:4])),
            "make room for the members without a place, or lower the group's minCount",
        )
    ]


def _said(group: Obj) -> tuple[str, ...]:
    said = find_group_condition(group)
    if said is None:
        return ()
    return (f"{said['type']}={said['status']}, {said.get('reason', '')}: {short(said.get('message', ''))}",)
