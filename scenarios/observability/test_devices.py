"""One device of eight is faulty: what DRA and what the classic model can do about it (OB-04, OB-05)."""

import json

import pytest

from fake_driver.profiles import gpus
from harness.clusters.protocol import BareNode
from harness.drivers import Driver
from harness.kube.builders import claim, on_node, pod, request
from harness.kube.predicates import allocated_devices, count_of, scheduled, unschedulable
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.extended.counted import generated_claim, node_with_plugin, own_resource, serve_by_dra
from scenarios.taint.arrange import BROKEN

GPUS = 8
FAULTY = "gpu-3"


def server(scenario: Scenario) -> tuple[Driver, Object]:
    """A node of the scenario's own with eight GPUs."""
    (name,) = scenario.bare_nodes(BareNode("server"))
    return scenario.driver(gpus(GPUS), nodes=[name], plugin=False), scenario.client.get("Node", name)


def mark_device(driver: Driver, node: Object) -> None:
    """The driver marks its faulty device."""
    driver.control.update_device(node["metadata"]["name"], FAULTY, taints=[BROKEN])


def mark_node(scenario: Scenario, node: Object) -> None:
    """The administrator marks the node."""
    taints = [*node["spec"].get("taints", ()), {"key": "example.com/ecc", "effect": "NoSchedule"}]
    scenario.client.patch(node, {"spec": {"taints": taints}})


def eight_pods(scenario: Scenario, driver: Driver, node: Object) -> list[Object]:
    """As many Pods as the node has GPUs, each for one; returns their claims."""
    claims = [scenario.create(claim(f"gpu-{n}", request(driver.device_class))) for n in range(GPUS)]
    for number, own in enumerate(claims):
        where = on_node(node["metadata"]["name"])
        scenario.create(pod(f"pod-{number}", claims={"gpu": own}, affinity=where, labels={"job": "eight"}))
    return claims


@pytest.mark.statement("OB-04")
@pytest.mark.needs("bare-nodes")
def test_only_the_faulty_gpu_of_eight_is_taken_out(scenario: Scenario, difference: Difference) -> None:
    driver, node = server(scenario)
    if difference("the node is tainted, not the device"):
        mark_node(scenario, node)
    else:
        mark_device(driver, node)

    claims = eight_pods(scenario, driver, node)

    pods = scenario.waiter.wait_any("Pod", count_of(scheduled(), GPUS - 1), 20, label_selector="job=eight")
    (left,) = (each for each in pods if not scheduled()(each))
    scenario.wait(left, unschedulable("cannot allocate all claims"))
    taken = {device.device for own in claims for device in allocated_devices(scenario.get(own))}
    assert taken == {f"gpu-{n}" for n in range(GPUS)} - {FAULTY}


@pytest.mark.control("OB-04")
@pytest.mark.needs("bare-nodes")
def test_a_taint_of_the_node_takes_all_eight_out(scenario: Scenario) -> None:
    driver, node = server(scenario)
    mark_node(scenario, node)

    eight_pods(scenario, driver, node)

    none = count_of(unschedulable("untolerated taint"), GPUS)
    pods = scenario.waiter.wait_any("Pod", none, label_selector="job=eight")
    assert not any(scheduled()(each) for each in pods)


def naming(scenario: Scenario, node: str, device: str) -> set[str]:
    """The kinds of objects about a node, its Pods and its devices that name a device."""
    own = [
        scenario.client.get("Node", node),
        *scenario.client.list("Pod")[0],
        *scenario.client.list("ResourceClaim")[0],
        *scenario.client.list("ResourceSlice", field_selector=f"spec.nodeName={node}")[0],
    ]
    return {obj["kind"] for obj in own if f'"{device}"' in json.dumps(obj)}


@pytest.mark.statement("OB-05")
@pytest.mark.needs("bare-nodes")
def test_classic_model_names_no_device_and_can_only_count(scenario: Scenario, difference: Difference) -> None:
    resource = own_resource(scenario)
    if difference("the same resource is served by DRA"):
        (node,) = scenario.bare_nodes(BareNode("dra"))
        serve_by_dra(scenario, scenario.driver(gpus(2), nodes=[node], plugin=False, device_class=False), resource)
    else:
        node = node_with_plugin(scenario, resource, 2)

    first = scenario.create(pod("first", limits={resource: 1}, affinity=on_node(node)))
    scenario.wait(first, scheduled(node))
    assert naming(scenario, node, "gpu-0") == set()

    # The only switch for a faulty device: one less of them all, whichever it is.
    amounts = {resource: "1"}
    status = {"status": {"capacity": amounts, "allocatable": amounts}}
    scenario.client.patch(scenario.client.get("Node", node), status, subresource="status")
    second = scenario.create(pod("second", limits={resource: 1}, affinity=on_node(node)))
    scenario.wait(second, unschedulable(f"Insufficient {resource}"))


@pytest.mark.control("OB-05")
@pytest.mark.needs("bare-nodes")
def test_dra_names_and_describes_each_device(scenario: Scenario) -> None:
    resource = own_resource(scenario)
    (node,) = scenario.bare_nodes(BareNode("dra"))
    driver = scenario.driver(gpus(2), nodes=[node], plugin=False, device_class=False)
    serve_by_dra(scenario, driver, resource)

    first = scenario.create(pod("first", limits={resource: 1}, affinity=on_node(node)))
    first = scenario.wait(first, scheduled(node))

    assert naming(scenario, node, "gpu-0") == {"ResourceSlice", "ResourceClaim"}
    assert naming(scenario, node, "gpu-1") == {"ResourceSlice"}
    assert allocated_devices(generated_claim(scenario, first)) == [(driver.name, node, "gpu-0")]
    (published,), _ = scenario.client.list("ResourceSlice", field_selector=f"spec.driver={driver.name}")
    assert all(device["attributes"]["model"] for device in published["spec"]["devices"])
