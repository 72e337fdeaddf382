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


def workload(
    name: str, *templates: Obj, composites: Sequence[Obj] = (), controller: Obj | None = None,
    namespace: str | None = None,
) -> Obj:  # fmt: skip
    """A Workload of templates: of PodGroups, or of CompositePodGroups (`composites`)."""
    spec = given(podGroupTemplates=templates, compositePodGroupTemplates=composites, controllerRef=controller)
    return built("Workload", name, namespace=namespace, spec=spec)


def pod_group_template(name: str, policy: Obj, *, claims: Sequence[Obj] = (), priority_class: str | None = None) -> Obj:
    """One template of a Workload."""
    return given(name=name, schedulingPolicy=policy, resourceClaims=list(claims), priorityClassName=priority_class)


def workload_ref(workload_name: str, template_name: str) -> Obj:
    """A group's `workloadRef`: the template that it was made from."""
    return {"workloadName": workload_name, "templateName": template_name}


def gang_of_groups(min_group_count: int) -> Obj:
    """A scheduling policy of composites: at least so many child groups at once, or none."""
    return {"gang": {"minGroupCount": min_group_count}}


def composite_pod_group(
    name: str, policy: Obj, workload: Obj, *, parent: str | None = None, priority_class: str | None = None,
    disruption_mode: Obj | None = None, namespace: str | None = None,
) -> Obj:  # fmt: skip
    """A CompositePodGroup. `workload` is its workloadRef, `parent` the name of the CompositePodGroup above it."""
    spec = given(
        parentCompositePodGroupName=parent,
        workloadRef=workload,
        schedulingPolicy=policy,
        disruptionMode=disruption_mode,
        priorityClassName=priority_class,
    )
    return built("CompositePodGroup", name, namespace=namespace, spec=spec)


def composite_pod_group_template(
    name: str, policy: Obj, *, groups: Sequence[Obj] = (), composites: Sequence[Obj] = ()
) -> Obj:
    """One composite template of a Workload, with the templates of its children."""
    return given(name=name, schedulingPolicy=policy, podGroupTemplates=groups, compositePodGroupTemplates=composites)
