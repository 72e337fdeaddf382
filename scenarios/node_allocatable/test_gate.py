"""The gate in the three components that look at it: what each alone changes (NA-33)."""

from decimal import Decimal

import pytest

from fake_driver.profiles import memory_blocks
from harness.drivers import Driver
from harness.kube import ApiError
from harness.kube.builders import resource_slice
from harness.kube.predicates import Predicate, running, scheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.node_allocatable.arrange import (
    FEATURE,
    Consumer,
    amount,
    consumed,
    consumer,
    demand,
    footprint,
    free,
    left_out,
    ordinary,
)
from scenarios.node_allocatable.published import published_devices, selecting

REQUESTED = amount("32Mi")
TAKEN = amount("64Mi")

pytestmark = [
    pytest.mark.needs("kubelet", "restart"),
    pytest.mark.feature("ResourceSlice.spec.devices.nodeAllocatableResources"),
]
alone = pytest.mark.exclusive("cluster")


def runs(scenario: Scenario, driver: Driver) -> Consumer:
    """A running Pod that requests some memory and has more through its claim."""
    made = consumer(
        scenario, driver, scenario.node, capacity={"memory": int(TAKEN)}, requests={"memory": str(REQUESTED)}
    )
    return Consumer(scenario.wait(made.pod, running()), scenario.get(made.claim))


def admitted(pod: Object) -> Decimal:
    """The memory that the kubelet has allocated to the Pod, as it says itself."""
    return amount(pod["status"]["allocatedResources"]["memory"])


def is_full_for(scenario: Scenario, more: Decimal) -> None:
    """What the API's numbers leave of the node's memory is what the scheduler has left: not a byte more fits."""
    excess = ordinary(scenario, scenario.node, "excess", {"memory": free(scenario, scenario.node, "memory") + more})
    left_out(scenario, excess, "Insufficient memory")


def has_footprint(scenario: Scenario, driver: Driver) -> bool:
    """Whether the API server has kept what the driver wrote."""
    return any("nodeAllocatableResources" in device for device in published_devices(scenario, driver))


def declares(scenario: Scenario) -> bool:
    """Whether the node's kubelet says that it knows the feature."""
    node = scenario.client.get("Node", scenario.node)
    return FEATURE in (node["status"].get("declaredFeatures") or ())


@alone
@pytest.mark.statement("NA-33")
def test_gate_on_in_all_components_counts_tells_and_hands_over(scenario: Scenario, difference: Difference) -> None:
    if difference("the gate is off in the kube-scheduler"):
        scenario.cluster.restart("kube-scheduler", gates={FEATURE: False})
    driver = scenario.driver(memory_blocks(1))
    assert has_footprint(scenario, driver)

    user = runs(scenario, driver)

    assert demand(user.pod) == {"memory": consumed(user.claim, "memory")}
    is_full_for(scenario, Decimal(1))
    assert declares(scenario)
    assert admitted(scenario.wait(user.pod, running())) == REQUESTED + TAKEN


@pytest.mark.exclusive("cluster", last=True)
@pytest.mark.control("NA-33")
def test_api_server_with_the_gate_off_drops_the_field(scenario: Scenario) -> None:
    scenario.cluster.restart("kube-apiserver", gates={FEATURE: False})
    scenario.spoilt = True  # its clients come back only after their backoff
    driver = scenario.driver(memory_blocks(1))
    assert not has_footprint(scenario, driver)

    user = runs(scenario, driver)

    assert footprint(user.pod) == []
    assert admitted(user.pod) == REQUESTED


@alone
@pytest.mark.control("NA-33")
def test_scheduler_with_the_gate_off_counts_nothing_and_tells_nothing(scenario: Scenario) -> None:
    scenario.cluster.restart("kube-scheduler", gates={FEATURE: False})
    driver = scenario.driver(memory_blocks(1))
    assert has_footprint(scenario, driver)

    user = runs(scenario, driver)

    assert footprint(user.pod) == []
    assert consumed(user.claim, "memory") == TAKEN
    rest = ordinary(scenario, scenario.node, "rest", {"memory": free(scenario, scenario.node, "memory")})
    scenario.wait(rest, scheduled(scenario.node))


@alone
@pytest.mark.control("NA-33")
def test_kubelet_with_the_gate_off_is_told_in_vain(scenario: Scenario) -> None:
    driver = scenario.driver(memory_blocks(1, name="blocks", node_selector=selecting(scenario.node)))
    scenario.cluster.restart("kubelet", scenario.node, gates={FEATURE: False})
    driver.registered()
    silent = Predicate[Object](
        "declares the feature no more", lambda node: FEATURE not in node["status"].get("declaredFeatures", ())
    )
    scenario.wait(scenario.client.get("Node", scenario.node), silent)

    user = runs(scenario, driver)

    assert demand(user.pod) == {"memory": TAKEN}
    is_full_for(scenario, Decimal(1))
    assert admitted(user.pod) == REQUESTED
    device = {"name": "late", "nodeAllocatableResources": {"memory": {"overhead": {"perPod": "1Mi"}}}}
    late = resource_slice("late", driver.name, [device], pool="late", node=scenario.node)
    with pytest.raises(ApiError, match=f'node "{scenario.node}" does not support {FEATURE} feature'):
        scenario.client.create(late, dry_run=True)
