"""A request for all devices when one of them is tainted, and the two ways out (TO-06 to TO-08)."""

import pytest

from fake_driver.profiles import gpus
from harness.drivers import Driver
from harness.kube.builders import claim, device_toleration, pod, request
from harness.kube.predicates import allocated_devices
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.taint.arrange import BROKEN, Consumer, tainted
from scenarios.taint.outcomes import is_placed, kept_off
from scenarios.taint.seen import slices_seen

TOLERATED = device_toleration(BROKEN.key, value=BROKEN.value, effect="NoSchedule")
NAMES = [f"gpu-{index}" for index in range(4)]


def one_tainted_of_four(scenario: Scenario) -> Driver:
    """A driver whose taint the scheduler knows."""
    driver = scenario.driver(tainted(gpus(4), "gpu-3", BROKEN), plugin=False)
    slices_seen(scenario)
    return driver


def consumer_of(scenario: Scenario, wanted: Object) -> Consumer:
    """A Pod for these devices of the scenario's node; another node's incomplete pools would stand in its way."""
    own = scenario.create(claim("wanted", wanted))
    return Consumer(scenario.create(pod("user", claims={"gpus": own}, on=scenario.node)), own)


def gets(scenario: Scenario, user: Consumer, *devices: str) -> None:
    """The Pod is placed with exactly these devices."""
    is_placed(scenario, user.pod)
    assert [device.device for device in allocated_devices(scenario.get(user.claim))] == [*devices]


def up_to(driver: Driver, index: int) -> str:
    """A selector by the index: a selector cannot see taints."""
    return f"device.attributes['{driver.name}'].index <= {index}"


@pytest.mark.statement("TO-06")
def test_one_tainted_device_stands_in_the_way_of_all(scenario: Scenario, difference: Difference) -> None:
    driver = one_tainted_of_four(scenario)

    if difference("the request is for exactly three devices"):
        user = consumer_of(scenario, request(driver.device_class, count=3))
    else:
        user = consumer_of(scenario, request(driver.device_class, all_devices=True))

    kept_off(scenario, user.pod)


@pytest.mark.control("TO-06")
def test_three_of_four_devices_are_given_when_three_are_asked_for(scenario: Scenario) -> None:
    driver = one_tainted_of_four(scenario)

    gets(scenario, consumer_of(scenario, request(driver.device_class, count=3)), *NAMES[:3])


@pytest.mark.statement("TO-07")
def test_all_devices_are_given_when_the_taint_is_tolerated(scenario: Scenario, difference: Difference) -> None:
    driver = one_tainted_of_four(scenario)
    wrong = difference("the toleration is for another key")

    chosen = device_toleration("example.com/reserved") if wrong else TOLERATED
    user = consumer_of(scenario, request(driver.device_class, all_devices=True, tolerations=[chosen]))

    gets(scenario, user, *NAMES)


@pytest.mark.control("TO-07")
def test_toleration_for_another_key_leaves_all_devices_out_of_reach(scenario: Scenario) -> None:
    driver = one_tainted_of_four(scenario)

    other = device_toleration("example.com/reserved")
    kept_off(scenario, consumer_of(scenario, request(driver.device_class, all_devices=True, tolerations=[other])).pod)


@pytest.mark.statement("TO-08")
def test_all_selected_devices_are_given_when_none_of_them_is_tainted(
    scenario: Scenario, difference: Difference
) -> None:
    driver = one_tainted_of_four(scenario)

    last = 3 if difference("the selector includes the tainted device") else 2
    user = consumer_of(scenario, request(driver.device_class, all_devices=True, selectors=[up_to(driver, last)]))

    gets(scenario, user, *NAMES[:3])


@pytest.mark.control("TO-08")
def test_selector_that_includes_the_tainted_device_leaves_the_pod_waiting(scenario: Scenario) -> None:
    driver = one_tainted_of_four(scenario)

    selectors = [up_to(driver, 3)]
    kept_off(scenario, consumer_of(scenario, request(driver.device_class, all_devices=True, selectors=selectors)).pod)
