"""How much a claim takes of its node: by capacity, by device, per Pod and per container (NA-18 to NA-21)."""

import pytest

from fake_driver.profiles import accelerators, core_complexes, cpu_sockets
from harness.drivers import Driver
from harness.kube.builders import container, pod
from harness.kube.predicates import scheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.node_allocatable.arrange import (
    Consumer,
    allocatable,
    amount,
    bound,
    consumed,
    consumer,
    demand,
    driver_on,
    footprint,
    large_node,
    room_is,
)
from scenarios.node_allocatable.published import multiplier_of, published_devices

overhead_known = pytest.mark.feature("ResourceSlice.spec.devices.nodeAllocatableResources")


def users(using: int, of: int) -> list[Object]:
    """So many containers, the first `using` of which refer to the Pod's claim."""
    return [container(f"c{index}", claims=["device"] if index < using else []) for index in range(of)]


def with_users(scenario: Scenario, driver: Driver, node: str, using: int, of: int) -> Consumer:
    """A bound Pod of `of` containers, `using` of which refer to its claim."""
    name = f"{using}-of-{of}"
    return bound(scenario, consumer(scenario, driver, node, name, containers=users(using, of)))


@pytest.mark.statement("NA-18")
def test_mapping_by_capacity_is_what_is_consumed_times_the_multiplier(
    scenario: Scenario, difference: Difference
) -> None:
    node = large_node(scenario)
    multiplier = "1" if difference("the multiplier is 1") else "2"
    driver = driver_on(scenario, node, cpu_sockets(1, multiplier=multiplier))

    made = bound(scenario, consumer(scenario, driver, node, capacity={"cpu": 8}))

    taken = consumed(made.claim, "cpu")
    assert taken == 8
    assert demand(made.pod) == {"cpu": 2 * taken}
    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu") - 2 * taken)


@pytest.mark.control("NA-18")
@pytest.mark.parametrize("multiplier", ["1", "500m", "1500m"])
def test_another_multiplier_takes_another_amount(scenario: Scenario, multiplier: str) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, cpu_sockets(1, multiplier=multiplier))

    made = bound(scenario, consumer(scenario, driver, node, capacity={"cpu": 7}))

    (device,) = published_devices(scenario, driver)
    written = amount(multiplier_of(device, "cpu"))
    taken = consumed(made.claim, "cpu") * written
    assert taken == 7 * amount(multiplier)
    assert demand(made.pod) == {"cpu": taken}
    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu") - taken)


@pytest.mark.statement("NA-19")
def test_mapping_by_device_is_the_number_of_devices_times_the_multiplier(
    scenario: Scenario, difference: Difference
) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, core_complexes(4, cpus="8"))
    count = 1 if difference("the claim asks for one device") else 2

    made = bound(scenario, consumer(scenario, driver, node, count=count))

    each = amount(multiplier_of(published_devices(scenario, driver)[0], "cpu"))
    assert demand(made.pod) == {"cpu": 2 * each}
    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu") - 2 * each)


@pytest.mark.control("NA-19")
def test_one_device_takes_one_multiplier(scenario: Scenario) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, core_complexes(4, cpus="8"))

    made = bound(scenario, consumer(scenario, driver, node, count=1))

    assert demand(made.pod) == {"cpu": 8}
    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu") - 8)


@overhead_known
@pytest.mark.statement("NA-20")
def test_overhead_per_pod_does_not_grow_with_the_containers(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario)
    per_container = difference("the overhead is per container")
    pool = accelerators(2, None, "8Gi") if per_container else accelerators(2, "8Gi")
    driver = driver_on(scenario, node, pool)

    pods = [with_users(scenario, driver, node, using, using).pod for using in (1, 3)]

    cost = amount("8Gi")
    assert [demand(made) for made in pods] == [{"memory": cost}, {"memory": cost}]
    room_is(scenario, node, "memory", allocatable(scenario, node, "memory") - 2 * cost)


@overhead_known
@pytest.mark.control("NA-20")
def test_pod_without_the_claim_costs_nothing(scenario: Scenario) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, accelerators(2, "8Gi"))
    with_users(scenario, driver, node, 1, 1)

    without = scenario.wait(scenario.create(pod("without", on=node)), scheduled())

    assert footprint(without) == []
    room_is(scenario, node, "memory", allocatable(scenario, node, "memory") - amount("8Gi"))


@overhead_known
@pytest.mark.statement("NA-21")
def test_overhead_per_container_grows_with_the_containers_that_use_the_claim(
    scenario: Scenario, difference: Difference
) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, accelerators(3, None, "1Gi"))
    most = 1 if difference("one container of each Pod uses the claim") else 3

    pods = [with_users(scenario, driver, node, min(using, most), 4).pod for using in (1, 2, 3)]

    each = amount("1Gi")
    assert [demand(made)["memory"] for made in pods] == [each, 2 * each, 3 * each]
    room_is(scenario, node, "memory", allocatable(scenario, node, "memory") - 6 * each)


@overhead_known
@pytest.mark.control("NA-21")
def test_containers_that_do_not_use_the_claim_add_nothing(scenario: Scenario) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, accelerators(3, None, "1Gi"))

    pods = [with_users(scenario, driver, node, 1, of).pod for of in (1, 2, 3)]

    each = amount("1Gi")
    assert [demand(made)["memory"] for made in pods] == [each, each, each]
    assert [entry["containers"] for made in pods for entry in footprint(made)] == [["c0"]] * 3
    room_is(scenario, node, "memory", allocatable(scenario, node, "memory") - 3 * each)
