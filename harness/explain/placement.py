"""Which nodes a Pod may use, as far as the node itself decides: selector, affinity, taints."""

from collections.abc import Callable, Iterable, Mapping

from harness.explain.model import Finding, some
from harness.explain.snapshot import Snapshot
from harness.kube.predicates import find_condition
from harness.kube.resources import Obj

_OPERATORS: Mapping[str, Callable[[str | None, list[str]], bool]] = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, _: value is not None,
    "DoesNotExist": lambda value, _: value is None,
    "Gt": lambda value, values: value is not None and int(value) > int(values[0]),
    "Lt": lambda value, values: value is not None and int(value) < int(values[0]),
}


def selects(selector: Obj, node: Obj) -> bool:
    """Whether a NodeSelector matches: one of its terms, and all of that."""
    return any(_term(term, node) for term in selector.get("nodeSelectorTerms") or ())


def _term(term: Obj, node: Obj) -> bool:
    labels = node["metadata"].get("labels") or {}
    fields = {"metadata.name": node["metadata"]["name"]}
    expressions = [(labels, each) for each in term.get("matchExpressions") or ()]
    expressions += [(fields, each) for each in term.get("matchFields") or ()]
    return bool(expressions) and all(
        _OPERATORS[each["operator"]](values.get(each["key"]), each.get("values") or []) for values, each in expressions
    )


def matches(pod: Obj, node: Obj) -> bool:
    """The Pod's nodeSelector and required node affinity match."""
    labels = node["metadata"].get("labels") or {}
    wanted = pod["spec"].get("nodeSelector") or {}
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return all(labels.get(key) == value for key, value in wanted.items()) and (not required or selects(required, node))


def repelling(pod: Obj, node: Obj) -> list[Obj]:
    """The node's taints that keep the Pod away."""
    taints = [taint for taint in node["spec"].get("taints") or () if taint["effect"] in ("NoSchedule", "NoExecute")]
    tolerations = pod["spec"].get("tolerations") or ()
    return [taint for taint in taints if not any(tolerates(toleration, taint) for toleration in tolerations)]


def tolerates(toleration: Obj, taint: Obj) -> bool:
    """Whether a toleration, of a Pod or of a request, matches a taint, of a node or of a device."""
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("key") not in (None, "", taint["key"]):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return (toleration.get("value") or "") == (taint.get("value") or "")


def eligible(snapshot: Snapshot, pod: Obj) -> list[Obj]:
    """The nodes on which nothing about the node itself keeps the Pod away."""
    return [node for node in snapshot.all("Node") if matches(pod, node) and not repelling(pod, node)]


def show(taint: Obj) -> str:
    """`key=value:effect`."""
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"


def no_node(snapshot: Snapshot, pod: Obj) -> list[Finding]:
    """No node may take the Pod, whatever it has left."""
    nodes = snapshot.all("Node")
    if not snapshot.knows("Node") or eligible(snapshot, pod):
        return []
    matching = [node for node in nodes if matches(pod, node)]
    if not matching:
        return [
            Finding(
                "node-selector",
                f"none of the {len(nodes)} nodes matches the Pod's node selector or affinity",
                (f"it asks for {_wish(pod)}", f"nodes: {some(node['metadata']['name'] for node in nodes)}"),
                "label a node so, or change the Pod's nodeSelector or affinity",
            )
        ]
    facts = tuple(
        f"node {node['metadata']['name']} has {some(show(taint) for taint in repelling(pod, node))}"
        for node in matching[:6]
    )
    down = [node["metadata"]["name"] for node in matching if not is_ready(node)]
    if len(down) == len(matching):
        return [
            Finding(
                "node-not-ready",
                f"no node that the Pod may use is Ready: {some(down)}",
                facts,
                "bring the node back: see its kubelet and `kubectl describe node`",
            )
        ]
    return [
        Finding(
            "node-taints",
            f"every node that the Pod may use has a taint that it does not tolerate: {some(_names(matching))}",
            facts,
            "tolerate the taint in the Pod, or remove it from a node",
        )
    ]


def is_ready(node: Obj) -> bool:
    """The node's kubelet is there."""
    return (find_condition(node, "Ready") or {}).get("status") == "True"


def _wish(pod: Obj) -> str:
    labels = pod["spec"].get("nodeSelector") or {}
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    parts = [f"{key}={value}" for key, value in labels.items()]
    parts += [
        " and ".join(
            f"{each['key']} {each['operator']} {', '.join(each.get('values') or ())}".strip()
            for each in (*(term.get("matchExpressions") or ()), *(term.get("matchFields") or ()))
        )
        for term in required.get("nodeSelectorTerms") or ()
    ]
    return "; ".join(parts)


def _names(nodes: Iterable[Obj]) -> list[str]:
    return [node["metadata"]["name"] for node in nodes]
