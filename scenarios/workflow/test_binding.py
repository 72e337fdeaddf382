"""First the allocation, then the binding, and always to a node that reaches the device (WF-20, WF-21)."""

from collections.abc import Iterator

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import claim, pod, request
from harness.kube.predicates import (
    allocated,
    allocated_devices,
    reserved_for,
    scheduled,
    unallocated,
    unschedulable,
    unscheduled,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario


def reachable_nodes(claim: Object) -> list[str]:
    """The nodes that the allocation's node selector names."""
    terms = claim["status"]["allocation"]["nodeSelector"]["nodeSelectorTerms"]
    return [value for term in terms for field in term["matchFields"] for value in field["values"]]


def writes(scenario: Scenario, kind: str, name: str, since: str) -> Iterator[Object]:
    """Every stored state of an object after a resourceVersion."""
    events = scenario.client.watch(
        kind, scenario.namespace, resource_version=since, field_selector=f"metadata.name={name}", timeout=30
    )
    return (event["object"] for event in events if event["type"] != "BOOKMARK")


@pytest.mark.statement("WF-20")
def test_claim_is_allocated_before_its_pod_is_bound(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1), plugin=False)
    device_class = driver.device_class
    if difference("the claim asks for a class that does not exist, so that it cannot be allocated"):
        device_class = "no-such-class"
    wanted = scenario.create(claim("wanted", request(device_class)))
    consumer = scenario.create(pod("consumer", claims={"gpu": wanted}))

    scenario.wait(consumer, scheduled(), timeout=10)
    allocation = next(
        state
        for state in writes(scenario, "ResourceClaim", "wanted", wanted["metadata"]["resourceVersion"])
        if allocated()(state)
    )
    binding = next(
        state
        for state in writes(scenario, "Pod", "consumer", consumer["metadata"]["resourceVersion"])
        if scheduled()(state)
    )

    # One API server, one store: its resource versions of all kinds are one sequence.
    assert int(allocation["metadata"]["resourceVersion"]) < int(binding["metadata"]["resourceVersion"])
    assert reachable_nodes(allocation) == [binding["spec"]["nodeName"]]


@pytest.mark.control("WF-20")
def test_pod_whose_claim_cannot_be_allocated_is_not_bound(scenario: Scenario) -> None:
    wanted = scenario.create(claim("wanted", request("no-such-class")))
    consumer = scenario.create(pod("consumer", claims={"gpu": wanted}))

    tried = scenario.wait(consumer, unschedulable("device class no-such-class does not exist"))

    assert unscheduled()(tried)
    assert unallocated()(scenario.get(wanted))


@pytest.mark.statement("WF-21")
@pytest.mark.needs("kubelet")
def test_pod_follows_a_claim_that_was_allocated_for_another(scenario: Scenario, difference: Difference) -> None:
    home, elsewhere = scenario.nodes(2)
    driver = scenario.driver(gpus(1), nodes=[home], plugin=False)
    shared = scenario.create(claim("shared", request(driver.device_class)))
    scenario.wait(scenario.create(pod("first", claims={"gpu": shared})), scheduled(home))
    affinity = {"kubernetes.io/hostname": elsewhere} if difference("the second Pod is forced to another node") else None

    second = scenario.create(pod("second", claims={"gpu": shared}, node_selector=affinity))

    scenario.wait(second, scheduled(home), timeout=10)
    scenario.wait(shared, reserved_for(second))


@pytest.mark.control("WF-21")
@pytest.mark.needs("kubelet")
def test_pod_forced_away_from_its_allocated_claim_waits(scenario: Scenario) -> None:
    home, elsewhere = scenario.nodes(2)
    driver = scenario.driver(gpus(1), nodes=[home], plugin=False)
    shared = scenario.create(claim("shared", request(driver.device_class)))
    scenario.wait(scenario.create(pod("first", claims={"gpu": shared})), scheduled(home))
    before = allocated_devices(scenario.get(shared))

    second = scenario.create(pod("second", claims={"gpu": shared}, node_selector={"kubernetes.io/hostname": elsewhere}))

    scenario.wait(second, unschedulable("resourceclaim not available on the node"))
    assert allocated_devices(scenario.get(shared)) == before
