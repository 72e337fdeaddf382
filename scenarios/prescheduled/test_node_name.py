"""With a node name a Pod goes around the scheduler, with a node selector through it (PS-01, PS-10, PS-11)."""

from importlib.resources import files

import pytest
import yaml

from fake_driver.profiles import gpus
from harness.clusters.protocol import BareNode
from harness.kube.builders import DEFAULT_IMAGE, pod
from harness.kube.predicates import (
    allocated,
    pending,
    reserved_for,
    running,
    scheduled,
    tried,
    unschedulable,
    unscheduled,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.prescheduled.stuck import unallocated_claim


def events(scenario: Scenario, consumer: Object) -> set[str]:
    """The reasons of the Events about a Pod so far."""
    return {str(event["reason"]) for event in scenario.client.events(consumer)}


@pytest.mark.statement("PS-01")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("kubelet", "restart")
def test_pod_with_a_node_name_runs_there_while_the_scheduler_is_down(
    scenario: Scenario, difference: Difference
) -> None:
    scenario.cluster.stop("kube-scheduler")
    scenario.on_exit(lambda: scenario.cluster.start("kube-scheduler"))
    node = None if difference("the Pod is created without a node name") else scenario.node

    consumer = scenario.create(pod("consumer", node_name=node))

    assert scenario.wait(consumer, running(), timeout=15)["spec"]["nodeName"] == scenario.node
    assert "Scheduled" not in events(scenario, consumer)


@pytest.mark.control("PS-01")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("kubelet", "restart")
def test_pod_without_a_node_name_waits_for_the_scheduler(scenario: Scenario) -> None:
    scenario.cluster.stop("kube-scheduler")
    consumer = scenario.create(pod("consumer"))

    scenario.barrier.kubelet(scenario.node)
    assert (pending() & unscheduled() & ~tried())(scenario.get(consumer))

    scenario.cluster.start("kube-scheduler")
    scenario.wait(consumer, running())
    scenario.wait_event(consumer, "Scheduled")


@pytest.mark.statement("PS-10")
@pytest.mark.needs("kubelet")
def test_pod_with_a_selector_for_one_node_gets_its_claim_and_runs_there(
    scenario: Scenario, difference: Difference
) -> None:
    intended, other = scenario.nodes(2)
    driver = scenario.driver(gpus(1), nodes=[intended, other])
    wanted = unallocated_claim(scenario, driver.device_class)
    host = f"{scenario.namespace}-nobody" if difference("no node has the host name of the selector") else intended

    consumer = scenario.create(pod("consumer", claims={"gpu": wanted}, node_selector={"kubernetes.io/hostname": host}))

    scenario.wait(consumer, scheduled(intended), timeout=15)
    assert (allocated() & reserved_for(consumer))(scenario.get(wanted))
    scenario.wait(consumer, running())


@pytest.mark.control("PS-10")
@pytest.mark.needs("bare-nodes")
def test_pod_with_a_selector_for_no_node_waits_and_blocks_nothing(scenario: Scenario) -> None:
    (node,) = scenario.bare_nodes(BareNode("small", {"cpu": "4", "memory": "8Gi", "pods": "5"}))
    driver = scenario.driver(gpus(1), nodes=[node], plugin=False)
    wanted = unallocated_claim(scenario, driver.device_class)
    whole_node = {"cpu": "4", "memory": "8Gi"}
    nowhere = f"{scenario.namespace}-nobody"

    waiter = scenario.create(pod("waiter", claims={"gpu": wanted}, requests=whole_node, on=nowhere))
    scenario.wait(waiter, unschedulable("didn't match Pod's node affinity/selector"))
    plain = scenario.create(pod("plain", requests=whole_node, on=node))

    scenario.wait(plain, scheduled(node))
    assert (pending() & unscheduled())(scenario.get(waiter))


def pod_with_cats(node: str) -> Object:
    """The document's example for this node. The image of the container that the example lacks does not matter."""
    example: Object = yaml.safe_load((files("scenarios") / "examples" / "ps-pod-with-cats.yaml").read_text("utf-8"))
    example["spec"]["nodeSelector"]["kubernetes.io/hostname"] = node
    example["spec"]["containers"][0]["image"] = DEFAULT_IMAGE
    return example


def with_node_name(example: Object) -> Object:
    """The same Pod with the node's name in place of the selector."""
    node = example["spec"].pop("nodeSelector")["kubernetes.io/hostname"]
    example["spec"]["nodeName"] = node
    return example


@pytest.mark.statement("PS-11")
@pytest.mark.needs("kubelet")
def test_pod_with_cats_is_bound_to_its_node_by_the_scheduler(scenario: Scenario, difference: Difference) -> None:
    manifest = pod_with_cats(scenario.node)
    if difference("the manifest has the node name in place of the selector"):
        manifest = with_node_name(manifest)

    for stored in (scenario.client.create(manifest, dry_run=True), scenario.create(manifest)):
        assert unscheduled()(stored), "the Pod is on a node although no scheduler has seen it"
    scenario.wait(stored, scheduled(scenario.node))
    scenario.wait_event(stored, "Scheduled", f"to {scenario.node}")


@pytest.mark.control("PS-11")
@pytest.mark.needs("kubelet")
def test_pod_with_a_node_name_is_on_its_node_without_the_scheduler(scenario: Scenario) -> None:
    stored = scenario.create(with_node_name(pod_with_cats(scenario.node)))

    assert scheduled(scenario.node)(stored)
    scenario.wait(stored, running())
    through_scheduler = scenario.create(pod("twin", on=scenario.node))
    scenario.wait_event(through_scheduler, "Scheduled")
    assert "Scheduled" not in events(scenario, stored)
