"""A Pod's claims: which there are, which are missing, and what is wrong with them before devices come into it."""

from dataclasses import dataclass

from harness.explain.inventory import reserved_for
from harness.explain.messages import saying, short, told
from harness.explain.model import Finding, either, some
from harness.explain.placement import eligible, selects
from harness.explain.snapshot import Snapshot
from harness.kube.predicates import allocated, allocated_devices, generated_claim_name
from harness.kube.resources import Obj, reference

#: Consumers that can share a claim.
CONSUMERS = 256


@dataclass(frozen=True)
class Use:
    """An entry of a Pod's `spec.resourceClaims`, and the claim that it stands for, where that exists."""

    entry: Obj
    name: str | None
    claim: Obj | None

    @property
    def template(self) -> str | None:
        """The name of the template the claim is made from."""
        return self.entry.get("resourceClaimTemplateName")


def uses(snapshot: Snapshot, pod: Obj) -> list[Use]:
    """The claims of a Pod; those that it turned out not to need are left out."""
    found = []
    statuses = {each["name"]: each for each in (pod.get("status") or {}).get("resourceClaimStatuses") or ()}
    for entry in pod["spec"].get("resourceClaims") or ():
        status = statuses.get(entry["name"])
        if status is not None and not status.get("resourceClaimName"):
            continue
        name = entry.get("resourceClaimName") or generated_claim_name(pod, entry["name"])
        claim = snapshot.find("ResourceClaim", name, pod["metadata"]["namespace"]) if name else None
        found.append(Use(entry, name, claim))
    return found


def present(snapshot: Snapshot, pod: Obj) -> list[Obj]:
    """The Pod's claims that exist, the one for its extended resources included."""
    found = [use.claim for use in uses(snapshot, pod) if use.claim]
    extended = (pod.get("status") or {}).get("extendedResourceClaimStatus") or {}
    if name := extended.get("resourceClaimName"):
        claim = snapshot.find("ResourceClaim", name, pod["metadata"]["namespace"])
        found += [claim] if claim else []
    return found


