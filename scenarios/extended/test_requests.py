"""A Pod asks for GPUs by a number, as ever; whether DRA serves it is not seen in the Pod (ER-02, ER-03)."""

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import pod
from harness.kube.predicates import allocated_devices, reserved_for, running, scheduled, unschedulable
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.extended.counted import generated_claim, node_with_plugin, own_resource, serve_by_dra, served_by_dra

#: The name that Pods have used with the vendor's device plugin for years.
NVIDIA = "nvidia.com/gpu"


@pytest.mark.statement("ER-02")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("kubelet")
def test_pod_in_the_old_form_runs_on_a_gpu_that_dra_manages(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1), device_class=False)
    serve_by_dra(scenario, driver, None if difference(f"no class stands behind {NVIDIA}") else NVIDIA)

    consumer = scenario.create(pod("consumer", limits={NVIDIA: 1}))

    scenario.wait(consumer, scheduled(scenario.node), timeout=15)
    started = scenario.wait(consumer, running())
    claim = generated_claim(scenario, started)
    assert claim["metadata"]["name"].startswith("consumer-extended-resources-")
    assert [owner["uid"] for owner in claim["metadata"]["ownerReferences"]] == [consumer["metadata"]["uid"]]
    assert reserved_for(consumer)(claim)
    assert allocated_devices(claim) == [(driver.name, scenario.node, "gpu-0")]
    assert started["status"]["extendedResourceClaimStatus"]["requestMappings"] == [
        {"containerName": "main", "resourceName": NVIDIA, "requestName": "container-0-request-0"}
    ]
    driver.prepared(claim)


@pytest.mark.control("ER-02")
def test_pod_in_the_old_form_waits_without_a_class_and_a_plugin(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1), plugin=False, device_class=False)
    serve_by_dra(scenario, driver, None)

    consumer = scenario.create(pod("consumer", limits={NVIDIA: 1}))

    scenario.wait(consumer, unschedulable(f"Insufficient {NVIDIA}"))
    assert scenario.client.list("ResourceClaim")[0] == []


def run_twins(scenario: Scenario, resource: str) -> dict[str, Object]:
    """Two Pods of one manifest, one for each GPU there is; by the node on which they run."""
    twins = [scenario.create(pod(name, limits={resource: 1})) for name in ("first", "second")]
    running_twins = [scenario.wait(twin, running()) for twin in twins]
    return {twin["spec"]["nodeName"]: twin for twin in running_twins}


@pytest.mark.statement("ER-03")
@pytest.mark.needs("kubelet", "bare-nodes")
def test_same_manifest_runs_on_a_plugin_node_and_on_a_dra_node(scenario: Scenario, difference: Difference) -> None:
    resource = own_resource(scenario)
    only_plugin = difference("the node with the device plugin has both GPUs, DRA has none")
    plugin_node = node_with_plugin(scenario, resource, 2 if only_plugin else 1)
    driver = scenario.driver(gpus(0 if only_plugin else 1), device_class=False)
    serve_by_dra(scenario, driver, resource)

    twins = run_twins(scenario, resource)

    assert {node: served_by_dra(twin) for node, twin in twins.items()} == {plugin_node: False, scenario.node: True}
    claim = generated_claim(scenario, twins[scenario.node])
    assert [found["metadata"]["uid"] for found in scenario.client.list("ResourceClaim")[0]] == [
        claim["metadata"]["uid"]
    ]
    on_plugin, on_dra = (twins[node]["spec"]["containers"][0]["resources"] for node in (plugin_node, scenario.node))
    assert on_plugin == on_dra == {"limits": {resource: "1"}, "requests": {resource: "1"}}


@pytest.mark.control("ER-03")
@pytest.mark.needs("bare-nodes")
def test_no_claim_is_made_where_the_device_plugin_serves_all(scenario: Scenario) -> None:
    resource = own_resource(scenario)
    plugin_node = node_with_plugin(scenario, resource, 2)
    serve_by_dra(scenario, scenario.driver(gpus(0), plugin=False, device_class=False), resource)

    twins = run_twins(scenario, resource)

    assert list(twins) == [plugin_node]
    assert scenario.client.list("ResourceClaim")[0] == []
