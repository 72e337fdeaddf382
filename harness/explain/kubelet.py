"""Pods at their node: what the kubelet says."""

import re

from harness.explain.claims import present
from harness.explain.messages import saying, short, told
from harness.explain.model import Finding, some
from harness.explain.placement import is_ready
from harness.explain.snapshot import Snapshot
from harness.kube.resources import Obj, reference

_PREPARE = "FailedPrepareDynamicResources"
_REJECTED = ("OutOf", "UnexpectedAdmissionError", "NodeAffinity", "Evicted")


def kubelet(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    """Why a Pod with a node does not run there."""
    return _node_down(snapshot, pod) or _rejected(pod) or _preparing(snapshot, pod) or _containers(pod)


def leaving(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    """A Pod that has ended, is to be deleted, and stays: its devices have yet to be unprepared."""
    states = [each.get("state") or {} for each in (pod.get("status") or {}).get("containerStatuses") or ()]
    claims = [reference(claim) for claim in present(snapshot, pod)]
    if not states or not claims or not all("terminated" in state for state in states):
        return []
    drivers = sorted(
        {
            each["driver"]
            for claim in present(snapshot, pod)
            for each in ((claim.get("status") or {}).get("allocation") or {}).get("devices", {}).get("results") or ()
        }
    )
    return [
        Finding(
            "unprepare-pending",
            f"the Pod has ended; the kubelet of {pod['spec'].get('nodeName')} has yet to have its devices unprepared",
            (f"claims: {some(claims)}", f"drivers: {some(drivers)}", "all containers are terminated"),
            "see whether the driver is running on the node; its log and the kubelet's tell more",
        )
    ]


def _node_down(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    node = snapshot.find("Node", pod["spec"]["nodeName"])
    if not snapshot.knows("Node") or (node and is_ready(node)):
        return []
    how = "is not Ready" if node else "does not exist"
    return [
        Finding(
            "node-not-ready",
            f"the Pod's node {pod['spec']['nodeName']} {how}",
            (f"Pod is bound to {pod['spec']['nodeName']}",),
            "bring the node back, or delete the Pod so that it is made anew elsewhere",
        )
    ]


def _rejected(pod: Obj) -> list[Finding]:
    status = pod.get("status") or {}
    reason = status.get("reason") or ""
    if status.get("phase") != "Failed" or not reason.startswith(_REJECTED):
        return []
    return [
        Finding(
            "kubelet-refused",
            f"the kubelet of {pod['spec']['nodeName']} refused the Pod: {reason}: {status.get('message', '')}",
            (f"phase Failed, reason {reason}",),
            "let the Pod be made anew; the scheduler chooses a node that has room",
        )
    ]


def _preparing(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    events = saying(snapshot, pod, _PREPARE)
    if not events:
        return []
    message = events[-1]["message"]
    facts = (f"event {_PREPARE}, {told(events)}: {short(message)}",)
    if found := re.search(r"DRA driver (\S+) is not registered", message):
        return [
            Finding(
                "driver-not-registered",
                f"the driver {found[1]} is not registered with the kubelet of {pod['spec']['nodeName']}",
                facts,
                "start the driver's kubelet plugin on the node; the kubelet tries again by itself",
            )
        ]
    error = message.rpartition("prepare dynamic resources: ")[2]
    if found := re.search(r"NodePrepareResources failed for ResourceClaim (\S+): (.*)", message, re.DOTALL):
        error = f"claim {found[1]}: {found[2]}"
    return [
        Finding(
            "prepare-failed",
            f"the kubelet of {pod['spec']['nodeName']} could not have the Pod's devices prepared: {short(error, 200)}",
            facts,
            "see the driver's log on the node; the kubelet tries again by itself",
        )
    ]


def _containers(pod: Obj) -> list[Finding]:
    status = pod.get("status") or {}
    for each in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        waiting = (each.get("state") or {}).get("waiting") or {}
        if waiting.get("reason") not in (None, "", "ContainerCreating", "PodInitializing"):
            return [
                Finding(
                    "container-waiting",
                    f"container {each['name']} does not start: {waiting['reason']}: "
                    + short(waiting.get("message", "")),
                    (f"the Pod is on node {pod['spec']['nodeName']}",),
                    "see `kubectl describe pod` and the container's log",
                )
            ]
    return []
