"""Priorities and groups of Pods."""

from collections.abc import Sequence

from harness.kube.builders.meta import built, given
from harness.kube.resources import Obj


def priority_class(name: str, value: int, *, preemption_policy: str | None = None) -> Obj:
    """A PriorityClass."""
    return built("PriorityClass", name) | given(value=value, preemptionPolicy=preemption_policy)


def gang(min_count: int) -> Obj:
    """A scheduling policy: at least so many Pods at once, or none."""
    return {"gang": {"minCount": min_count}}


def basic() -> Obj:
    """A scheduling policy: Pod by Pod."""
    return {"basic": {}}


def group_claim(name: str, *, claim: str | None = None, template: str | None = None) -> Obj:
    """An entry of a group's `resourceClaims`: a claim that all its Pods share."""
    return given(name=name, resourceClaimName=claim, resourceClaimTemplateName=template)


def pod_group(
    name: str, policy: Obj, *, claims: Sequence[Obj] = (), priority_class: str | None = None,
    priority: int | None = None, disruption_mode: Obj | None = None, topology_key: str | None = None,
    preemption_policy: str | None = None, workload: Obj | None = None, parent: str | None = None,
    namespace: str | None = None,
) -> Obj:  # fmt: skip
    """A PodGroup. `workload` is its workloadRef, `parent` the name of a CompositePodGroup."""
    spec = given(
        schedulingPolicy=policy,
        resourceClaims=list(claims),
        priorityClassName=priority_class,
        priority=priority,
        disruptionMode=disruption_mode,
        schedulingConstraints={"topology": [{"key": topology_key}]} if topology_key else None,
        preemptionPolicy=preemption_policy,
        workloadRef=workload,
        parentCompositePodGroupName=parent,
    )
    return built("PodGroup", name, namespace=namespace, spec=spec)


def workload(name: str, *templates: Obj, controller: Obj | None = None, namespace: str | None = None) -> Obj:
    """A Workload of PodGroup templates."""
    return built(
        "Workload", name, namespace=namespace, spec=given(podGroupTemplates=templates, controllerRef=controller)
    )


def pod_group_template(name: str, policy: Obj, *, claims: Sequence[Obj] = (), priority_class: str | None = None) -> Obj:
    """One template of a Workload."""
    return given(name=name, schedulingPolicy=policy, resourceClaims=list(claims), priorityClassName=priority_class)
