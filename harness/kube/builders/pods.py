"""Pods, and what stands for many of them."""

from collections.abc import Mapping, Sequence
from typing import Literal

from harness.kube.builders.meta import built, given, quantities
from harness.kube.resources import Obj

#: Every node of a harness' cluster can start it without a pull; a cluster that has another one is asked for it.
DEFAULT_IMAGE = "dra-e2e.invalid/pause:1"

#: Stays until it is deleted.
FOREVER = ("sleep", "infinity")

#: Does not end when it is told to: it takes its whole grace period.
STUBBORN = ("sh", "-c", "trap '' TERM; sleep infinity")

RestartPolicy = Literal["Always", "OnFailure", "Never"]

#: Claims by the name they have in the Pod: the name of a ResourceClaim or of a template, or the object itself.
ClaimNames = Mapping[str, str | Obj]


def runs_for(seconds: float, exit_code: int = 0) -> tuple[str, ...]:
    """A command that ends by itself after so many seconds."""
    return ("sh", "-c", f"sleep {seconds:g}; exit {exit_code}")


def container(
    name: str = "main", *, image: str = DEFAULT_IMAGE, command: Sequence[str] = FOREVER,
    claims: Sequence[str | tuple[str, str]] = (), requests: Mapping[str, str | int] | None = None,
    limits: Mapping[str, str | int] | None = None, env: Mapping[str, str] | None = None,
    restart_policy: RestartPolicy | None = None,
) -> Obj:  # fmt: skip
    """A container. `claims` are names of Pod claims, or (claim, request) for one request of a claim.

    Extended resources belong into `limits` (the API server copies them to the requests).
    """
    entries = [{"name": entry} if isinstance(entry, str) else {"name": entry[0], "request": entry[1]}
               for entry in claims]  # fmt: skip
    return given(
        name=name,
        image=image,
        command=list(command),
        env=[{"name": key, "value": value} for key, value in (env or {}).items()],
        resources=given(requests=quantities(requests or {}), limits=quantities(limits or {}), claims=entries),
        imagePullPolicy="IfNotPresent",
        restartPolicy=restart_policy,
    )


def pod(
    name: str, *, claims: ClaimNames | None = None, templates: ClaimNames | None = None,
    containers: Sequence[Obj] = (), init_containers: Sequence[Obj] = (), image: str = DEFAULT_IMAGE,
    command: Sequence[str] = FOREVER, requests: Mapping[str, str | int] | None = None,
    limits: Mapping[str, str | int] | None = None, pod_resources: Obj | None = None, node_name: str | None = None,
    on: str | None = None, node_selector: Mapping[str, str] | None = None, affinity: Obj | None = None,
    scheduler_name: str | None = None,
    tolerations: Sequence[Obj] = (), priority_class: str | None = None, scheduling_gates: Sequence[str] = (),
    restart_policy: RestartPolicy = "Never", pod_group: str | Obj | None = None, grace_seconds: int = 0,
    namespace: str | None = None, labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None, finalizers: tuple[str, ...] = (),
) -> Obj:  # fmt: skip
    """A Pod that sleeps until it is deleted, and then ends at once.

    `claims` maps names in the Pod to ResourceClaims, `templates` to ResourceClaimTemplates. Without `containers` there
    is one container, `main`, that uses all of them. `on` selects a node by its host name label, through the scheduler;
    `node_name` goes around it. Pods need no service account token here, so none is mounted.
    """
    entries = [{"name": key, "resourceClaimName": _name(value)} for key, value in (claims or {}).items()]
    entries += [{"name": key, "resourceClaimTemplateName": _name(value)} for key, value in (templates or {}).items()]
    main = container(
        image=image, command=command, claims=[entry["name"] for entry in entries], requests=requests, limits=limits
    )
    spec = given(
        containers=list(containers) or [main],
        initContainers=list(init_containers),
        resourceClaims=entries,
        resources=pod_resources,
        nodeName=node_name,
        nodeSelector={**(node_selector or {}), **({"kubernetes.io/hostname": on} if on else {})},
        affinity=affinity,
        schedulerName=scheduler_name,
        tolerations=list(tolerations),
        priorityClassName=priority_class,
        schedulingGates=[{"name": gate} for gate in scheduling_gates],
        schedulingGroup={"podGroupName": _name(pod_group)} if pod_group else None,
        restartPolicy=restart_policy,
        terminationGracePeriodSeconds=grace_seconds,
        automountServiceAccountToken=False,
    )
    return built("Pod", name, namespace=namespace, labels=labels, annotations=annotations, finalizers=finalizers,
                 spec=spec)  # fmt: skip


def on_node(*names: str) -> Obj:
    """An `affinity` for nodes by their names (not by label, so that a slice's node and the Pod's mean the same)."""
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]
    terms = [{"matchFields": [field]} for field in fields]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def toleration(
    key: str | None = None, *, value: str | None = None, effect: str | None = None, seconds: int | None = None
) -> Obj:
    """A toleration of node taints: Equal where a value is given, Exists otherwise."""
    operator = "Exists" if value is None else "Equal"
    return given(key=key, operator=operator, value=value, effect=effect, tolerationSeconds=seconds)


def job(
    name: str, template: Obj, *, completions: int = 1, parallelism: int | None = None, indexed: bool = False,
    backoff_limit: int = 0, scheduling: Obj | None = None, namespace: str | None = None,
) -> Obj:  # fmt: skip
    """A Job of Pods like `template` (a Pod whose own name does not matter)."""
    spec = given(
        completions=completions,
        parallelism=completions if parallelism is None else parallelism,
        completionMode="Indexed" if indexed else None,
        backoffLimit=backoff_limit,
        scheduling=scheduling,
    )
    spec["template"] = _template(template)
    return built("Job", name, namespace=namespace, spec=spec)


def deployment(name: str, template: Obj, *, replicas: int = 1, namespace: str | None = None) -> Obj:
    """A Deployment of Pods like `template`, told apart by the label `app`."""
    labels = {"app": name}
    inner = _template(template, labels)
    inner["spec"]["restartPolicy"] = "Always"
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": inner}
    return built("Deployment", name, namespace=namespace, spec=spec)


def _template(pod: Obj, labels: Mapping[str, str] | None = None) -> Obj:
    merged = {**(pod["metadata"].get("labels") or {}), **(labels or {})}
    metadata = given(labels=merged, annotations=pod["metadata"].get("annotations"))
    return given(metadata=metadata, spec=pod["spec"])


def _name(target: str | Obj) -> str:
    return target if isinstance(target, str) else str(target["metadata"]["name"])
