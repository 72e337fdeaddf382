"""Resize of a running Pod that has node allocatable resources through a claim (NA-12, NA-13).

A resize is carried out only where the kubelet manages cgroups: without them (`cgroupsPerQOS: false`) a kubelet 1.37.2
that carries one out panics. So what needs no cgroups here asks only for what the kubelet puts off, or takes it back.
"""

from decimal import Decimal

import pytest

from fake_driver.profiles import memory_blocks
from harness.kube.predicates import Predicate, condition, find_condition, running
from harness.kube.refusals import refused
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.node_allocatable.arrange import (
    Consumer,
    allocatable,
    amount,
    charged,
    consumer,
    demand,
    footprint,
    left_out,
    ordinary,
    quantity,
    requested,
)

pytestmark = [pytest.mark.needs("kubelet"), pytest.mark.feature("ResourceSlice.spec.devices.nodeAllocatableResources")]

PENDING = "PodResizePending"

#: A share of a node's memory beside which there is room for most of it, and one beside which there is not.
SMALL, LARGE = Decimal("0.02"), Decimal("0.3")

#: What the Pods request of memory at first.
AT_FIRST = "16Mi"


def resize(scenario: Scenario, target: Object, **requests: str) -> Object:
    """Ask for other requests of the one container of a Pod."""
    wanted = {"spec": {"containers": [{"name": "main", "resources": {"requests": requests}}]}}
    return scenario.client.patch(target, wanted, type="strategic", subresource="resize")


def has(resource: str, number: Decimal) -> Predicate[Object]:
    """The container's status shows that this request is in force."""

    def test(found: Object) -> bool:
        (status,) = found["status"].get("containerStatuses") or [{}]
        shown = (status.get("resources") or {}).get("requests") or {}
        return resource in shown and amount(shown[resource]) == number

    return Predicate(f"has requests.{resource} {number} in its status", test)


def user_of_memory(scenario: Scenario, share: Decimal) -> Consumer:
    """A running Pod with a small request that has this share of its node's memory through its claim."""
    node = scenario.node
    size = quantity((allocatable(scenario, node, "memory") * share).to_integral_value())
    driver = scenario.driver(memory_blocks(1, size), nodes=[node])
    made = consumer(scenario, driver, node, requests={"memory": AT_FIRST})
    return Consumer(scenario.wait(made.pod, running()), scenario.get(made.claim))


def most_of_the_memory(scenario: Scenario, on: Object) -> Decimal:
    """What would fit on a Pod's node beside small Pods of others, but not beside a large share."""
    return (allocatable(scenario, on["spec"]["nodeName"], "memory") * Decimal("0.8")).to_integral_value()


@pytest.mark.statement("NA-12")
@pytest.mark.needs("cgroup")
def test_requests_of_a_running_pod_with_a_claim_can_be_resized(scenario: Scenario, difference: Difference) -> None:
    made = user_of_memory(scenario, SMALL)
    (before,) = made.pod["status"]["containerStatuses"]
    wanted = AT_FIRST if difference("the request stays as it is") else "32Mi"

    accepted = resize(scenario, made.pod, memory=wanted)

    assert requested(accepted)["memory"] == amount("32Mi")
    (after,) = scenario.wait(made.pod, has("memory", amount("32Mi")))["status"]["containerStatuses"]
    assert (after["containerID"], after["restartCount"]) == (before["containerID"], 0)
    assert scenario.get(made.claim)["status"]["allocation"] == made.claim["status"]["allocation"]
    assert footprint(scenario.get(made.pod)) == footprint(made.pod) != []


@pytest.mark.control("NA-12")
def test_resize_does_not_touch_what_the_claim_brings(scenario: Scenario) -> None:
    made = user_of_memory(scenario, SMALL)
    (container,) = made.pod["spec"]["containers"]
    without = {name: part for name, part in container["resources"].items() if name != "claims"}
    patch = [{"op": "replace", "path": "/spec/containers/0/resources", "value": without}]

    refused(lambda: scenario.client.patch(made.pod, patch, type="json", subresource="resize"), "spec")

    assert scenario.get(made.claim)["status"]["allocation"] == made.claim["status"]["allocation"]
    assert footprint(scenario.get(made.pod)) == footprint(made.pod) != []


@pytest.mark.statement("NA-13")
@pytest.mark.deviates("NA-13", "it is the kubelet that puts the resize off; the scheduler takes it, and counts it")
def test_kubelet_puts_off_a_resize_that_does_not_fit_beside_the_claim(
    scenario: Scenario, difference: Difference
) -> None:
    made = user_of_memory(scenario, LARGE)
    most = most_of_the_memory(scenario, made.pod)
    wanted = amount(AT_FIRST) if difference("the Pod asks for what it has") else most

    resize(scenario, made.pod, memory=quantity(wanted))

    outcome = scenario.wait(made.pod, condition(PENDING, "True", "Deferred"), timeout=15)
    need = wanted + demand(made.pod)["memory"]
    assert need > allocatable(scenario, made.pod["spec"]["nodeName"], "memory") > wanted
    assert f"requested: {need}" in (find_condition(outcome, PENDING) or {})["message"]
    assert ~has("memory", wanted)(outcome)
    assert footprint(outcome) == footprint(made.pod) != []
    assert scenario.wait_event(made.pod, "ResizeDeferred")["source"]["component"] == "kubelet"
    # The scheduler has seen the resize: by its account the node is full.
    least = ordinary(scenario, made.pod["spec"]["nodeName"], "least", {"memory": Decimal(1)})
    left_out(scenario, least, "Insufficient memory")
    assert charged(scenario.get(made.pod), "memory") == need


@pytest.mark.control("NA-13")
def test_resize_that_is_taken_back_is_no_longer_pending(scenario: Scenario) -> None:
    made = user_of_memory(scenario, LARGE)
    resize(scenario, made.pod, memory=quantity(most_of_the_memory(scenario, made.pod)))
    scenario.wait(made.pod, condition(PENDING))

    resize(scenario, made.pod, memory=AT_FIRST)

    outcome = scenario.wait(made.pod, ~condition(PENDING))
    assert charged(outcome, "memory") == amount(AT_FIRST) + demand(made.pod)["memory"]


@pytest.mark.control("NA-13")
@pytest.mark.needs("cgroup")
def test_resize_that_fits_beside_the_claim_is_carried_out(scenario: Scenario) -> None:
    made = user_of_memory(scenario, SMALL)
    wanted = most_of_the_memory(scenario, made.pod)

    resize(scenario, made.pod, memory=quantity(wanted))

    outcome = scenario.wait(made.pod, has("memory", wanted) & ~condition(PENDING))
    assert charged(outcome, "memory") == wanted + demand(made.pod)["memory"]


@pytest.mark.statement("NA-13")
def test_resize_beyond_the_resources_of_the_whole_pod_is_refused(scenario: Scenario, difference: Difference) -> None:
    node = scenario.node
    driver = scenario.driver(memory_blocks(1, "64Mi"), nodes=[node])
    level = {"requests": {"memory": "80Mi"}}
    made = consumer(scenario, driver, node, requests={"memory": AT_FIRST}, pod_resources=level)
    held = scenario.wait(made.pod, running())
    assert charged(held, "memory") == amount(held["spec"]["resources"]["requests"]["memory"])

    more = requested(held)["memory"] + (0 if difference("the Pod asks for what it has") else 1)
    refused(lambda: resize(scenario, held, memory=quantity(more)), "spec.resources")
