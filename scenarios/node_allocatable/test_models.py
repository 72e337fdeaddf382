"""Two models of what a device takes of its node: it is made of it, or costs it (NA-03 to NA-05, NA-17)."""

from dataclasses import replace

import pytest

from fake_driver.inventory import Pool, by_capacity, overhead
from fake_driver.profiles import accelerators, cpu_sockets, memory_blocks
from harness.drivers import Driver
from harness.kube.builders import claim, container, pod, request
from harness.kube.predicates import scheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.node_allocatable.arrange import (
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
    without_footprint,
)
from scenarios.node_allocatable.published import published_devices

pytestmark = pytest.mark.needs("bare-nodes")
overhead_known = pytest.mark.feature("ResourceSlice.spec.devices.nodeAllocatableResources")

MAPPED = [
    pytest.param(cpu_sockets(), "cpu", "4", id="cpu"),
    pytest.param(memory_blocks(), "memory", "4Gi", id="memory"),
]

#: CPUs that cost memory as well, and CPUs for their administration.
COSTLY_CPUS = Pool(
    devices=[
        replace(
            cpu_sockets().devices[0],
            node_allocatable_resources={"cpu": by_capacity("cpu") | overhead("1"), "memory": overhead("1Gi", "256Mi")},
        )
    ]
)


@pytest.mark.statement("NA-04")
@pytest.mark.parametrize(("pool", "resource", "wanted"), MAPPED)
def test_what_a_claim_gets_of_a_mapped_device_is_charged_to_the_node(
    scenario: Scenario, difference: Difference, pool: Pool, resource: str, wanted: str
) -> None:
    node = large_node(scenario)
    mapped = not difference("the devices take nothing of the node")
    driver = driver_on(scenario, node, pool if mapped else without_footprint(pool))

    held = bound(scenario, consumer(scenario, driver, node, capacity={resource: wanted}))

    taken = consumed(held.claim, resource)
    assert taken == amount(wanted)
    (entry,) = footprint(held.pod) or [{}]
    assert entry.get("mapping") == [{"name": resource, "quantity": wanted}]
    assert "overhead" not in entry
    room_is(scenario, node, resource, allocatable(scenario, node, resource) - taken)


@pytest.mark.control("NA-04")
@pytest.mark.parametrize(("pool", "resource", "wanted"), MAPPED)
def test_device_that_is_not_mapped_is_charged_to_nobody(
    scenario: Scenario, pool: Pool, resource: str, wanted: str
) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, without_footprint(pool))

    held = bound(scenario, consumer(scenario, driver, node, capacity={resource: wanted}))

    assert consumed(held.claim, resource) == amount(wanted)
    assert footprint(held.pod) == []
    room_is(scenario, node, resource, allocatable(scenario, node, resource))


@overhead_known
@pytest.mark.statement("NA-05")
def test_accelerator_costs_memory_of_its_node(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, accelerators(per_pod="8Gi"))
    wanted = scenario.create(claim("wanted", request(driver.device_class)))
    claims = {} if difference("no Pod uses the claim") else {"device": wanted}

    user = scenario.wait(scenario.create(pod("user", on=node, claims=claims)), scheduled(node))

    assert [entry.get("overhead") for entry in footprint(user)] == [[{"name": "memory", "perPod": "8Gi"}]]
    assert "mapping" not in footprint(user)[0]
    (device,) = published_devices(scenario, driver)
    cost = amount(device["nodeAllocatableResources"]["memory"]["overhead"]["perPod"])
    room_is(scenario, node, "memory", allocatable(scenario, node, "memory") - cost)


@overhead_known
@pytest.mark.control("NA-05")
def test_claim_that_no_pod_uses_costs_nothing(scenario: Scenario) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, accelerators(2, per_pod="8Gi"))
    scenario.create(claim("never-used", request(driver.device_class)))
    used = bound(scenario, consumer(scenario, driver, node))
    assert demand(used.pod) == {"memory": amount("8Gi")}

    scenario.delete(used.pod)

    room_is(scenario, node, "memory", allocatable(scenario, node, "memory"))


@overhead_known
@pytest.mark.statement("NA-03")
def test_each_model_has_an_entry_of_its_own(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario)
    pool = cpu_sockets() if difference("the device costs nothing beside what it is made of") else COSTLY_CPUS
    driver = driver_on(scenario, node, pool)
    containers = [container(name, claims=["device"]) for name in ("first", "second")]

    held = bound(scenario, consumer(scenario, driver, node, capacity={"cpu": 4}, containers=containers))

    (entry,) = footprint(held.pod)
    assert entry.get("mapping") == [{"name": "cpu", "quantity": "4"}]
    costs = [{"name": "cpu", "perPod": "1"}, {"name": "memory", "perPod": "1Gi", "perContainer": "256Mi"}]
    assert entry.get("overhead") == costs
    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu") - consumed(held.claim, "cpu") - 1)
    memory = amount("1Gi") + len(entry["containers"]) * amount("256Mi")
    room_is(scenario, node, "memory", allocatable(scenario, node, "memory") - memory)


def with_both_kinds(scenario: Scenario, node: str) -> tuple[Driver, Object, Object]:
    """A driver with a pool of CPUs and an accelerator, and the requests for either."""
    driver = driver_on(scenario, node, cpu_sockets(1, name="sockets"), accelerators(name="xpus", per_pod="8Gi"))
    accelerator = f'"model" in device.attributes["{driver.name}"]'
    cpus = request(driver.device_class, selectors=[f"!({accelerator})"], capacity={"cpu": 4})
    return driver, cpus, request(driver.device_class, selectors=[accelerator])


@overhead_known
@pytest.mark.statement("NA-17")
def test_driver_offers_native_resources_and_accelerators_alike(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario)
    _, cpus, xpu = with_both_kinds(scenario, node)
    wanted = {"xpu": scenario.create(claim("xpu", xpu))}
    if not difference("the Pod has the claim for the accelerator only"):
        wanted["cpus"] = scenario.create(claim("cpus", cpus))

    both = scenario.wait(scenario.create(pod("both", on=node, claims=wanted)), scheduled(node))

    entries = {entry["resourceClaimName"]: entry for entry in footprint(both)}
    assert sorted(entries) == ["cpus", "xpu"]
    assert entries["cpus"]["mapping"] == [{"name": "cpu", "quantity": "4"}]
    assert entries["xpu"]["overhead"] == [{"name": "memory", "perPod": "8Gi"}]
    drawn = consumed(scenario.get(wanted["cpus"]), "cpu")
    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu") - drawn)
    room_is(scenario, node, "memory", allocatable(scenario, node, "memory") - amount("8Gi"))


@overhead_known
@pytest.mark.control("NA-17")
def test_accelerator_alone_takes_no_cpus(scenario: Scenario) -> None:
    node = large_node(scenario)
    _, _, xpu = with_both_kinds(scenario, node)
    wanted = scenario.create(claim("xpu", xpu))

    alone = scenario.wait(scenario.create(pod("alone", on=node, claims={"xpu": wanted})), scheduled(node))

    assert ["mapping" in entry for entry in footprint(alone)] == [False]
    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu"))
