"""What the scheduler writes into the Pod's status for the kubelet, and that it stays there (NA-29, NA-30)."""

from decimal import Decimal

import pytest

from fake_driver.inventory import Device, Pool, Taint, by_capacity, overhead
from fake_driver.profiles import accelerators
from harness.drivers import Driver
from harness.kube.builders import claim, container, pod, request
from harness.kube.predicates import Predicate, allocation_results, running, scheduled, unscheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.node_allocatable.arrange import (
    Consumer,
    amount,
    bound,
    consumer,
    driver_on,
    footprint,
    large_node,
    without_footprint,
)
from scenarios.node_allocatable.published import published_devices

pytestmark = pytest.mark.feature("ResourceSlice.spec.devices.nodeAllocatableResources")

ATTACHED, FAILED = "DeviceAttached", "DeviceAttachFailed"

#: Seconds between two looks of the scheduler at binding conditions are 5.
POLLED = 20


def engines() -> Pool:
    """Devices that many claims draw CPUs and memory from, and that cost memory and CPUs besides."""
    device = Device(
        "engine",
        capacity={"cores": "64", "bytes": "64Gi"},
        allow_multiple_allocations=True,
        node_allocatable_resources={
            "cpu": by_capacity("cores", "2") | overhead("100m", "10m"),
            "memory": by_capacity("bytes") | overhead(per_container="1Mi"),
        },
    )
    return Pool(devices=[device])


def two_claims(scenario: Scenario, driver: Driver, node: str) -> Object:
    """A bound Pod with a claim that one container uses, and one that two containers use."""
    wanted = {
        name: scenario.create(claim(name, request(driver.device_class, capacity={"cores": cores, "bytes": size})))
        for name, cores, size in (("small", 1, "1Gi"), ("large", 3, "5Gi"))
    }
    containers = [container("one", claims=["small", "large"]), container("two", claims=["large"])]
    return scenario.wait(scenario.create(pod("user", claims=wanted, on=node, containers=containers)), scheduled())


def computed(scenario: Scenario, driver: Driver, claim: str, *containers: str) -> Object:
    """The entry for a claim of one device, from the API's claim and slice."""
    (result,) = allocation_results(scenario.client.get("ResourceClaim", claim))
    (device,) = published_devices(scenario, driver)
    entry: Object = {"resourceClaimName": claim, "containers": list(containers), "mapping": {}, "overhead": {}}
    for resource, model in device["nodeAllocatableResources"].items():
        mapping = model["mapping"]
        consumed = amount(result["consumedCapacity"][mapping["capacityKey"]])
        entry["mapping"][resource] = consumed * amount(mapping["capacityMultiplier"])
        entry["overhead"][resource] = {scope: amount(cost) for scope, cost in model["overhead"].items()}
    return entry


def read(entry: Object) -> Object:
    """An entry of a Pod's status in the same form."""
    costs = {
        cost["name"]: {scope: amount(cost[scope]) for scope in cost if scope != "name"} for cost in entry["overhead"]
    }
    mapped: dict[str, Decimal] = {part["name"]: amount(part["quantity"]) for part in entry["mapping"]}
    return {**entry, "mapping": mapped, "overhead": costs}


@pytest.mark.statement("NA-29")
@pytest.mark.needs("bare-nodes")
def test_status_has_the_exact_amounts_once_the_pod_is_bound(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario)
    pool = without_footprint(engines()) if difference("the devices have no footprint") else engines()
    driver = driver_on(scenario, node, pool)

    user = two_claims(scenario, driver, node)

    entries = footprint(user)
    assert [entry["resourceClaimName"] for entry in entries] == ["large", "small"]
    assert [read(entry) for entry in entries] == [
        computed(scenario, driver, "large", "one", "two"),
        computed(scenario, driver, "small", "one"),
    ]


