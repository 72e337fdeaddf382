"""The documents' accelerator that costs host memory (NA-27, NA-28)."""

import pytest

from harness.drivers import Driver
from harness.kube import ApiError
from harness.kube.builders import claim, pod, request
from harness.kube.predicates import AllocatedDevice, allocated_devices, scheduled, unallocated
from harness.kube.refusals import refused
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.node_allocatable.arrange import (
    Consumer,
    allocatable,
    amount,
    bound,
    charged,
    consumer,
    footprint,
    large_node,
    left_out,
    ordinary,
    room_is,
)
from scenarios.node_allocatable.example import XPUS, example, publish

pytestmark = pytest.mark.feature("ResourceSlice.spec.devices.nodeAllocatableResources")


@pytest.mark.statement("NA-27")
def test_accelerator_costs_its_pod_more_memory(scenario: Scenario, difference: Difference) -> None:
    node = large_node(scenario, memory="32Gi")
    made = example(scenario, XPUS, node)
    if difference("the device has no node allocatable resources"):
        del made.slice["spec"]["devices"][0]["nodeAllocatableResources"]
    scenario.create(made.slice)

    user = bound(scenario, consumer(scenario, made.driver, node, requests={"memory": "1Gi"}))

    (entry,) = footprint(user.pod) or [{}]
    assert entry.get("overhead") == [{"name": "memory", "perPod": "8Gi"}]
    assert charged(user.pod, "memory") == amount("9Gi")
    room_is(scenario, node, "memory", allocatable(scenario, node, "memory") - amount("9Gi"))


@pytest.mark.control("NA-27")
def test_node_with_room_for_the_request_only_is_too_small(scenario: Scenario) -> None:
    node = large_node(scenario, memory="10Gi")
    made = publish(scenario, XPUS, node)
    filler = ordinary(scenario, node, "filler", {"memory": amount("1Gi") + 1})
    scenario.wait(filler, scheduled())

    waiting = consumer(scenario, made.driver, node, requests={"memory": "1Gi"})

    left_out(scenario, waiting.pod, "Insufficient memory")
    scenario.wait(waiting.claim, unallocated())
    scenario.delete(filler)
    bound(scenario, waiting)


def asks_for_model(scenario: Scenario, driver: Driver, node: str, model: str) -> Consumer:
    """A Pod with a claim for an accelerator of that model."""
    expression = f'device.attributes["example.com"].model == "{model}"'
    wanted = scenario.create(claim(model, request(driver.device_class, selectors=[expression])))
    return Consumer(scenario.create(pod(model, claims={"xpu": wanted}, on=node)), wanted)


@pytest.mark.statement("NA-28")
@pytest.mark.deviates("NA-28", "as printed the slice is refused: in the API the resource's name stands before overhead")
def test_slice_as_printed_is_refused_and_works_in_the_shape_of_the_api(
    scenario: Scenario, difference: Difference
) -> None:
    node = large_node(scenario)
    printed = example(scenario, XPUS, node, printed=not difference("the slice has the shape of the API")).slice

    unknown = r'unknown field "spec\.devices\[0\]\.nodeAllocatableResources\.overhead\.memory"'
    with pytest.raises(ApiError, match=unknown):
        scenario.create(printed)
    refused(
        lambda: scenario.client.create(printed, validation="Ignore"),
        "spec.devices[0].nodeAllocatableResources[overhead]",
    )

    made = publish(scenario, XPUS, node)
    user = bound(scenario, asks_for_model(scenario, made.driver, node, "model-x"))
    assert allocated_devices(user.claim) == [AllocatedDevice(made.driver.name, "xpu-pool", "xpu-model-x-001")]
    assert made.slice["spec"]["pool"] == {"name": "xpu-pool", "generation": 1, "resourceSliceCount": 1}


@pytest.mark.control("NA-28")
def test_selector_for_another_model_finds_nothing(scenario: Scenario) -> None:
    node = large_node(scenario)
    made = publish(scenario, XPUS, node)

    waiting = asks_for_model(scenario, made.driver, node, "model-y")

    left_out(scenario, waiting.pod, "cannot allocate all claims")
    scenario.wait(waiting.claim, unallocated())
