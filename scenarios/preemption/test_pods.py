"""A single Pod of higher priority takes the place of others (PR-01), though never a DRA device (XD-33)."""

import pytest

from fake_driver.profiles import gpus
from harness.clusters.protocol import BareNode
from harness.kube.builders import claim, gang, pod, pod_group, request
from harness.kube.predicates import condition, initially_scheduled, scheduled, unallocated, unschedulable, unscheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.preemption.arrange import (
    AT_ONCE,
    classes,
    ending,
    left_without_place,
    new,
    nodes,
    of,
    placed,
    sent_away,
    stay,
)


def stays_out(scenario: Scenario, waiter: Object) -> None:
    """The scheduler has thought of preemption, and leaves the Pod without a place."""
    outcome = scenario.wait(waiter, unschedulable("preemption: ") | scheduled())
    assert unscheduled()(outcome), "the Pod was bound"


@pytest.mark.statement("PR-01")
@pytest.mark.needs("bare-nodes")
def test_pod_of_higher_priority_takes_the_place_of_another(scenario: Scenario, difference: Difference) -> None:
    (node,) = nodes(scenario, 2)
    victim = placed(scenario, "low", "low", node)
    other = placed(scenario, "middle", "middle", node)

    newcomer = new(scenario, "newcomer", "low" if difference("it has no higher priority") else "middle", node)

    outcome = scenario.wait(newcomer, scheduled(node) | unschedulable("No preemption victims found"), timeout=AT_ONCE)
    assert scheduled()(outcome), "there is nobody to be preempted for the Pod"
    sent_away(scenario, [victim], newcomer)
    assert condition("DisruptionTarget", "True", "PreemptionByScheduler")(ending(scenario, victim))
    stay(scenario, other)


@pytest.mark.control("PR-01")
@pytest.mark.needs("bare-nodes")
def test_nobody_goes_for_a_pod_of_equal_priority(scenario: Scenario) -> None:
    (node,) = nodes(scenario, 1)
    holder = placed(scenario, "holder", "middle", node)

    stays_out(scenario, new(scenario, "newcomer", "middle", node))

    stay(scenario, holder)


@pytest.mark.statement("XD-33")
def test_device_is_not_freed_for_a_pod_of_higher_priority(scenario: Scenario, difference: Difference) -> None:
    classes(scenario)
    driver = scenario.driver(gpus(2 if difference("there are enough devices") else 1), plugin=False)
    holder = scenario.wait(consumer(scenario, "holder", "low", driver.device_class), scheduled())

    stays_out(scenario, consumer(scenario, "newcomer", "high", driver.device_class))

    assert unallocated()(scenario.client.get("ResourceClaim", "newcomer"))
    stay(scenario, holder)


@pytest.mark.statement("XD-33")
@pytest.mark.feature("PodGroup.spec.disruptionMode")
def test_device_is_not_freed_for_a_gang_of_higher_priority(scenario: Scenario, difference: Difference) -> None:
    classes(scenario)
    driver = scenario.driver(gpus(2 if difference("there are enough devices") else 1), plugin=False)
    holder = scenario.wait(consumer(scenario, "holder", "low", driver.device_class), scheduled())

    group = scenario.create(pod_group("gang", gang(1), priority_class=of(scenario, "high")))
    consumer(scenario, "member", "high", driver.device_class, group)

    outcome = scenario.wait(group, left_without_place(scenario) | initially_scheduled())
    assert not initially_scheduled()(outcome), "the gang was placed"
    assert unallocated()(scenario.client.get("ResourceClaim", "member"))
    stay(scenario, holder)


def consumer(scenario: Scenario, name: str, priority: str, device_class: str, group: Object | None = None) -> Object:
    """A Pod of that priority with a claim for one device."""
    wanted = scenario.create(claim(name, request(device_class)))
    return scenario.create(pod(name, claims={"gpu": wanted}, priority_class=of(scenario, priority), pod_group=group))


@pytest.mark.control("XD-33")
@pytest.mark.needs("bare-nodes")
def test_device_of_a_device_plugin_is_freed(scenario: Scenario) -> None:
    classes(scenario)
    resource = f"{scenario.namespace}.example.com/gpu"
    (node,) = scenario.bare_nodes(BareNode("node", {"cpu": "8", "memory": "8Gi", "pods": "20", resource: "1"}))
    holder, newcomer = (
        scenario.wait(
            scenario.create(pod(name, limits={resource: 1}, priority_class=of(scenario, name))), scheduled(node)
        )
        for name in ("low", "high")
    )

    sent_away(scenario, [holder], newcomer)
