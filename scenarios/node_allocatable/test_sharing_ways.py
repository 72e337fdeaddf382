"""Suspected ways round the ban on sharing mapped devices, and two requests of one claim (XD-45, XD-47)."""

import pytest

from fake_driver.profiles import core_complexes, memory_blocks
from harness.drivers import Driver
from harness.kube.builders import basic, claim, container, gang, group_claim, pod, pod_group, request
from harness.kube.predicates import allocated, reserved_for, running, scheduled, scheduling_error
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.node_allocatable.arrange import (
    Consumer,
    allocatable,
    amount,
    bound,
    consumer,
    demand,
    driver_on,
    footprint,
    large_node,
    left_out,
    room_is,
    without_footprint,
)

BAN = "has a mapped device and cannot be shared across pods"


def joins(scenario: Scenario, first: Consumer, name: str = "second", **options: str) -> Object:
    """Another Pod with the claim of the first."""
    return scenario.create(pod(name, claims={"device": first.claim}, **options))  # type: ignore[arg-type]


@pytest.mark.statement("XD-45")
@pytest.mark.deviates("XD-45", "the controller reserves the claim for a Pod with spec.nodeName, and nobody charges it")
@pytest.mark.needs("kubelet")
def test_pod_bound_without_the_scheduler_shares_the_claim_uncharged(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(memory_blocks(1))
    first = consumer(scenario, driver, scenario.node, capacity={"memory": "16Mi"})
    scenario.wait(first.pod, running())
    through_scheduler = difference("the second Pod goes through the scheduler")

    how = {"on": scenario.node} if through_scheduler else {"node_name": scenario.node}
    second = joins(scenario, first, **how)

    runs = scenario.wait(second, running(), timeout=20)
    scenario.wait(first.claim, reserved_for(first.pod) & reserved_for(second))
    assert footprint(runs) == []


@pytest.mark.statement("XD-45")
@pytest.mark.deviates(
    "XD-45", "a claim that is reserved for the PodGroup is taken as the member's own in a later cycle"
)
@pytest.mark.needs("bare-nodes")
def test_member_of_the_group_shares_the_claim_in_a_later_cycle(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, core_complexes(1, "8"))
    shared = scenario.create(claim("shared", request(driver.device_class)))
    group = scenario.create(pod_group("group", basic(), claims=[group_claim("device", claim="shared")]))
    first = member(scenario, node, "first", shared, group)
    scenario.wait(first, scheduled(node))

    stranger = difference("the second Pod is no member")
    second = member(scenario, node, "second", shared, None if stranger else group)

    later = scenario.wait(second, scheduled(node), timeout=15)
    scenario.wait(shared, allocated() & reserved_for(group))
    assert demand(later) == demand(scenario.get(first)) == {"cpu": amount("8")}
    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu") - 16)


def member(scenario: Scenario, node: str, name: str, shared: Object, group: Object | None) -> Object:
    """A Pod with the claim, of that group."""
    return scenario.create(pod(name, claims={"device": shared}, pod_group=group, on=node))


@pytest.mark.statement("XD-45")
@pytest.mark.deviates("XD-45", "only the slice as it is now is asked whether an allocated device is mapped")
@pytest.mark.needs("bare-nodes")
def test_any_pod_shares_the_claim_once_the_device_has_lost_its_mapping(
    scenario: Scenario, difference: Difference
) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, core_complexes(1, "8"))
    first = bound(scenario, consumer(scenario, driver, node))
    second = joins(scenario, first, on=node)
    left_out(scenario, second, BAN)

    if not difference("the mapping stays"):
        lose_mapping(driver)

    uncharged = scenario.wait(second, scheduled(node), timeout=15)
    assert footprint(uncharged) == []
    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu") - demand(first.pod)["cpu"])


def lose_mapping(driver: Driver) -> None:
    """The driver publishes its devices without their footprint."""
    driver.control.set_pools([without_footprint(pool) for pool in driver.control.pools])


@pytest.mark.control("XD-45")
@pytest.mark.needs("bare-nodes")
def test_ordinary_pod_does_not_share_the_claim(scenario: Scenario) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, core_complexes(1, "8"))
    first = bound(scenario, consumer(scenario, driver, node))

    left_out(scenario, joins(scenario, first, on=node), BAN)


@pytest.mark.control("XD-45")
@pytest.mark.needs("bare-nodes")
def test_members_of_the_group_do_not_share_the_claim_in_one_cycle(scenario: Scenario) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, core_complexes(1, "8"))
    shared = scenario.create(claim("shared", request(driver.device_class)))
    group = scenario.create(pod_group("group", gang(2), claims=[group_claim("device", claim="shared")]))

    member(scenario, node, "first", shared, group)
    second = member(scenario, node, "second", shared, group)

    left_out(scenario, second, BAN)


def uses_two_requests(scenario: Scenario, driver: Driver, node: str, *, named: bool) -> Consumer:
    """A Pod whose container refers to both requests of its claim, each by its name or to the claim as a whole."""
    requests = [request(driver.device_class, name) for name in ("one", "other")]
    shared = scenario.create(claim("pair", *requests))
    entries = [("device", "one"), ("device", "other")] if named else ["device"]
    main = container(claims=entries)
    return Consumer(scenario.create(pod("user", claims={"device": shared}, containers=[main], on=node)), shared)


@pytest.mark.statement("XD-47")
@pytest.mark.deviates(
    "XD-47", "the scheduler writes the container's name twice into a set, which the API server refuses"
)
@pytest.mark.needs("bare-nodes")
def test_container_with_two_requests_of_one_claim_ends_in_an_error(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, core_complexes(2, "8"))

    whole = difference("the container refers to the claim as a whole")
    user = uses_two_requests(scenario, driver, node, named=not whole)

    twice = 'status.nodeAllocatableResourceClaimStatuses[0].containers[1]: Duplicate value: "main"'
    scenario.wait(user.pod, scheduling_error(twice), timeout=15)


@pytest.mark.control("XD-47")
@pytest.mark.needs("bare-nodes")
def test_container_with_the_whole_claim_is_charged_once(scenario: Scenario) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, core_complexes(2, "8"))

    user = bound(scenario, uses_two_requests(scenario, driver, node, named=False))

    assert demand(user.pod) == {"cpu": amount("16")}
    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu") - 16)
