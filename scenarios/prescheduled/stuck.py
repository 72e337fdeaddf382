"""Pods that are on a node although nobody has seen to their claims: the kubelet holds them back."""

from collections.abc import Sequence

from harness.kube.builders import claim, pod, request
from harness.kube.client import event_selector
from harness.kube.predicates import Predicate, allocated, event, pending, running
from harness.plugin.scenario import Object, Scenario

#: The reason of the kubelet's Events about devices that it cannot prepare.
NOT_PREPARED = "FailedPrepareDynamicResources"

#: Seconds within which a kubelet tries again: syncFrequency (2 s in the profiles), up to half as much more by chance,
#: and time to spare.
NEXT_TRY = 20.0


def not_allowed(consumer: Object, wanted: Object) -> str:
    """What the kubelet says of a Pod for which the claim is not reserved."""
    names = [f"{obj['metadata']['name']} ({obj['metadata']['uid']})" for obj in (consumer, wanted)]
    return f"pod {names[0]} is not allowed to use ResourceClaim {names[1]}"


def held_back(scenario: Scenario, consumer: Object, why: str) -> None:
    """The kubelet says why it does not run the Pod; the Pod stays on its node, Pending."""
    scenario.wait_event(consumer, NOT_PREPARED, why, timeout=15)
    assert pending()(scenario.get(consumer)), "the kubelet runs the Pod although it has complained about its claim"


def failures(scenario: Scenario, consumer: Object, count: int) -> None:
    """Wait until the kubelet has tried in vain so many times."""

    def tries(events: Sequence[Object]) -> bool:
        return sum(found.get("count") or 1 for found in events if event(NOT_PREPARED)(found)) >= count

    predicate = Predicate(f"{count} failed tries of the kubelet", tries)
    timeout = NEXT_TRY * count
    scenario.waiter.wait_any("Event", predicate, timeout, field_selector=event_selector(consumer))


def unallocated_claim(scenario: Scenario, device_class: str) -> Object:
    """A claim for one GPU that nobody has seen to."""
    return scenario.create(claim("wanted", request(device_class)))


def running_holder(scenario: Scenario, held: Object) -> Object:
    """A Pod that went through the scheduler, and so had the claim allocated on the scenario's node."""
    holder = scenario.create(pod("holder", claims={"gpu": held}, on=scenario.node))
    scenario.wait(held, allocated())
    return scenario.wait(holder, running())


def writers_of_status(obj: Object) -> set[str]:
    """The field managers of the object's status."""
    return {entry["manager"] for entry in obj["metadata"]["managedFields"] if entry.get("subresource") == "status"}