def missing(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    """Claims that keep the Pod from the scheduler's queue: not there, not made yet, being deleted, someone else's."""
    if not snapshot.knows("ResourceClaim"):
        return []
    return [finding for use in uses(snapshot, pod) for finding in _missing(snapshot, pod, use)]


def _missing(snapshot: Snapshot, pod: Obj, use: Use) -> list[Finding]:
    namespace = pod["metadata"]["namespace"]
    if use.claim is None:
        if use.template is None or use.name:
            return [_no_claim(namespace, use)]
        return _not_generated(snapshot, pod, use)
    if "deletionTimestamp" in use.claim["metadata"]:
        return [being_deleted(use.claim)]
    if use.template and not _owned(use.claim, pod):
        owners = [f"{each['kind']} {each['name']}" for each in use.claim["metadata"].get("ownerReferences") or ()]
        return [
            Finding(
                "claim-owned-by-other",
                f"{reference(use.claim)}, which stands for the Pod's claim {use.entry['name']!r}, was not made for it",
                (f"it is owned by {some(owners) or 'nobody'}, not by the Pod with uid {pod['metadata']['uid']}",),
                f"delete {reference(use.claim)}: one of the Pod's own is made in its place",
            )
        ]
    return []


def _no_claim(namespace: str, use: Use) -> Finding:
    generated = f", made from template {use.template}," if use.template else ","
    return Finding(
        "claim-missing",
        f"the Pod's claim {use.entry['name']!r} is ResourceClaim {namespace}/{use.name}{generated}"
        " which does not exist",
        (f"no ResourceClaim {use.name} in namespace {namespace}",),
        f"create the ResourceClaim {use.name}; the Pod goes on by itself then",
    )


def _not_generated(snapshot: Snapshot, pod: Obj, use: Use) -> list[Finding]:
    namespace = pod["metadata"]["namespace"]
    failures = saying(snapshot, pod, "FailedResourceClaimCreation", f"PodResourceClaim {use.entry['name']}")
    facts = tuple(f"event, {told([each])}: {short(each['message'])}" for each in failures[-1:])
    if snapshot.knows("ResourceClaimTemplate") and not snapshot.find(
        "ResourceClaimTemplate", str(use.template), namespace
    ):
        return [
            Finding(
                "template-missing",
                f"the Pod's claim {use.entry['name']!r} is to be made from the ResourceClaimTemplate"
                f" {namespace}/{use.template}, which does not exist",
                facts or (f"no ResourceClaimTemplate {use.template} in namespace {namespace}",),
                f"create the ResourceClaimTemplate {use.template}; the Pod goes on by itself then",
            )
        ]
    if failures:
        return [
            Finding(
                "claim-not-generated",
                f"no claim can be made for the Pod's {use.entry['name']!r} from template {use.template}",
                facts,
                "correct what the event tells of; it is tried again",
            )
        ]
    age = snapshot.age(pod["metadata"].get("creationTimestamp"))
    return [
        Finding(
            "claim-not-generated",
            f"the claim for the Pod's {use.entry['name']!r} has not been made from template {use.template} yet",
            (f"the Pod is {age:.0f} s old, its status names no claim, no event tells of a failure",),
            "see whether the kube-controller-manager, which makes claims, is running",
        )
    ]


def being_deleted(claim: Obj) -> Finding:
    """A claim that is on its way out serves nobody new."""
    users = [each["name"] for each in reserved_for(claim)]
    return Finding(
        "claim-being-deleted",
        f"{reference(claim)} is being deleted, so no new Pod may use it",
        (
            f"deletion asked for at {claim['metadata']['deletionTimestamp']}",
            f"still reserved for {some(users) or 'nobody'}",
            f"finalizers: {some(claim['metadata'].get('finalizers') or ()) or 'none'}",
        ),
        "delete the Pods that still use it, and create the claim anew",
    )


def _owned(claim: Obj, pod: Obj) -> bool:
    return any(each["uid"] == pod["metadata"]["uid"] for each in claim["metadata"].get("ownerReferences") or ())


def unreachable(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    """Claims that are allocated for nodes that the Pod may not use."""
    nodes = eligible(snapshot, pod)
    found = []
    for claim in present(snapshot, pod):
        selector = ((claim.get("status") or {}).get("allocation") or {}).get("nodeSelector")
        if selector and nodes and not any(selects(selector, node) for node in nodes):
            where = [node["metadata"]["name"] for node in snapshot.all("Node") if selects(selector, node)]
            users = [each["name"] for each in reserved_for(claim) if each["uid"] != pod["metadata"]["uid"]]
            found.append(
                Finding(
                    "claim-on-other-node",
                    f"{reference(claim)} is allocated for {some(where) or 'a node that is gone'},"
                    " where the Pod may not run",
                    (
                        f"its devices: {some('/'.join(each) for each in allocated_devices(claim))}",
                        f"used by {some(users) or 'nobody else'}",
                        f"the Pod may use {some(node['metadata']['name'] for node in nodes)}",
                    ),
                    "let the Pod use that node, or wait until no Pod uses the claim any more",
                )
            )
    return found


def crowded(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    """Claims that have all the consumers they can have."""
    return [
        Finding(
            "claim-consumers",
            f"{reference(claim)} is used by {len(reserved_for(claim))} Pods already, as many as a claim can have",
            (f"status.reservedFor has {len(reserved_for(claim))} entries, the limit is {CONSUMERS}",),
            "delete a Pod that uses it, or give the Pod a claim of its own",
        )
        for claim in present(snapshot, pod)
        if len(reserved_for(claim)) >= CONSUMERS and not may_use(pod, claim)
    ]


def prescheduled(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    """A Pod that came to its node without the scheduler, with claims that are not its own to use."""
    found = []
    for claim in present(snapshot, pod):
        if may_use(pod, claim):
            continue
        how = "is not reserved for it" if allocated()(claim) else "is not allocated"
        users = some(each["name"] for each in reserved_for(claim)) or "nobody"
        facts = (
            f"spec.nodeName is {pod['spec']['nodeName']}",
            f"status.reservedFor of {reference(claim)}: {users}",
        )
        main = Finding(
            "prescheduled",
            f"the Pod is bound to its node, but {reference(claim)} {how}: the kubelet may not start it",
            facts,
            "let the scheduler place the Pod: use a node selector in place of spec.nodeName",
        )
        if saying(snapshot, pod, "Scheduled"):  # it was not set by hand: someone took the reservation away
            main = Finding(
                "reservation-lost",
                f"the scheduler placed the Pod, but {reference(claim)} {how} any more: the kubelet may not start it",
                facts,
                "delete the Pod and let it be made anew",
            )
        found.append(main)
    return found


def may_use(pod: Obj, claim: Obj) -> bool:
    """Whether the claim is reserved for the Pod, or for its group."""
    group = (pod["spec"].get("schedulingGroup") or {}).get("podGroupName")
    return any(
        each["uid"] == pod["metadata"]["uid"] or (each["resource"] == "podgroups" and each["name"] == group)
        for each in reserved_for(claim)
    )


def not_recorded(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    """For a Pod at its node: claims that do not exist (yet)."""
    return either(*found) if len(found := missing(snapshot, pod)) > 1 else found
