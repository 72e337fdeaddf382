"""One account of a node: what Pods request and what claims bring them (NA-02, NA-09, NA-15)."""

from decimal import Decimal
from typing import Any

import pytest

from fake_driver.inventory import Pool
from fake_driver.profiles import cpu_sockets, hugepages, memory_blocks
from harness.drivers import Driver
from harness.kube.builders import claim, container, on_node, pod, request
from harness.kube.predicates import scheduled, unallocated
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.node_allocatable.arrange import (
    allocatable,
    bound,
    consumed,
    consumer,
    demand,
    driver_on,
    footprint,
    free,
    large_node,
    large_nodes,
    left_out,
    ordinary,
    quantity,
    requested,
    room_is,
    step,
    without_footprint,
)

pytestmark = pytest.mark.needs("bare-nodes")

PAGES = "hugepages-2Mi"

#: With mappings only, a claim that no container uses is refused by the scheduler.
CLAIM_OF_NO_CONTAINER = pytest.mark.feature("ResourceSlice.spec.devices.nodeAllocatableResources")

#: Of each resource a pool of devices that are made of it, their capacity, and an amount of it.
POOLS = [
    pytest.param(cpu_sockets(), "cpu", "cpu", "40", id="cpu"),
    pytest.param(memory_blocks(), "memory", "memory", "40Gi", id="memory"),
    pytest.param(hugepages(), PAGES, "hugepages", "640Mi", id="hugepages"),
]


def node_with_pages(scenario: Scenario) -> str:
    """A large node that has huge pages as well."""
    return large_node(scenario, more={PAGES: "1Gi"})


@pytest.mark.statement("NA-02", "NA-15")
@pytest.mark.parametrize(("pool", "resource", "capacity", "wanted"), POOLS)
def test_pod_finds_only_the_room_that_a_claim_left(
    scenario: Scenario, difference: Difference, pool: Pool, resource: str, capacity: str, wanted: str
) -> None:
    node = node_with_pages(scenario)
    counted = not difference("the devices take nothing of the node")
    driver = driver_on(scenario, node, pool if counted else without_footprint(pool))
    before = scenario.client.get("Node", node)["status"]["allocatable"]

    held = bound(scenario, consumer(scenario, driver, node, capacity={capacity: wanted}))

    assert scenario.client.get("Node", node)["status"]["allocatable"] == before
    everything = ordinary(scenario, node, "everything", {resource: allocatable(scenario, node, resource)})
    left_out(scenario, everything, f"Insufficient {resource}")
    room_is(scenario, node, resource, allocatable(scenario, node, resource) - consumed(held.claim, capacity))


@pytest.mark.control("NA-02", "NA-15")
@pytest.mark.parametrize(("pool", "resource", "capacity", "wanted"), POOLS)
def test_devices_that_take_nothing_of_the_node_leave_all_its_room(
    scenario: Scenario, pool: Pool, resource: str, capacity: str, wanted: str
) -> None:
    node = node_with_pages(scenario)
    driver = driver_on(scenario, node, without_footprint(pool))

    held = bound(scenario, consumer(scenario, driver, node, capacity={capacity: wanted}))

    assert consumed(held.claim, capacity) > 0
    assert footprint(held.pod) == []
    room_is(scenario, node, resource, allocatable(scenario, node, resource))


@pytest.mark.statement("NA-02")
@pytest.mark.parametrize(("pool", "resource", "capacity", "wanted"), POOLS)
def test_claim_finds_only_the_room_that_a_pod_left(
    scenario: Scenario, difference: Difference, pool: Pool, resource: str, capacity: str, wanted: str
) -> None:
    node = node_with_pages(scenario)
    counted = not difference("the devices take nothing of the node")
    driver = driver_on(scenario, node, pool if counted else without_footprint(pool))
    first = ordinary(scenario, node, "first", {resource: allocatable(scenario, node, resource) / 2})
    scenario.wait(first, scheduled(node))
    left = free(scenario, node, resource)

    excess = consumer(scenario, driver, node, "excess", capacity={capacity: quantity(left + step(resource))})
    left_out(scenario, excess.pod, f"Insufficient {resource}")
    scenario.wait(excess.claim, unallocated())

    exact = bound(scenario, consumer(scenario, driver, node, "exact", capacity={capacity: quantity(left)}))
    assert demand(exact.pod) == {resource: left}
    room_is(scenario, node, resource, free(scenario, node, resource))


@pytest.mark.statement("NA-02")
@pytest.mark.parametrize("end", ["succeeded", "deleted", "evicted"])
def test_room_is_free_again_when_the_pod_is_done(scenario: Scenario, difference: Difference, end: str) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, cpu_sockets())
    held = bound(scenario, consumer(scenario, driver, node, capacity={"cpu": 40}))
    for probe in room_is(scenario, node, "cpu", free(scenario, node, "cpu")):
        scenario.delete(probe)

    if not difference("the Pod goes on"):
        finish(scenario, held.pod, end)

    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu"))


