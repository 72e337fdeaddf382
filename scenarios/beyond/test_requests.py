"""More than whole devices for one claim each: admin access, alternatives, partitions, shares (XD-08 to XD-11)."""

from typing import Literal

import pytest

from fake_driver.inventory import Pool
from fake_driver.profiles import gpus, partitionable, shareable, small_gpus
from harness.clusters.protocol import BareNode
from harness.drivers import Driver
from harness.kube import ApiError
from harness.kube.builders import ADMIN_ACCESS_LABEL, claim, first_available, request, subrequest
from harness.kube.predicates import allocated_devices, allocation_results
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.beyond.consumers import ask, left_out, served

Size = Literal["whole", "half", "quarter"]


@pytest.mark.statement("XD-08")
def test_claim_with_admin_access_is_given_a_device_in_use(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1), plugin=False)
    held = served(scenario, *ask(scenario, "user", request(driver.device_class)))
    if not difference("the namespace does not carry the label for admin access"):
        namespace = scenario.client.get("Namespace", scenario.namespace)
        scenario.client.patch(namespace, {"metadata": {"labels": {ADMIN_ACCESS_LABEL: "true"}}})

    seen = served(scenario, *ask(scenario, "admin", request(driver.device_class, admin_access=True)))

    assert allocated_devices(seen) == allocated_devices(held)
    assert [result.get("adminAccess") for result in allocation_results(seen)] == [True]
    assert scenario.get(held)["status"]["allocation"] == held["status"]["allocation"]


@pytest.mark.control("XD-08")
def test_claim_with_admin_access_is_refused_in_a_namespace_without_the_label(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1), plugin=False)

    with pytest.raises(ApiError, match=f"admin access to devices requires the .{ADMIN_ACCESS_LABEL}: true. label"):
        scenario.create(claim("admin", request(driver.device_class, admin_access=True)))


def driver_with_a_small_and_a_large_gpu(scenario: Scenario) -> Driver:
    """The small one is listed first, so that a large one is not taken for its place."""
    return scenario.driver(Pool(devices=[*small_gpus(1).devices, *gpus(1).devices]), plugin=False)


def alternatives(driver: Driver, *models: str) -> Object:
    """A request for a GPU of the first of these models that can be had."""
    return first_available(
        "gpu",
        *(
            subrequest(
                driver.device_class, model.lower(), selectors=[f"device.attributes['{driver.name}'].model == '{model}'"]
            )
            for model in models
        ),
    )


@pytest.mark.statement("XD-09")
def test_first_alternative_that_can_be_had_is_allocated(scenario: Scenario, difference: Difference) -> None:
    driver = driver_with_a_small_and_a_large_gpu(scenario)
    models = ["DC-80G", "Small-24G"]
    if difference("the alternatives stand in the other order"):
        models.reverse()

    first = served(scenario, *ask(scenario, "first", alternatives(driver, *models)))
    second = served(scenario, *ask(scenario, "second", alternatives(driver, *models)))

    assert [device.device for device in allocated_devices(first, "gpu/dc-80g")] == ["gpu-0"]
    assert [device.device for device in allocated_devices(second, "gpu/small-24g")] == ["small-0"]
    left_out(scenario, *ask(scenario, "third", alternatives(driver, *models)))


@pytest.mark.control("XD-09")
def test_small_gpu_is_allocated_first_when_it_is_the_first_alternative(scenario: Scenario) -> None:
    driver = driver_with_a_small_and_a_large_gpu(scenario)

    first = served(scenario, *ask(scenario, "first", alternatives(driver, "Small-24G", "DC-80G")))

    assert [device.device for device in allocated_devices(first, "gpu/small-24g")] == ["small-0"]


def partitions_of_one_gpu(scenario: Scenario) -> Driver:
    """On a node of its own: a pool of two slices is incomplete for a moment, which others' claims might notice."""
    (node,) = scenario.bare_nodes(BareNode("own"))
    return scenario.driver(partitionable(1), nodes=[node], plugin=False)


def partition(driver: Driver, size: Size) -> Object:
    """A request for a partition of this size."""
    return request(driver.device_class, selectors=[f"device.attributes['{driver.name}'].partition == '{size}'"])


@pytest.mark.statement("XD-10")
@pytest.mark.feature("ResourceSlice.counters-in-own-slice")
@pytest.mark.needs("bare-nodes")
def test_nothing_fits_once_the_shared_counters_are_used_up(scenario: Scenario, difference: Difference) -> None:
    driver = partitions_of_one_gpu(scenario)
    sizes: list[Size] = ["half", "quarter", "quarter"]
    if difference("one quarter is not allocated"):
        sizes.pop()
    for number, size in enumerate(sizes):
        served(scenario, *ask(scenario, f"user-{number}", partition(driver, size)))

    left_out(scenario, *ask(scenario, "one-more-quarter", partition(driver, "quarter")))
    left_out(scenario, *ask(scenario, "one-more-half", partition(driver, "half")))
    left_out(scenario, *ask(scenario, "the-whole", partition(driver, "whole")))


@pytest.mark.control("XD-10")
@pytest.mark.feature("ResourceSlice.counters-in-own-slice")
@pytest.mark.needs("bare-nodes")
def test_another_quarter_fits_once_one_is_given_back(scenario: Scenario) -> None:
    driver = partitions_of_one_gpu(scenario)
    served(scenario, *ask(scenario, "half", partition(driver, "half")))
    served(scenario, *ask(scenario, "quarter", partition(driver, "quarter")))
    user, held = ask(scenario, "given-back", partition(driver, "quarter"))
    served(scenario, user, held)
    waiter = ask(scenario, "waiter", partition(driver, "quarter"))
    left_out(scenario, *waiter)

    scenario.delete(user)
    scenario.delete(held)

    served(scenario, *waiter)


def memory(driver: Driver, amount: str) -> Object:
    """A request for a part of a shared GPU's memory."""
    return request(driver.device_class, capacity={"memory": amount})


@pytest.mark.statement("XD-11")
def test_device_is_shared_as_long_as_its_capacity_lasts(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(shareable(1), plugin=False)
    third = "20Gi" if difference("the third claim asks for what is left") else "30Gi"

    claims = [served(scenario, *ask(scenario, name, memory(driver, "30Gi"))) for name in ("first", "second")]

    results = [result for own in claims for result in allocation_results(own)]
    assert [result["device"] for result in results] == ["shared-0", "shared-0"]
    assert [result["consumedCapacity"] for result in results] == [{"memory": "30Gi"}, {"memory": "30Gi"}]
    assert len({result["shareID"] for result in results}) == 2
    left_out(scenario, *ask(scenario, "third", memory(driver, third)))


@pytest.mark.control("XD-11")
def test_claim_for_the_rest_of_the_capacity_is_allocated(scenario: Scenario) -> None:
    driver = scenario.driver(shareable(1), plugin=False)
    amounts = {"first": "30Gi", "second": "30Gi", "third": "20Gi"}

    claims = [served(scenario, *ask(scenario, name, memory(driver, amount))) for name, amount in amounts.items()]

    results = [result for own in claims for result in allocation_results(own)]
    assert [result["consumedCapacity"]["memory"] for result in results] == ["30Gi", "30Gi", "20Gi"]
    assert len({result["shareID"] for result in results}) == 3
