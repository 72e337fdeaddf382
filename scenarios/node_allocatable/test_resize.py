"""Resize of a running Pod that has node allocatable resources through a claim (NA-12, NA-13)."""

from decimal import Decimal

import pytest

from fake_driver.profiles import cpu_sockets, memory_blocks
from harness.kube.builders import pod
from harness.kube.predicates import Predicate, condition, find_condition, running
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.node_allocatable.arrange import (
    Consumer,
    allocatable,
    amount,
    bound,
    charged,
    consumer,
    demand,
    driver_on,
    footprint,
    large_node,
    left_out,
    ordinary,
    quantity,
    requested,
)
from scenarios.taint.refusals import refused

PENDING = "PodResizePending"

#: A share of a node's memory beside which there is room for most of it.
SMALL = Decimal("0.02")


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
    whole = allocatable(scenario, node, "memory")
    size = quantity((whole * share).to_integral_value())
    driver = scenario.driver(memory_blocks(1, size), nodes=[node])
    made = consumer(scenario, driver, node, requests={"memory": "16Mi"})
    return Consumer(scenario.wait(made.pod, running()), scenario.get(made.claim))


def most_of_the_memory(scenario: Scenario, on: Object) -> Decimal:
    """What would fit on a Pod's node beside small Pods of others, but not beside a claim for 0.3 of it."""
    return (allocatable(scenario, on["spec"]["nodeName"], "memory") * Decimal("0.8")).to_integral_value()


@pytest.mark.statement("NA-12")
@pytest.mark.needs("kubelet")
def test_requests_of_a_running_pod_with_a_claim_can_be_resized(scenario: Scenario, difference: Difference) -> None:
    made = user_of_memory(scenario, SMALL)
    (before,) = made.pod["status"]["containerStatuses"]
    wanted = "16Mi" if difference("the request stays as it is") else "32Mi"

    accepted = resize(scenario, made.pod, memory=wanted)

    assert requested(accepted)["memory"] == amount("32Mi")
    (after,) = scenario.wait(made.pod, has("memory", amount("32Mi")))["status"]["containerStatuses"]
    assert (after["containerID"], after["restartCount"]) == (before["containerID"], 0)
    assert scenario.get(made.claim)["status"]["allocation"] == made.claim["status"]["allocation"]
    assert footprint(scenario.get(made.pod)) == footprint(made.pod) != []


@pytest.mark.control("NA-12")
@pytest.mark.needs("kubelet")
def test_resize_does_not_touch_what_the_claim_brings(scenario: Scenario) -> None:
    made = user_of_memory(scenario, SMALL)
    (container,) = made.pod["spec"]["containers"]
    without = {**container["resources"], "claims": []}
    patch = [{"op": "replace", "path": "/spec/containers/0/resources", "value": without}]

    refused(lambda: scenario.client.patch(made.pod, patch, type="json", subresource="resize"), "spec")

    assert scenario.get(made.claim)["status"]["allocation"] == made.claim["status"]["allocation"]
    assert footprint(scenario.get(made.pod)) == footprint(made.pod) != []


@pytest.mark.statement("NA-13")
@pytest.mark.deviates("NA-13", "the kubelet defers the resize, the scheduler only counts it")
@pytest.mark.needs("kubelet")
def test_kubelet_puts_off_a_resize_that_does_not_fit_beside_the_claim(
    scenario: Scenario, difference: Difference
) -> None:
    made = user_of_memory(scenario, SMALL if difference("the claim has little memory") else Decimal("0.3"))
    wanted = most_of_the_memory(scenario, made.pod)

    resize(scenario, made.pod, memory=quantity(wanted))

    outcome = scenario.wait(made.pod, condition(PENDING) | has("memory", wanted))
    pending = find_condition(outcome, PENDING)
    assert pending, "the resize was carried out"
    need = wanted + demand(made.pod)["memory"]
    assert f"requested: {need}" in pending["message"], pending["message"]
    assert has("memory", amount("16Mi"))(outcome)
    assert footprint(outcome) == footprint(made.pod)


@pytest.mark.control("NA-13")
@pytest.mark.needs("kubelet")
@pytest.mark.parametrize("share", [Decimal(0), SMALL], ids=["no-claim", "small-claim"])
def test_resize_that_fits_beside_the_claim_is_carried_out(scenario: Scenario, share: Decimal) -> None:
    if share:
        running_pod = user_of_memory(scenario, share).pod
    else:
        alone = scenario.create(pod("alone", on=scenario.node, requests={"memory": "16Mi"}))
        running_pod = scenario.wait(alone, running())
    wanted = most_of_the_memory(scenario, running_pod)

    resize(scenario, running_pod, memory=quantity(wanted))

    outcome = scenario.wait(running_pod, has("memory", wanted) & ~condition(PENDING))
    assert charged(outcome, "memory") == wanted + demand(running_pod).get("memory", Decimal(0))


@pytest.mark.statement("NA-13")
@pytest.mark.deviates("NA-13", "the scheduler takes a resize beyond the node as it is, and only counts it")
@pytest.mark.needs("bare-nodes")
def test_scheduler_counts_a_resize_beyond_the_node_and_refuses_nothing(
    scenario: Scenario, difference: Difference
) -> None:
    node = large_node(scenario)
    counted = not difference("the device takes little of the node")
    driver = driver_on(scenario, node, cpu_sockets(1))
    held = bound(
        scenario, consumer(scenario, driver, node, capacity={"cpu": 40 if counted else 4}, requests={"cpu": 1})
    )

    resized = resize(scenario, held.pod, cpu="32")

    # No kubelet is there to look at it.
    left_out(scenario, ordinary(scenario, node, "least", {"cpu": Decimal("0.001")}), "Insufficient cpu")
    now = scenario.get(held.pod)
    assert requested(now) == requested(resized) == {"cpu": 32}
    assert charged(now, "cpu") > allocatable(scenario, node, "cpu")
    assert find_condition(now, PENDING) is None


@pytest.mark.statement("NA-13")
@pytest.mark.needs("bare-nodes")
def test_resize_beyond_the_resources_of_the_whole_pod_is_refused(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, cpu_sockets(1))
    held = bound(
        scenario,
        consumer(
            scenario,
            driver,
            node,
            capacity={"cpu": 3},
            pod_resources={"requests": {"cpu": 5}},
            requests={"cpu": 2},
        ),
    )
    assert requested(held.pod)["cpu"] + demand(held.pod)["cpu"] == 5

    wanted = "2" if difference("the sum stays what the whole Pod requests") else "2001m"
    refused(lambda: resize(scenario, held.pod, cpu=wanted), "spec.resources")