@pytest.mark.control("NA-29")
@pytest.mark.needs("bare-nodes")
def test_status_has_nothing_where_no_device_has_a_footprint(scenario: Scenario) -> None:
    node = large_node(scenario)
    driver = driver_on(scenario, node, without_footprint(engines()))

    user = two_claims(scenario, driver, node)

    assert "nodeAllocatableResourceClaimStatuses" not in user["status"]


def told(present: bool) -> Predicate[Object]:
    """The Pod's status has amounts, or has none."""
    return Predicate("has amounts" if present else "has no amounts", lambda own: bool(footprint(own)) == present)


@pytest.mark.control("NA-29")
@pytest.mark.needs("bare-nodes")
def test_status_is_written_before_the_pod_is_bound_and_cleared_when_that_fails(scenario: Scenario) -> None:
    node = large_node(scenario)
    (engine,) = engines().devices
    slow = Device(
        engine.name,
        binds_to_node=True,
        binding_conditions=[ATTACHED],
        binding_failure_conditions=[FAILED],
        node_allocatable_resources={"cpu": {"mapping": {"deviceMultiplier": "2"}}},
    )
    driver = driver_on(scenario, node, Pool(devices=[slow]))
    made = consumer(scenario, driver, node)
    early = scenario.wait(made.pod, told(present=True))
    assert unscheduled()(early)

    # With the taint nothing is allocated anew, and so nothing is written again.
    (pool,) = driver.control.pools
    driver.control.update_device(pool.name, slow.name, taints=[Taint("example.com/failed", "NoSchedule")])
    driver.control.report(scenario.get(made.claim), pool.name, slow.name, {FAILED: "True"})

    cleared = scenario.wait(made.pod, told(present=False), timeout=POLLED)
    assert unscheduled()(cleared)


def restarts(own: Object) -> int:
    """How often containers of the Pod have been started again, as the kubelet has written into its status."""
    return sum(status["restartCount"] for status in own["status"].get("containerStatuses") or ())


def restarted_since(earlier: Object) -> Predicate[Object]:
    """The kubelet has written into the status that a container was started again."""
    return Predicate("a container was started again", lambda own: restarts(own) > restarts(earlier))


def restless(scenario: Scenario) -> Consumer:
    """A running Pod with amounts in its status, one of whose containers ends again and again."""
    driver = scenario.driver(accelerators(1, "64Mi", "1Mi"))
    blinking = container("blinking", claims=["device"], command=["sh", "-c", "sleep 2; exit 1"])
    containers = [container("main", claims=["device"]), blinking]
    made = consumer(scenario, driver, scenario.node, containers=containers, restart_policy="Always")
    scenario.wait(made.pod, running())
    return bound(scenario, made)


@pytest.mark.statement("NA-30")
@pytest.mark.exclusive("cluster")  # a kubelet is restarted
@pytest.mark.needs("kubelet", "restart")
def test_amounts_outlast_status_updates_and_a_restart_of_the_kubelet(
    scenario: Scenario, difference: Difference
) -> None:
    user = restless(scenario).pod
    amounts = footprint(user)
    assert amounts
    if difference("the list is emptied"):
        empty(scenario, user)

    updated = scenario.wait(user, restarted_since(user))
    assert footprint(updated) == amounts
    scenario.cluster.restart("kubelet", scenario.node)

    later = scenario.wait(user, restarted_since(updated))
    assert footprint(later) == amounts


@pytest.mark.control("NA-30")
@pytest.mark.needs("kubelet")
def test_emptied_list_is_not_written_again(scenario: Scenario) -> None:
    user = restless(scenario).pod
    assert footprint(user)

    emptied = empty(scenario, user)

    assert footprint(scenario.wait(user, restarted_since(emptied))) == []


def empty(scenario: Scenario, user: Object) -> Object:
    """Take all amounts out of a Pod's status, and return the Pod."""
    return scenario.client.patch(user, {"status": {"nodeAllocatableResourceClaimStatuses": []}}, subresource="status")
