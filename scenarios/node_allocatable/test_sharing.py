"""A claim for mapped devices is of one Pod only, one that costs overhead may be shared (NA-10, NA-11)."""

from typing import Any

import pytest

from fake_driver.inventory import Pool
from fake_driver.profiles import accelerators, core_complexes, cpu_sockets
from harness.kube.builders import basic, claim, container, group_claim, pod, pod_group, request
from harness.kube.predicates import reserved_for, scheduled, scheduling_error, unscheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.node_allocatable.arrange import (
    Consumer,
    allocatable,
    amount,
    bound,
    charged,
    consumed,
    consumer,
    demand,
    driver_on,
    footprint,
    large_node,
    left_out,
    room_is,
)
from scenarios.node_allocatable.published import published_devices

pytestmark = [
    pytest.mark.needs("bare-nodes"),
    pytest.mark.feature("ResourceSlice.spec.devices.nodeAllocatableResources"),
]


def sharer(scenario: Scenario, held: Consumer, **options: Any) -> Object:
    """Another Pod that refers to the claim of a bound one, for the same node."""
    on = held.pod["spec"]["nodeName"]
    return scenario.create(pod("second", claims={"device": held.claim}, on=on, **options))


def not_shared(held: Consumer) -> str:
    """What the scheduler says to a second Pod."""
    name = held.claim["metadata"]["name"]
    return f"node allocatable resource claim {name} has a mapped device and cannot be shared across pods"


@pytest.mark.statement("NA-10")
@pytest.mark.parametrize("pool", [cpu_sockets(1, cpus="8"), core_complexes(1)], ids=["by-capacity", "by-device"])
def test_claim_for_a_mapped_device_is_not_shared(scenario: Scenario, difference: Difference, pool: Pool) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, accelerators() if difference("the device only costs overhead") else pool)
    held = bound(scenario, consumer(scenario, driver, node, "first"))

    second = sharer(scenario, held)

    left_out(scenario, second, not_shared(held))
    assert not reserved_for(second)(scenario.get(held.claim))


@pytest.mark.control("NA-10")
def test_claim_for_a_device_that_only_costs_overhead_is_shared(scenario: Scenario) -> None:
    node = large_node(scenario)
    held = bound(scenario, consumer(scenario, driver_on(scenario, node, accelerators()), node, "first"))

    second = scenario.wait(sharer(scenario, held), scheduled(node))

    scenario.wait(held.claim, reserved_for(held.pod) & reserved_for(second))


@pytest.mark.statement("NA-10")
@pytest.mark.deviates("NA-10", "a member of a PodGroup that comes later shares the mapped claim of the group")
def test_later_member_of_a_group_shares_its_mapped_claim(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, cpu_sockets(1))
    shared = scenario.create(claim("shared", request(driver.device_class, capacity={"cpu": 8})))
    group = scenario.create(pod_group("group", basic(), claims=[group_claim("device", claim="shared")]))
    first = scenario.create(pod("first", claims={"device": shared}, on=node, pod_group=group))
    held = bound(scenario, Consumer(first, shared))
    assert reserved_for(group)(held.claim), "the claim is not the group's"

    second = sharer(scenario, held, pod_group=None if difference("the Pod is of no group") else group)

    outcome = scenario.wait(second, scheduled(), timeout=15)
    taken = consumed(held.claim, "cpu")
    assert demand(outcome) == demand(held.pod) == {"cpu": taken}
    # What there is once has been taken from the node twice.
    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu") - 2 * taken)


@pytest.mark.statement("NA-10")
@pytest.mark.deviates("NA-10", "a Pod that names its node shares the mapped claim, and is not counted")
def test_pod_with_a_node_name_shares_a_mapped_claim(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario)
    held = bound(scenario, consumer(scenario, driver_on(scenario, node, core_complexes(1)), node, "first"))

    second = sharer(scenario, held, node_name=None if difference("the Pod goes through the scheduler") else node)

    outcome = scenario.wait(second, scheduled(node), timeout=10)
    scenario.wait(held.claim, reserved_for(held.pod) & reserved_for(second))
    assert footprint(outcome) == []


@pytest.mark.statement("NA-09")
@pytest.mark.deviates(
    "NA-09",
    "a container that names two requests of one claim stands twice in the status, which the API server refuses",
)
def test_container_with_two_requests_of_a_claim_is_never_bound(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, core_complexes(2))
    both = claim("both", request(driver.device_class, "one"), request(driver.device_class, "two"))
    uses = ["device"] if difference("the container names the whole claim") else [("device", "one"), ("device", "two")]

    made = scenario.create(
        pod("user", claims={"device": scenario.create(both)}, on=node, containers=[container(claims=uses)])
    )

    outcome = scenario.wait(made, scheduling_error("nodeAllocatableResourceClaimStatuses") | scheduled())
    assert unscheduled()(outcome), "the Pod was bound"
    assert footprint(outcome) == []


@pytest.mark.statement("NA-11")
@pytest.mark.parametrize(
    "pool", [accelerators(), accelerators(per_pod=None, per_container="2Gi")], ids=["pod", "container"]
)
def test_every_pod_that_shares_the_claim_pays_its_own_overhead(
    scenario: Scenario, difference: Difference, pool: Pool
) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, pool)
    held = bound(scenario, consumer(scenario, driver, node, "first"))
    uses = [] if difference("the second Pod does not use the claim") else ["device"]
    claims = {"device": held.claim} if uses else {}
    two = [container(name, claims=uses) for name in ("a", "b")]

    second = scenario.create(pod("second", claims=claims, on=node, containers=two))

    pods = [held.pod, scenario.wait(second, scheduled(node))]
    (device,) = published_devices(scenario, driver)
    cost = device["nodeAllocatableResources"]["memory"]["overhead"]
    per_pod, per_container = amount(cost.get("perPod", "0")), amount(cost.get("perContainer", "0"))
    assert [demand(found).get("memory") for found in pods] == [per_pod + per_container, per_pod + 2 * per_container]
    assert [footprint(found)[0]["overhead"] for found in pods] == [[{"name": "memory", **cost}]] * 2
    room_is(
        scenario,
        node,
        "memory",
        allocatable(scenario, node, "memory") - sum(charged(found, "memory") for found in pods),
    )


@pytest.mark.control("NA-11")
def test_second_pod_waits_where_there_is_room_for_one_overhead(scenario: Scenario) -> None:
    node = large_node(scenario, memory="12Gi")
    held = bound(scenario, consumer(scenario, driver_on(scenario, node, accelerators()), node, "first"))

    second = sharer(scenario, held)

    left_out(scenario, second, "Insufficient memory")
    assert not reserved_for(second)(scenario.get(held.claim))