def finish(scenario: Scenario, done: Object, end: str) -> None:
    """End a Pod on a bare node, where no kubelet reports that its containers are done."""
    match end:
        case "succeeded":
            scenario.client.patch(done, {"status": {"phase": "Succeeded"}}, subresource="status")
        case "deleted":
            scenario.delete(done)
        case "evicted":
            meta = {"name": done["metadata"]["name"], "namespace": done["metadata"]["namespace"]}
            path = f"{scenario.client.collection('Pod')}/{meta['name']}/eviction"
            eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta}
            scenario.client.raw("POST", path, body=eviction)
            scenario.waiter.wait_gone(done)


@pytest.mark.statement("NA-02", "NA-09")
@pytest.mark.parametrize("user", ["init", "sidecar", "several", pytest.param("nobody", marks=CLAIM_OF_NO_CONTAINER)])
def test_claim_is_charged_once_whichever_containers_use_it(
    scenario: Scenario, difference: Difference, user: str
) -> None:
    node = large_node(scenario)
    counted = not difference("the devices take nothing of the node")
    driver = driver_on(scenario, node, cpu_sockets() if counted else without_footprint(cpu_sockets()))
    plain, using = container("main"), container("user", claims=["device"])
    shapes: dict[str, Any] = {
        "init": {"containers": [plain], "init_containers": [using]},
        "sidecar": {"containers": [plain], "init_containers": [{**using, "restartPolicy": "Always"}]},
        "several": {"containers": [using, container("second", claims=["device"])]},
        "nobody": {"containers": [plain]},
    }

    held = bound(scenario, consumer(scenario, driver, node, capacity={"cpu": 40}, **shapes[user]))

    names = {"several": ["user", "second"], "nobody": []}.get(user, ["user"])
    assert [entry.get("containers") or [] for entry in footprint(held.pod)] == [names]
    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu") - consumed(held.claim, "cpu"))


@pytest.mark.statement("NA-09")
def test_container_needs_its_own_request_and_what_its_claims_bring(scenario: Scenario, difference: Difference) -> None:
    exact, less = large_node(scenario, "exact", cpu="3"), large_node(scenario, "less", cpu="2999m")
    counted = not difference("the devices take nothing of the node")
    pool = cpu_sockets() if counted else without_footprint(cpu_sockets())
    driver = scenario.driver(pool, nodes=[exact, less], plugin=False)

    refused = consumer(scenario, driver, less, "refused", capacity={"cpu": 2}, requests={"cpu": 1})
    left_out(scenario, refused.pod, "Insufficient cpu")

    held = bound(scenario, consumer(scenario, driver, exact, capacity={"cpu": 2}, requests={"cpu": 1}))
    need = requested(held.pod)["cpu"] + consumed(held.claim, "cpu")
    assert need == allocatable(scenario, exact, "cpu")
    room_is(scenario, exact, "cpu", allocatable(scenario, exact, "cpu") - need)


@pytest.mark.control("NA-09")
def test_container_without_a_claim_needs_only_its_own_request(scenario: Scenario) -> None:
    node = large_node(scenario, cpu="2999m")
    alone = scenario.create(pod("alone", on=node, requests={"cpu": 1}))

    found = scenario.wait(alone, scheduled(node))

    assert footprint(found) == []
    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu") - requested(found)["cpu"])


@pytest.mark.statement("NA-02")
def test_several_claims_of_a_pod_add_up(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, cpu_sockets(1))
    claims = {name: scenario.create(claim(name, drawn(driver, cpus))) for name, cpus in (("one", 5), ("two", 7))}
    if difference("the Pod has one of the claims only"):
        del claims["two"]

    both = scenario.wait(scenario.create(pod("both", on=node, claims=claims)), scheduled(node))

    taken = sum(consumed(scenario.get(made), "cpu") for made in claims.values())
    assert [entry["resourceClaimName"] for entry in footprint(both)] == ["one", "two"]
    assert demand(both) == {"cpu": taken}
    room_is(scenario, node, "cpu", allocatable(scenario, node, "cpu") - taken)


def drawn(driver: Driver, cpus: int) -> Object:
    """A request for so many CPUs of a socket."""
    return request(driver.device_class, capacity={"cpu": cpus})


@pytest.mark.statement("NA-02")
def test_nodes_are_scored_by_what_claims_took_of_them(scenario: Scenario, difference: Difference) -> None:
    drawn_on, requested_of = large_nodes(scenario, "drawn-on", "requested-of")
    counted = not difference("the devices take nothing of the node")
    driver = driver_on(scenario, drawn_on, cpu_sockets() if counted else without_footprint(cpu_sockets()))
    bound(scenario, consumer(scenario, driver, drawn_on, capacity={"cpu": 40}))
    scenario.wait(ordinary(scenario, requested_of, "smaller", {"cpu": Decimal(10)}), scheduled())

    # By requests alone the first node is the emptier one.
    chooser = scenario.create(pod("chooser", requests={"cpu": 1}, affinity=on_node(drawn_on, requested_of)))

    assert scenario.wait(chooser, scheduled())["spec"]["nodeName"] == requested_of
