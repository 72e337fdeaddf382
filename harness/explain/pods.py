"""Why a Pod is pending or gone."""

from harness.explain import binding, extended, gang, kubelet, queue, resources, words
from harness.explain.allocation import Demand, unallocated
from harness.explain.claims import crowded, missing, not_recorded, prescheduled, present, unreachable
from harness.explain.departure import departed, departing
from harness.explain.inventory import inventory
from harness.explain.model import Explanation, Finding, distinct
from harness.explain.placement import eligible, no_node
from harness.explain.snapshot import Snapshot
from harness.kube.predicates import allocated
from harness.kube.resources import Obj
from harness.kube.summary import describe


def explain_pod(snapshot: Snapshot, namespace: str, name: str, uid: str | None = None) -> Explanation | None:
    """The explanation of a Pod (that very one, with `uid`); None where there is none and nothing tells of one."""
    pod = snapshot.find("Pod", name, namespace)
    subject = f"Pod {namespace}/{name}"
    if pod is None or uid not in (None, pod["metadata"]["uid"]):
        events = snapshot.events("Pod", name, namespace, uid)
        if not events:
            return None
        return Explanation(subject, "does not exist any more", tuple(departed(snapshot, events)), snapshot.unread)
    return Explanation(subject, describe(pod), tuple(findings(snapshot, pod)), snapshot.unread)


def findings(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    """Everything that keeps a Pod from running, or makes it go; nothing for one that runs or has ended well."""
    if going := departing(snapshot, pod):
        return going
    if "deletionTimestamp" in pod["metadata"]:
        return kubelet.leaving(snapshot, pod)
    phase = (pod.get("status") or {}).get("phase")
    if not pod["spec"].get("nodeName"):
        return distinct(_unbound(snapshot, pod))
    if phase == "Succeeded":
        return []
    if phase == "Pending" and (found := not_recorded(snapshot, pod) + prescheduled(snapshot, pod)):
        return found
    return kubelet.kubelet(snapshot, pod)


def _unbound(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    group = gang.gang(snapshot, pod)
    room = [finding for finding in group if finding.cause == "group-no-room"]
    held = queue.gates(pod) + missing(snapshot, pod) + [finding for finding in group if finding not in room]
    if held:
        return held
    if waiting := binding.waiting(snapshot, pod):
        return [*room, *binding.ended(snapshot, pod), *waiting]
    found = [*room, *binding.ended(snapshot, pod), *_placeless(snapshot, pod)]
    return found or queue.unseen(snapshot, pod) or words.unexplained(pod)


def _placeless(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    """Why the scheduler finds no node."""
    found = [*no_node(snapshot, pod), *crowded(snapshot, pod), *unreachable(snapshot, pod)]
    nodes = eligible(snapshot, pod)
    devices = inventory(snapshot)
    demands = [Demand.of(claim) for claim in present(snapshot, pod) if not allocated()(claim)]
    demands += extended.demands(snapshot, pod, nodes)
    if nodes and snapshot.knows("ResourceSlice") and snapshot.knows("DeviceClass"):
        found += [finding for each in demands for finding in unallocated(snapshot, each, devices, nodes)]
    found += extended.unknown(snapshot, pod, nodes)
    found += resources.short_of(snapshot, pod)
    known = {finding.cause for finding in found}
    found += [finding for finding in words.said(pod) if finding.cause not in known and not _implied(finding, known)]
    return found + words.nominated(pod)


def _implied(finding: Finding, known: set[str]) -> bool:
    """Whether a cause that was found says the same in more words."""
    return finding.cause == "reservation-refused" and "claim-consumers" in known
