"""The document's example of a fabric-attached GPU (BC-22 to BC-28)."""

import pytest

from fake_driver.attachment import chosen_node
from harness.kube.builders import claim, on_node, pod, request, resource_slice
from harness.kube.predicates import (
    AllocatedDevice,
    Predicate,
    allocated,
    allocated_devices,
    scheduled,
    scheduling_error,
    unallocated,
    unschedulable,
    unscheduled,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.binding.arrange import ONE_POLL, Consumer, conditions, consumer, report, still_waits, waiting
from scenarios.binding.example import FAST, PREPARED, PREPARING_FAILED, SLOW, Example, manifest, publish

pytestmark = pytest.mark.needs("bare-nodes")

NO_DEVICE = unschedulable("cannot allocate all claims")


def left_out(scenario: Scenario, made: Consumer, reason: Predicate[Object] = NO_DEVICE) -> None:
    """No node has a device for the Pod."""
    outcome = scenario.wait(made.pod, reason | scheduled())
    assert unscheduled()(outcome), f"the Pod was bound to {outcome['spec'].get('nodeName')}"
    scenario.wait(made.claim, unallocated())


@pytest.mark.statement("BC-22")
def test_every_field_of_the_example_is_stored(scenario: Scenario, difference: Difference) -> None:
    changed: Object = {"bindsToNode": False} if difference("the device does not bind to a node") else {}

    stored = publish(scenario, changes=changed).slice

    spec, wanted = dict(stored["spec"]), manifest()["spec"]
    assert spec.pop("driver") == stored["spec"]["driver"]
    wanted.pop("driver")
    assert spec == wanted


def fast_consumer(scenario: Scenario, example: Example) -> Consumer:
    """A consumer of the example's device that can run on any of the scenario's nodes, and on no other."""
    return waiting(scenario, example.driver, affinity=on_node(*example.nodes))


@pytest.mark.statement("BC-23", "BC-24", "BC-26", "BC-27")
def test_pod_goes_to_a_node_of_the_group_once_the_device_is_prepared(
    scenario: Scenario, difference: Difference
) -> None:
    binds = not difference("the device does not bind to a node")
    example = publish(scenario, SLOW, FAST, FAST, FAST, changes={"bindsToNode": binds})

    held = fast_consumer(scenario, example)
    assert allocated_devices(held.claim) == [AllocatedDevice(example.driver.name, "gpu-pool", "gpu-1")]
    node = chosen_node(held.claim["status"]["allocation"])
    assert node in example.nodes[1:], f"not one of the nodes with the label: {node}"
    assert unscheduled()(scenario.get(held.pod))

    report(example.driver, held, {PREPARED: "True"})
    scenario.wait(held.pod, scheduled(node), timeout=ONE_POLL)


@pytest.mark.control("BC-23")
def test_without_a_labelled_node_the_pod_stays_out(scenario: Scenario) -> None:
    example = publish(scenario, SLOW, SLOW)

    left_out(scenario, consumer(scenario, example.driver, affinity=on_node(*example.nodes)))


@pytest.mark.control("BC-24")
@pytest.mark.parametrize(
    "every",
    [
        pytest.param(False, marks=pytest.mark.feature("ResourcePool.incomplete-gives-no-device"), id="one"),
        pytest.param(True, id="all"),
    ],
)
def test_pool_with_a_slice_too_few_gives_nothing(scenario: Scenario, every: bool) -> None:
    # Beside the example, a pool that says it has one slice more than it has.
    example = publish(scenario, FAST)
    driver = scenario.driver(plugin=False)
    spec = manifest()["spec"]
    scenario.create(
        resource_slice(
            f"incomplete-{scenario.namespace}",
            driver.name,
            spec["devices"],
            pool="gpu-pool",
            slice_count=2,
            node_selector=spec["nodeSelector"],
        )
    )
    wanted = scenario.create(claim("wanted", request(driver.device_class, all_devices=every)))

    made = Consumer(scenario.create(pod("consumer", claims={"gpu": wanted}, affinity=on_node(*example.nodes))), wanted)

    updated = scheduling_error("asks for all devices, but resource pool")
    left_out(scenario, made, updated if every else NO_DEVICE)


@pytest.mark.statement("BC-25")
def test_device_is_selected_by_its_model(scenario: Scenario, difference: Difference) -> None:
    example = publish(scenario, FAST)
    model = "another-gpu" if difference("another model is asked for") else "example-gpu"

    made = by_model(scenario, example, model)

    scenario.wait(made.claim, allocated(), timeout=ONE_POLL)
    assert [found.device for found in allocated_devices(scenario.get(made.claim))] == ["gpu-1"]


@pytest.mark.control("BC-25")
def test_another_model_is_not_there(scenario: Scenario) -> None:
    left_out(scenario, by_model(scenario, publish(scenario, FAST), "another-gpu"))


def by_model(scenario: Scenario, example: Example, model: str) -> Consumer:
    """A consumer of a device of this model by this vendor."""
    attributes = f'device.attributes["{example.driver.name}"]'
    expression = f'{attributes}.model == "{model}" && {attributes}.vendor == "example"'
    wanted = scenario.create(claim("wanted", request(example.driver.device_class, selectors=[expression])))
    return Consumer(scenario.create(pod("consumer", claims={"gpu": wanted}, affinity=on_node(*example.nodes))), wanted)


@pytest.mark.control("BC-26")
def test_claim_has_the_selector_of_the_example_when_the_device_does_not_bind(scenario: Scenario) -> None:
    example = publish(scenario, FAST, FAST, FAST, changes={"bindsToNode": False})

    held = fast_consumer(scenario, example)

    assert held.claim["status"]["allocation"]["nodeSelector"] == manifest()["spec"]["nodeSelector"]


@pytest.mark.control("BC-27", "BC-28")
def test_pod_goes_on_waiting_while_nothing_is_true(scenario: Scenario) -> None:
    example = publish(scenario, FAST)
    held = fast_consumer(scenario, example)

    report(example.driver, held, {PREPARED: "False", PREPARING_FAILED: "False"})

    still_waits(scenario, held)


@pytest.mark.slow
@pytest.mark.statement("BC-28")
def test_failed_preparation_stops_the_binding_and_begins_anew(scenario: Scenario, difference: Difference) -> None:
    example = publish(scenario, FAST)
    held = fast_consumer(scenario, example)

    status = "False" if difference("the preparation has not failed") else "True"
    report(example.driver, held, {PREPARING_FAILED: status}, message="no answer")

    scenario.wait_event(held.pod, "FailedScheduling", 'message="no answer"', timeout=ONE_POLL)
    assert unscheduled()(scenario.get(held.pod))
    scenario.wait_event(held.pod, "FailedScheduling", "deallocation of ResourceClaim completed")
    again = scenario.wait(held.claim, allocated())
    assert conditions(again) == []
