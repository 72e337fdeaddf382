"""Isolation of devices needs a driver that publishes them; a device plugin does not (PQ-06, PQ-07)."""

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import pod
from harness.kube.predicates import gone, running, scheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.extended.counted import node_with_plugin, own_resource
from scenarios.taint.arrange import Consumer
from scenarios.taint.outcomes import kept_off
from scenarios.taint.rules import controller_knows, create_rule, message, published, user
from scenarios.taint.seen import RulesSeen, slices_seen

GPUS = 2


@pytest.mark.statement("PQ-06")
@pytest.mark.feature("DeviceTaintRule.status")
def test_rule_finds_the_devices_that_a_driver_publishes(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(GPUS), plugin=False)
    controller_knows(scenario)
    name = "nobody.example.com" if difference("the rule is for a driver that nobody has installed") else driver.name

    rule = create_rule(scenario, "None", driver=name)

    assert published(message(scenario, rule)) == GPUS


@pytest.mark.control("PQ-06")
@pytest.mark.feature("DeviceTaintRule.status")
def test_rule_finds_nothing_without_a_driver(scenario: Scenario) -> None:
    controller_knows(scenario)

    rule = create_rule(scenario, "None", driver="nobody.example.com")

    assert published(message(scenario, rule)) == 0


def counting(scenario: Scenario, name: str, resource: str, node: str) -> Object:
    """A Pod that runs on the node with one GPU of its device plugin."""
    return scenario.create(pod(name, limits={resource: 1}, on=node))


@pytest.mark.statement("PQ-07")
@pytest.mark.needs("bare-nodes")
def test_rule_reaches_a_node_with_a_plugin_only_once_a_driver_serves_it(
    scenario: Scenario, difference: Difference
) -> None:
    resource = own_resource(scenario)
    node = node_with_plugin(scenario, resource, GPUS)
    rules_seen = RulesSeen(scenario)
    create_rule(scenario, "NoExecute", pool=node)
    rules_seen()

    classic = scenario.wait(counting(scenario, "classic", resource, node), running())

    driver = scenario.driver(gpus(GPUS), nodes=[node], plugin=False)
    slices_seen(scenario)
    if difference("Pods go on asking the plugin"):
        kept_off(scenario, counting(scenario, "second", resource, node))
    kept_off(scenario, user(scenario, driver, "converted", node=node).pod)
    assert running()(scenario.get(classic))


@pytest.mark.control("PQ-07")
@pytest.mark.needs("bare-nodes")
def test_rule_beside_a_plugin_meets_only_pods_with_claims(scenario: Scenario) -> None:
    resource = own_resource(scenario)
    node = node_with_plugin(scenario, resource, GPUS)
    driver = scenario.driver(gpus(GPUS), nodes=[node], plugin=False)
    slices_seen(scenario)
    classic = scenario.wait(counting(scenario, "classic", resource, node), running())
    claiming: Consumer = user(scenario, driver, "claiming", node=node)
    scenario.wait(claiming.pod, scheduled(node))
    controller_knows(scenario)

    create_rule(scenario, "NoExecute", pool=node)

    scenario.wait(claiming.pod, gone())
    assert running()(scenario.get(classic))
    another = scenario.create(pod("another", limits={resource: 1}, on=node))
    scenario.wait(another, scheduled(node))
