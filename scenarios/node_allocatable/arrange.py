"""Nodes with room to count, Pods that get node allocatable resources through claims, and what they are charged."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

from kubernetes.utils.quantity import parse_quantity

from fake_driver.inventory import Pool, by_device
from harness.clusters.protocol import BareNode
from harness.drivers import Driver
from harness.kube import ApiError
from harness.kube.builders import claim, pod, request, resource_slice
from harness.kube.predicates import allocation_results, scheduled, tried, unschedulable, unscheduled
from harness.kube.refusals import refusal
from harness.plugin.scenario import Object, Scenario

#: The feature that a node must declare before a slice for it may say what its devices take of the node.
FEATURE = "DRANodeAllocatableResources"

#: What can be had of each resource, in the API's units: a thousandth of a CPU, a byte, a huge page.
_SMALLEST = {"cpu": Decimal("0.001"), "memory": Decimal(1)}

#: Amounts by resource, in the API's base units (CPUs, bytes).
Amounts = Mapping[str, Decimal]

# --- amounts --------------------------------------------------------------------------------------------------------


def amount(quantity: str | int | Decimal) -> Decimal:
    """A quantity of the API as a number."""
    whole: Decimal = parse_quantity(quantity)  # type: ignore[no-untyped-call]
    return whole


def quantity(number: Decimal) -> str:
    """A number as a quantity of the API."""
    return format(number.normalize(), "f")


def step(resource: str) -> Decimal:
    """The least by which two amounts of a resource can differ."""
    return _SMALLEST.get(resource) or amount(resource.removeprefix("hugepages-"))


# --- nodes and drivers ----------------------------------------------------------------------------------------------


def large_node(
    scenario: Scenario,
    name: str = "node",
    *,
    cpu: str = "64",
    memory: str = "64Gi",
    more: Mapping[str, str] | None = None,
    declares: bool = True,
) -> str:
    """A bare node of the scenario's own with this capacity (`more`: of further resources) that declares the feature."""
    (node,) = large_nodes(scenario, name, cpu=cpu, memory=memory, more=more, declares=declares)
    return node


def large_nodes(
    scenario: Scenario,
    *names: str,
    cpu: str = "64",
    memory: str = "64Gi",
    more: Mapping[str, str] | None = None,
    declares: bool = True,
) -> tuple[str, ...]:
    """As `large_node`, several of a kind."""
    capacity = {"cpu": cpu, "memory": memory, "pods": "110", **(more or {})}
    features = [FEATURE] if declares else []
    nodes = scenario.bare_nodes(*(BareNode(name, capacity, declared_features=features) for name in names))
    if declares:
        for node in nodes:
            _admitted(scenario, node)
    return nodes


def _admitted(scenario: Scenario, node: str) -> None:
    """The API server's admission has been told of the node and its features, by a watch of its own."""
    footprint = {"name": "device", "nodeAllocatableResources": {"cpu": by_device("1")}}
    attempt = resource_slice(node, "admission.example.com", [footprint], node=node)

    def taken() -> bool:
        try:
            scenario.client.create(attempt, dry_run=True)
        except ApiError as error:
            if error.status != 403:
                raise
            return False
        return True

    scenario.waiter.poll(taken, bool, f"slices with a footprint on {node} are admitted", interval=0.02)


def without_footprint(pool: Pool) -> Pool:
    """The same devices, which take nothing of the node."""
    return replace(pool, devices=tuple(replace(device, node_allocatable_resources={}) for device in pool.devices))


def driver_on(scenario: Scenario, node: str, *pools: Pool) -> Driver:
    """A driver whose devices are on that bare node."""
    return scenario.driver(*pools, nodes=[node], plugin=False)


# --- Pods -----------------------------------------------------------------------------------------------------------


class Consumer(NamedTuple):
    """A Pod and its one claim, which the Pod calls `device`."""

    pod: Object
    claim: Object


def consumer(
    scenario: Scenario,
    driver: Driver,
    node: str,
    name: str = "consumer",
    *,
    count: int | None = None,
    capacity: Mapping[str, str | int] | None = None,
    **pod_options: Any,
) -> Consumer:
    """A Pod for that node with a claim for devices of the driver; `capacity` is what it asks of a shared device."""
    wanted = scenario.create(claim(name, request(driver.device_class, count=count, capacity=capacity)))
    return Consumer(scenario.create(pod(name, claims={"device": wanted}, on=node, **pod_options)), wanted)


def bound(scenario: Scenario, made: Consumer) -> Consumer:
    """The Pod is bound; both as they are then."""
    return Consumer(scenario.wait(made.pod, scheduled()), scenario.get(made.claim))


