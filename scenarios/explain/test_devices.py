"""What keeps a claim from being allocated (HS-61)."""

from collections.abc import Sequence
from typing import Any

import pytest

from fake_driver.inventory import CounterConsumption, Device, Pool
from fake_driver.profiles import gpus, partitionable, shareable
from harness.clusters.protocol import BareNode
from harness.drivers import Driver
from harness.kube.builders import claim, device_class, match_attribute, on_node, pod, request
from harness.kube.predicates import allocated, scheduled, scheduling_error, unschedulable
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.beyond.consumers import ask, served
from scenarios.explain.asked import Case, check, name_of
from scenarios.extended.counted import own_resource, serve_by_dra
from scenarios.taint.arrange import BROKEN, tainted
from scenarios.taint.rules import create_rule
from scenarios.taint.seen import RulesSeen

FULL = "cannot allocate all claims"


def left_out(scenario: Scenario, *requests: Object, constraints: Sequence[Object] = (), **options: Any) -> Object:
    """A Pod with a claim of these requests, which the scheduler cannot place."""
    wanted = scenario.create(claim("wanted", *requests, constraints=constraints))
    waiter = scenario.create(pod("waiter", claims={"gpu": wanted}, **options))
    return scenario.wait(waiter, unschedulable())


def taken_by(scenario: Scenario, driver: Driver, wanted: Object | None = None) -> None:
    """A Pod has what it wants of the driver."""
    served(scenario, *ask(scenario, "holder", wanted or request(driver.device_class)))


def missing_class(scenario: Scenario) -> Object:
    return left_out(scenario, request("no-such-class"))


def class_of_no_device(scenario: Scenario) -> Object:
    scenario.create(device_class(scenario.namespace, "no-such-driver.example.com"))
    return left_out(scenario, request(scenario.namespace))


def selector_rejects(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(2), plugin=False)
    model = f"device.attributes['{driver.name}'].model == 'TPU'"
    return left_out(scenario, request(driver.device_class, selectors=[model]))


def selector_of_capacity_rejects(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(2), plugin=False)
    large = f"device.capacity['{driver.name}'].memory.isGreaterThan(quantity('100Gi'))"
    return left_out(scenario, request(driver.device_class, selectors=[large]))


def selector_fails(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(1), plugin=False)
    unknown = f"device.attributes['{driver.name}'].colour == 'red'"
    wanted = scenario.create(claim("wanted", request(driver.device_class, selectors=[unknown])))
    waiter = scenario.create(pod("waiter", claims={"gpu": wanted}))
    return scenario.wait(waiter, scheduling_error("CEL runtime error"))


def all_taken(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(1), plugin=False)
    taken_by(scenario, driver)
    return left_out(scenario, request(driver.device_class))


def claim_that_waits_for_a_taken_device(scenario: Scenario) -> Object:
    all_taken(scenario)
    return scenario.client.get("ResourceClaim", "wanted")


def tainted_by_driver(scenario: Scenario) -> Object:
    driver = scenario.driver(tainted(gpus(1), "gpu-0", BROKEN), plugin=False)
    return left_out(scenario, request(driver.device_class))


def tainted_by_rule(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(1), plugin=False)
    seen = RulesSeen(scenario)
    create_rule(scenario, "NoSchedule", driver=driver.name)
    seen()
    return left_out(scenario, request(driver.device_class))


def one_taken_and_one_tainted(scenario: Scenario) -> Object:
    driver = scenario.driver(tainted(gpus(2), "gpu-1", BROKEN), plugin=False)
    taken_by(scenario, driver)
    return left_out(scenario, request(driver.device_class))


def incomplete_pool(scenario: Scenario) -> Object:
    (node,) = scenario.bare_nodes(BareNode("own"))
    pool = gpus(1, node=node, name="torn", slice_count=3, generation=1)
    driver = scenario.driver(pool, nodes=[node], plugin=False)
    return left_out(scenario, request(driver.device_class), affinity=on_node(node))


def invalid_pool(scenario: Scenario) -> Object:
    (node,) = scenario.bare_nodes(BareNode("own"))
    consumption = CounterConsumption("no-such-set", {"memory": "1Gi"})
    pool = Pool(name="broken", node=node, devices=[Device("gpu-0", consumes_counters=[consumption])])
    driver = scenario.driver(pool, nodes=[node], plugin=False)
    return left_out(scenario, request(driver.device_class), affinity=on_node(node))


def all_devices_with_one_taken(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(2), plugin=False)
    taken_by(scenario, driver)
    return left_out(scenario, request(driver.device_class, all_devices=True), on=scenario.node)


def constraint(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(2), plugin=False)
    same = match_attribute(f"{driver.name}/index", "gpu")
    return left_out(scenario, request(driver.device_class, count=2), constraints=[same])


def shared_capacity_used_up(scenario: Scenario) -> Object:
    driver = scenario.driver(shareable(1), plugin=False)
    taken_by(scenario, driver, request(driver.device_class, capacity={"memory": "60Gi"}))
    return left_out(scenario, request(driver.device_class, capacity={"memory": "30Gi"}))


def capacity_too_small(scenario: Scenario) -> Object:
    driver = scenario.driver(shareable(1), plugin=False)
    return left_out(scenario, request(driver.device_class, capacity={"memory": "100Gi"}))


def counters_used_up(scenario: Scenario) -> Object:
    driver = scenario.driver(partitionable(1), plugin=False)
    part = f"device.attributes['{driver.name}'].partition == "
    taken_by(scenario, driver, request(driver.device_class, selectors=[part + "'quarter'"]))
    return left_out(scenario, request(driver.device_class, selectors=[part + "'whole'"]))


