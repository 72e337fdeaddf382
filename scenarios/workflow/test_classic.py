"""The classic model counts; Dynamic Resource Allocation names (WF-24, WF-25)."""

import pytest

from fake_driver.profiles import gpus
from harness.clusters.protocol import BareNode
from harness.kube.builders import claim, pod, request
from harness.kube.predicates import (
    allocated,
    allocated_devices,
    running,
    scheduled,
    unallocated,
    unschedulable,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario


def node_with_counted_gpus(scenario: Scenario, resource: str, count: int) -> str:
    """A node that offers GPUs as a device plugin makes the kubelet offer them: as a number."""
    capacity = {"cpu": "8", "memory": "32Gi", "pods": "20", resource: str(count)}
    return scenario.bare_nodes(BareNode("plugin", capacity))[0]


@pytest.mark.statement("WF-24")
@pytest.mark.needs("bare-nodes")
def test_classic_request_is_bound_by_number_and_names_no_device(scenario: Scenario, difference: Difference) -> None:
    resource = f"{scenario.namespace}.example.com/gpu"
    node = node_with_counted_gpus(scenario, resource, 2)
    claims = {}
    if difference("the GPU is requested through a claim"):
        driver = scenario.driver(gpus(1), nodes=[node], plugin=False)
        claims["gpu"] = scenario.create(claim("wanted", request(driver.device_class)))

    consumers = [scenario.create(pod(f"pod-{n}", claims=claims, limits={resource: 1}, on=node)) for n in range(2)]
    for consumer in consumers:
        scenario.wait(consumer, scheduled(node))
    third = scenario.create(pod("third", limits={resource: 1}, on=node))

    scenario.wait(third, unschedulable(f"Insufficient {resource}"))
    assert scenario.client.list("ResourceClaim")[0] == []
    for consumer in consumers:
        status = scenario.wait(consumer, running())["status"]
        assert not status.keys() & {"resourceClaimStatuses", "extendedResourceClaimStatus"}


@pytest.mark.control("WF-24")
@pytest.mark.needs("bare-nodes")
def test_claim_names_its_device_before_any_kubelet_acts(scenario: Scenario) -> None:
    resource = f"{scenario.namespace}.example.com/gpu"
    node = node_with_counted_gpus(scenario, resource, 2)
    driver = scenario.driver(gpus(2), nodes=[node], plugin=False)
    wanted = scenario.create(claim("wanted", request(driver.device_class)))
    scenario.create(pod("consumer", claims={"gpu": wanted}))

    named = allocated_devices(scenario.wait(wanted, allocated()))

    assert named == [(driver.name, node, "gpu-0")]


@pytest.mark.statement("WF-25")
def test_single_device_is_addressed_by_an_attribute(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(8), plugin=False)
    fifth = driver.control.pools[0].devices[5]
    uuid = "GPU-of-nobody" if difference("no device has the value that the selector asks for") else fifth.uuid
    wanted = scenario.create(
        claim(
            "wanted", request(driver.device_class, selectors=[f"device.attributes['{driver.name}'].uuid == '{uuid}'"])
        )
    )
    scenario.create(pod("consumer", claims={"gpu": wanted}))

    named = allocated_devices(scenario.wait(wanted, allocated(), timeout=10))

    assert [device.device for device in named] == [fifth.name] == ["gpu-5"]


@pytest.mark.control("WF-25")
def test_selector_for_a_value_that_no_device_has_gets_none(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(8), plugin=False)
    wanted = scenario.create(
        claim("wanted", request(driver.device_class, selectors=[f"device.attributes['{driver.name}'].uuid == 'none'"]))
    )
    consumer = scenario.create(pod("consumer", claims={"gpu": wanted}))

    scenario.wait(consumer, unschedulable("cannot allocate all claims"))
    scenario.wait(wanted, unallocated())
