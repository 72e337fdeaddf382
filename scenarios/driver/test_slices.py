"""What any driver publishes (XD-70, XD-74)."""

import pytest

from harness.kube.builders import request
from harness.kube.predicates import any_of, exists
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.beyond.consumers import ask, left_out
from scenarios.driver.arrange import careless, published, under_test
from scenarios.driver.slices import faults, incomplete, well_formed, whole


@pytest.mark.statement("XD-70")
def test_driver_publishes_whole_pools_for_nodes_there_are(scenario: Scenario, difference: Difference) -> None:
    driver = under_test(scenario)
    if difference("a slice of its pool is missing"):
        driver = careless(scenario, ["gpu-0"], of=2)

    slices = published(scenario, driver.name, whole())

    nodes = {node["metadata"]["name"] for node in scenario.client.list("Node")[0]}
    named = {each["spec"]["nodeName"] for each in slices if each["spec"].get("nodeName")}
    assert named <= nodes, f"slices are for nodes that are not there: {named - nodes}"


@pytest.mark.control("XD-70")
def test_nothing_is_allocated_from_a_pool_that_is_not_whole(scenario: Scenario) -> None:
    driver = careless(scenario, ["gpu-0"], of=2)

    slices = published(scenario, driver.name, any_of(exists()))
    assert [*incomplete(slices)] == ["pool careless has 1 slices, which say [2]"]
    if scenario.release.has("ResourcePool.incomplete-gives-no-device"):
        left_out(scenario, *ask(scenario, "consumer", request(driver.device_class)))


@pytest.mark.statement("XD-74")
def test_devices_have_names_of_their_own_and_slices_are_not_too_large(
    scenario: Scenario, difference: Difference
) -> None:
    driver = under_test(scenario)
    if difference("two of its slices have a device of the same name"):
        driver = careless(scenario, ["gpu-0"], ["gpu-0"], of=2)

    published(scenario, driver.name, well_formed())


@pytest.mark.control("XD-74")
def test_two_slices_of_a_pool_with_the_same_device_are_told(scenario: Scenario) -> None:
    driver = careless(scenario, ["gpu-0"], ["gpu-0"], of=2)

    slices = published(scenario, driver.name, whole())
    assert [*faults(slices)] == ["pool careless: device gpu-0 is there 2 times"]