def more_devices_than_a_node_has(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(2), plugin=False)
    return left_out(scenario, request(driver.device_class, count=3))


def more_devices_than_a_claim_can_have(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(40), plugin=False)
    wanted = scenario.create(claim("wanted", request(driver.device_class, count=33)))
    waiter = scenario.create(pod("waiter", claims={"gpu": wanted}))
    return scenario.wait(waiter, scheduling_error("exceeds the claim limit") | unschedulable())


def devices_on_nodes_that_the_pod_may_not_use(scenario: Scenario) -> Object:
    mine, other = scenario.bare_nodes(BareNode("mine"), BareNode("other"))
    driver = scenario.driver(gpus(1), nodes=[other], plugin=False)
    return left_out(scenario, request(driver.device_class), affinity=on_node(mine))


def requests_that_no_node_meets_together(scenario: Scenario) -> Object:
    mine, other = scenario.bare_nodes(BareNode("mine"), BareNode("other"))
    first = scenario.driver(gpus(1), nodes=[mine], plugin=False)
    second = scenario.driver(gpus(1), nodes=[other], plugin=False)
    return left_out(scenario, request(first.device_class, "one"), request(second.device_class, "two"))


def claim_allocated_for_another_node(scenario: Scenario) -> Object:
    mine, other = scenario.bare_nodes(BareNode("mine"), BareNode("other"))
    driver = scenario.driver(gpus(1), nodes=[other], plugin=False)
    user, held = ask(scenario, "user", request(driver.device_class))
    served(scenario, user, held)
    waiter = scenario.create(pod("waiter", claims={"gpu": held}, affinity=on_node(mine)))
    return scenario.wait(waiter, unschedulable("resourceclaim not available on the node"))


def claim_with_all_consumers(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(1), plugin=False)
    user, held = ask(scenario, "user", request(driver.device_class))
    served(scenario, user, held)
    current = scenario.wait(held, allocated())
    entries = [{"resource": "others", "apiGroup": "example.com", "name": f"c-{n}", "uid": f"u-{n}"} for n in range(255)]
    current["status"]["reservedFor"] += entries
    scenario.client.replace(current, subresource="status")
    waiter = scenario.create(pod("waiter", claims={"gpu": held}, on=scenario.node))
    return scenario.wait(waiter, scheduling_error("reservation"))


def extended_resource_of_nobody(scenario: Scenario) -> Object:
    waiter = scenario.create(pod("waiter", limits={own_resource(scenario): 1}))
    return scenario.wait(waiter, unschedulable())


def extended_resource_whose_devices_are_taken(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(1), plugin=False, device_class=False)
    serve_by_dra(scenario, driver, own_resource(scenario))
    user = scenario.create(pod("user", limits={own_resource(scenario): 1}))
    scenario.wait(user, scheduled())
    waiter = scenario.create(pod("waiter", limits={own_resource(scenario): 1}))
    return scenario.wait(waiter, unschedulable())


def claim_without_a_pod(scenario: Scenario) -> Object:
    return scenario.create(claim("unused", request("any-class")))


WHOLE_POOLS = pytest.mark.feature("ResourcePool.incomplete-gives-no-device")
COUNTERS = pytest.mark.feature("ResourceSlice.counters-in-own-slice")

CASES = [
    Case("class-missing", missing_class, "no-such-class"),
    Case("devices-missing", class_of_no_device, "selects none"),
    Case("selector-rejects", selector_rejects, "gpu-0"),
    Case("selector-rejects", selector_of_capacity_rejects, "100Gi"),
    Case("cel-error", selector_fails, "colour"),
    Case("devices-taken", all_taken, "used by pod holder"),
    Case("devices-taken", claim_that_waits_for_a_taken_device, "used by pod holder"),
    Case("device-tainted", tainted_by_driver, "{key: example.com/broken, operator: Equal, value: 'ecc'"),
    Case("device-tainted-by-rule", tainted_by_rule, "DeviceTaintRule"),
    Case("devices-taken device-tainted", one_taken_and_one_tainted, "gpu-1"),
    pytest.param(Case("pool-incomplete", incomplete_pool, "1 of 3 slices"), marks=WHOLE_POOLS),
    pytest.param(Case("pool-invalid", invalid_pool, "no-such-set"), marks=WHOLE_POOLS),
    Case("devices-taken", all_devices_with_one_taken, "used by pod holder"),
    Case("constraint-unmet", constraint, "gpu-1 has"),
    Case("capacity-exhausted", shared_capacity_used_up, "60Gi by"),
    Case("capacity-too-small", capacity_too_small, "100Gi"),
    pytest.param(Case("counters-exhausted", counters_used_up, "by part-0-quarter-0"), marks=COUNTERS),
    Case("devices-too-few", more_devices_than_a_node_has, "3 devices at once"),
    Case("claim-too-large", more_devices_than_a_claim_can_have, "33"),
    Case("devices-elsewhere", devices_on_nodes_that_the_pod_may_not_use, "other"),
    Case("devices-apart", requests_that_no_node_meets_together, "gpu-0"),
    Case("claim-on-other-node", claim_allocated_for_another_node, "used by user"),
    Case("claim-consumers", claim_with_all_consumers, "256 entries"),
    Case("extended-resource-unknown", extended_resource_of_nobody, "no DeviceClass"),
    Case("devices-taken", extended_resource_whose_devices_are_taken, "user"),
    Case("claim-unused", claim_without_a_pod, "no Pod in namespace"),
]


@pytest.mark.statement("HS-61")
@pytest.mark.needs("bare-nodes")
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_why_a_claim_is_not_allocated(scenario: Scenario, difference: Difference, case: Case) -> None:
    check(scenario, difference, case)
