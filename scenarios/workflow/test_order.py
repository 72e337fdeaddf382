"""Which device is taken when several fit: the first in the order of pools, slices and devices (WF-16 to WF-19)."""

from collections.abc import Sequence

import pytest

from fake_driver.inventory import Pool
from fake_driver.profiles import gpus
from harness.kube.builders import claim, pod, request
from harness.kube.predicates import AllocatedDevice, allocated, allocated_devices
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario

#: The feature of a release whose scheduler looks through pools and slices in the order of their names.
BY_NAME = "scheduler.slices-in-lexical-order"


def take_one(scenario: Scenario, device_class: str, name: str, selectors: Sequence[str] = ()) -> AllocatedDevice:
    """The device that a new Pod's claim for a single device is given."""
    wanted = scenario.create(claim(name, request(device_class, selectors=selectors)))
    scenario.create(pod(name, claims={"gpu": wanted}))
    return allocated_devices(scenario.wait(wanted, allocated()))[0]


def gpus_in_slices(node: str, names: Sequence[str]) -> Pool:
    """A pool of as many GPUs as names, each in a slice of its own of that name: gpu-0 in the first."""
    return gpus(len(names), name="pool", node=node, slice_size=1, slice_names=names)


@pytest.mark.statement("WF-16")
def test_first_listed_of_equal_devices_is_taken_every_time(scenario: Scenario, difference: Difference) -> None:
    for attempt in range(3):
        driver = scenario.driver(gpus(4), plugin=False)
        not_the_first: tuple[str, ...] = ()
        if difference("the request's selector excludes the first device"):
            not_the_first = (f"device.attributes['{driver.name}'].index != 0",)

        taken = take_one(scenario, driver.device_class, f"attempt-{attempt}", not_the_first)

        assert taken.device == "gpu-0"


@pytest.mark.control("WF-16")
def test_next_matching_device_is_taken_when_the_first_is_excluded(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(4), plugin=False)

    taken = take_one(scenario, driver.device_class, "choosy", [f"device.attributes['{driver.name}'].index in [1, 3]"])

    assert taken.device == "gpu-1"


@pytest.mark.statement("WF-17")
@pytest.mark.feature(BY_NAME)
def test_pools_are_taken_in_the_order_of_their_names(scenario: Scenario, difference: Difference) -> None:
    first, second = "a-pool", "b-pool"
    if difference("the pool that was published later sorts after the other"):
        first = "c-pool"
    driver = scenario.driver(gpus(1, name=second, node=scenario.node), plugin=False)
    driver.control.set_pools([*driver.control.pools, gpus(1, name=first, node=scenario.node)])

    assert take_one(scenario, driver.device_class, "only").pool == first


@pytest.mark.control("WF-17")
@pytest.mark.feature(BY_NAME)
def test_other_pool_is_taken_when_its_name_sorts_first(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1, name="b-pool", node=scenario.node), plugin=False)
    driver.control.set_pools([*driver.control.pools, gpus(1, name="c-pool", node=scenario.node)])

    assert take_one(scenario, driver.device_class, "only").pool == "b-pool"


@pytest.mark.statement("WF-18")
@pytest.mark.feature(BY_NAME)
def test_slices_of_a_pool_are_taken_in_the_order_of_their_names(scenario: Scenario, difference: Difference) -> None:
    names = [f"{scenario.namespace}-s-2", f"{scenario.namespace}-s-1"]  # gpu-0 is in s-2, which is created first
    if difference("the names of the slices are swapped"):
        names.reverse()
    driver = scenario.driver(gpus_in_slices(scenario.node, names), plugin=False)

    assert take_one(scenario, driver.device_class, "only").device == "gpu-1"


@pytest.mark.control("WF-18")
@pytest.mark.feature(BY_NAME)
def test_device_of_the_other_slice_is_taken_when_the_names_are_swapped(scenario: Scenario) -> None:
    names = [f"{scenario.namespace}-s-1", f"{scenario.namespace}-s-2"]
    driver = scenario.driver(gpus_in_slices(scenario.node, names), plugin=False)

    assert take_one(scenario, driver.device_class, "only").device == "gpu-0"


@pytest.mark.statement("WF-19")
@pytest.mark.feature(BY_NAME)
def test_preferred_pool_is_used_up_before_the_spare_one(scenario: Scenario, difference: Difference) -> None:
    preferred, spare = "00-preferred", "99-spare"
    if difference("the names of the pools are swapped"):
        preferred, spare = spare, preferred
    driver = scenario.driver(
        gpus(2, name=preferred, node=scenario.node), gpus(2, name=spare, node=scenario.node), plugin=False
    )

    used = [take_one(scenario, driver.device_class, f"claim-{number}").pool for number in range(4)]

    assert used == [preferred, preferred, spare, spare]


@pytest.mark.control("WF-19")
@pytest.mark.feature(BY_NAME)
def test_use_order_is_swapped_with_the_names_of_the_pools(scenario: Scenario) -> None:
    driver = scenario.driver(
        gpus(2, name="99-was-preferred", node=scenario.node),
        gpus(2, name="00-was-spare", node=scenario.node),
        plugin=False,
    )

    used = [take_one(scenario, driver.device_class, f"claim-{number}").pool for number in range(4)]

    assert used == ["00-was-spare", "00-was-spare", "99-was-preferred", "99-was-preferred"]
