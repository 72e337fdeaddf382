"""Claims, groups, devices and nodes: what can be told of them beside the Pods."""

from harness.explain import gang
from harness.explain.binding import unready
from harness.explain.claims import being_deleted, uses
from harness.explain.inventory import Device, inventory, reserved_for
from harness.explain.model import Explanation, Finding, distinct, many, some
from harness.explain.placement import is_ready, show
from harness.explain.pods import findings as of_pod
from harness.explain.resources import usage
from harness.explain.snapshot import Snapshot
from harness.kube.predicates import allocated, allocated_devices
from harness.kube.resources import Obj, reference
from harness.kube.summary import describe


def explain_claim(snapshot: Snapshot, namespace: str, name: str) -> Explanation | None:
    """Why a ResourceClaim is not allocated, not ready, or not gone."""
    claim = snapshot.find("ResourceClaim", name, namespace)
    if claim is None:
        return None
    found = _claim(snapshot, claim)
    return Explanation(reference(claim), describe(claim), tuple(distinct(found)), snapshot.unread)


def _claim(snapshot: Snapshot, claim: Obj) -> list[Finding]:
    if "deletionTimestamp" in claim["metadata"]:
        return [being_deleted(claim)]
    if allocated()(claim):
        return unready(snapshot, claim)
    meta = claim["metadata"]
    consumers = [
        pod
        for pod in snapshot.all("Pod", meta["namespace"])
        if any(use.claim and use.claim["metadata"]["uid"] == meta["uid"] for use in uses(snapshot, pod))
    ]
    if consumers:
        return [finding for pod in consumers for finding in of_pod(snapshot, pod)]
    return [
        Finding(
            "claim-unused",
            f"{reference(claim)} is allocated when a Pod that uses it is scheduled, and no Pod uses it",
            (f"no Pod in namespace {meta['namespace']} names it",),
            "create a Pod that uses it",
        )
    ]


def explain_group(snapshot: Snapshot, namespace: str, name: str) -> Explanation | None:
    """Why a PodGroup is not scheduled; None where neither it nor a Pod of it exists."""
    group = snapshot.find("PodGroup", name, namespace)
    own = gang.members(snapshot, name, namespace)
    if group is None:
        if not own:
            return None
        return Explanation(
            f"PodGroup {namespace}/{name}", "does not exist", tuple(gang.gang(snapshot, own[0])), snapshot.unread
        )
    bound = [pod for pod in own if pod["spec"].get("nodeName")]
    found = gang.of_group(snapshot, group)
    if len(bound) < gang.minimum(group):
        found = found + [finding for pod in own for finding in of_pod(snapshot, pod)]
    state = f"{many(len(own), 'Pod')}, {len(bound)} with a node, needs {gang.minimum(group)}; {describe(group)}"
    return Explanation(reference(group), state, tuple(distinct(found)), snapshot.unread)


def explain_device(snapshot: Snapshot, driver: str, pool: str, name: str) -> Explanation | None:
    """Why a device cannot be had; None where it is not published and nobody has it."""
    device = inventory(snapshot).find(driver, pool, name)
    subject = f"device {driver}/{pool}/{name}"
    if device is None:
        holders = [claim for claim in snapshot.all("ResourceClaim") if (driver, pool, name) in allocated_devices(claim)]
        if not holders:
            return None
        missing = Finding(
            "device-not-published",
            f"no ResourceSlice publishes the device, though {reference(holders[0])} has it",
            tuple(describe(each) for each in holders),
            "have the driver publish it again, or delete the Pods that use it",
        )
        return Explanation(subject, "not published", (missing,), snapshot.unread)
    state = f"published in {reference(device.slice)}, " + (
        f"allocated to {device.holds[0]}" if device.holds else "free"
    )
    return Explanation(subject, state, tuple(_device(snapshot, device)), snapshot.unread)


def _device(snapshot: Snapshot, device: Device) -> list[Finding]:
    found = []
    if problem := device.pool.problem:
        cause = "pool-incomplete" if device.pool.incomplete else "pool-invalid"
        sentence = f"nothing of pool {device.pool} can be allocated: it is {problem}"
        facts = tuple(reference(each) for each in device.pool.slices)
        found.append(Finding(cause, sentence, facts, "have the driver publish the whole, valid pool"))
    for taint in device.taints:
        if taint.spec["effect"] in ("NoSchedule", "NoExecute"):
            by_rule = "DeviceTaintRule" in taint.origin
            found.append(
                Finding(
                    "device-tainted-by-rule" if by_rule else "device-tainted",
                    f"only requests that tolerate its taint {taint} can have it",
                    (f"since {taint.spec.get('timeAdded', 'an unknown time')}",),
                    "delete the rule" if by_rule else "have the driver remove the taint",
                )
            )
    for hold in device.holds:
        found += unready(snapshot, hold.claim)
    if device.holds and not device.spec.get("allowMultipleAllocations"):
        facts = tuple(map(str, device.holds))
        found.append(
            Finding("devices-taken", f"it is taken by {device.holds[0]}", facts, "delete the Pods that use the claim")
        )
    return found


def explain_node(snapshot: Snapshot, name: str) -> Explanation | None:
    """What keeps Pods with devices from a node, and what it has left."""
    node = snapshot.find("Node", name)
    if node is None:
        return None
    here = [each for each in inventory(snapshot).devices if each.reaches(node)]
    free = [each for each in here if not each.holds and not each.pool.problem and not _repels(each)]
    found: list[Finding] = []
    if not is_ready(node):
        fact = describe(node)
        found.append(Finding("node-not-ready", "the node is not Ready", (fact,), "see its kubelet's log"))
    for taint in node["spec"].get("taints") or ():
        if taint["effect"] != "PreferNoSchedule":
            sentence = f"only Pods that tolerate {show(taint)} may use the node"
            found.append(Finding("node-taints", sentence, (), f"remove the taint {taint['key']}"))
    broken = distinct(
        Finding(
            "pool-incomplete" if each.pool.incomplete else "pool-invalid",
            f"nothing of pool {each.pool} can be allocated: it is {each.pool.problem}",
            (),
            "have the driver publish the whole, valid pool",
        )
        for each in here
        if each.pool.problem
    )
    state = f"{'Ready' if is_ready(node) else 'not Ready'}, {len(free)} of {many(len(here), 'device')} free"
    notes = [usage(snapshot, node, resource) for resource in ("cpu", "memory")]
    notes += [f"{each}: {_state(each)}" for each in here]
    return Explanation(f"Node {name}", state, (*found, *broken), snapshot.unread, tuple(notes))


def _repels(device: Device) -> bool:
    return any(taint.spec["effect"] in ("NoSchedule", "NoExecute") for taint in device.taints)


def _state(device: Device) -> str:
    if device.holds:
        users = [each["name"] for hold in device.holds for each in reserved_for(hold.claim)]
        return f"allocated to {some(reference(hold.claim) for hold in device.holds)}, used by {some(users) or 'nobody'}"
    if device.pool.problem:
        return f"pool {device.pool.problem}"
    return f"tainted: {some(map(str, device.taints))}" if device.taints else "free"