def ordinary(scenario: Scenario, node: str, name: str, amounts: Amounts) -> Object:
    """A Pod without claims, for that node, that requests these amounts."""
    return scenario.create(pod(name, on=node, **_spec(amounts)))


def _spec(amounts: Amounts) -> dict[str, Any]:
    wanted = {resource: quantity(number) for resource, number in amounts.items()}
    if not any(resource.startswith("hugepages-") for resource in wanted):
        return {"requests": wanted}
    # The API takes huge pages only as a limit, and only beside some cpu or memory.
    return {"requests": {"memory": "1"} | wanted, "limits": wanted}


def left_out(scenario: Scenario, waiter: Object, message: str) -> Object:
    """The Pod is not bound, and the scheduler says why; returns it as it was then."""
    outcome = scenario.wait(waiter, unschedulable(message) | scheduled())
    assert unscheduled()(outcome), f"the Pod was bound to {outcome['spec'].get('nodeName')}"
    return outcome


# --- what the API says ----------------------------------------------------------------------------------------------


def footprint(pod: Object) -> list[Object]:
    """`status.nodeAllocatableResourceClaimStatuses` of a Pod, empty where it has none, in the shape of 1.37."""
    entries: list[Object] = (pod.get("status") or {}).get("nodeAllocatableResourceClaimStatuses") or []
    return [_mapped(entry) for entry in entries]


def _mapped(entry: Object) -> Object:
    """The entry with its mapping as a list; releases that know nothing beside have it as `resources`."""
    if "resources" not in entry:
        return entry
    rest = {name: value for name, value in entry.items() if name != "resources"}
    return {**rest, "mapping": [{"name": name, "quantity": each} for name, each in sorted(entry["resources"].items())]}


def demand(pod: Object) -> Amounts:
    """What a Pod gets of each node allocatable resource through its claims, as its status says."""
    total: dict[str, Decimal] = defaultdict(Decimal)
    for entry in footprint(pod):
        for mapped in entry.get("mapping") or ():
            total[mapped["name"]] += amount(mapped["quantity"])
        for cost in entry.get("overhead") or ():
            per_container = amount(cost.get("perContainer", "0")) * len(entry.get("containers") or ())
            total[cost["name"]] += amount(cost.get("perPod", "0")) + per_container
    return dict(total)


def requested(pod: Object) -> Amounts:
    """What the containers of a Pod's spec request together (for Pods without init containers)."""
    total: dict[str, Decimal] = defaultdict(Decimal)
    for container in pod["spec"]["containers"]:
        for resource, wanted in ((container.get("resources") or {}).get("requests") or {}).items():
            total[resource] += amount(wanted)
    return dict(total)


def consumed(claim: Object, capacity: str) -> Decimal:
    """What an allocated claim consumes of a capacity of its devices."""
    parts = [(result.get("consumedCapacity") or {}).get(capacity, "0") for result in allocation_results(claim)]
    return sum(map(amount, parts), Decimal(0))


def allocatable(scenario: Scenario, node: str, resource: str) -> Decimal:
    """`status.allocatable` of a node."""
    return amount(scenario.client.get("Node", node)["status"]["allocatable"][resource])


def free(scenario: Scenario, node: str, resource: str) -> Decimal:
    """What the node has left by the API's own numbers: allocatable, less requests and demand of its Pods."""
    pods, _ = scenario.client.list("Pod", "", field_selector=f"spec.nodeName={node}")
    return allocatable(scenario, node, resource) - sum((charged(pod, resource) for pod in pods), Decimal(0))


def charged(pod: Object, resource: str) -> Decimal:
    """What a Pod costs its node of a resource: its requests and its demand."""
    return requested(pod).get(resource, Decimal(0)) + demand(pod).get(resource, Decimal(0))


def room_is(scenario: Scenario, node: str, resource: str, expected: Decimal) -> tuple[Object, Object]:
    """The scheduler has exactly this much of the resource left on the node.

    A Pod that asks for the least more is refused, one that asks for just this is bound. Returns both; they stay.
    """
    excess = ordinary(scenario, node, f"excess-{resource.lower()}", {resource: expected + step(resource)})
    left_out(scenario, excess, f"Insufficient {resource}")
    exact = ordinary(scenario, node, f"exact-{resource.lower()}", {resource: expected})
    outcome = scenario.wait(exact, tried())
    assert scheduled()(outcome), f"there is less room than {expected} of {resource}"
    return excess, exact


def forbidden(attempt: Callable[[], object], message: str) -> None:
    """Admission does not let the slice in, and says why."""
    said = refusal(attempt)
    assert said.status == 403, f"refused, but not forbidden: {said}"
    assert message in said.message
