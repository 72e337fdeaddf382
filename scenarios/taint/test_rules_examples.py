"""The two rules of the document, a whole driver and one GPU (TR-01, TR-08)."""

import pytest

from fake_driver.profiles import gpus
from harness.drivers import Driver
from harness.kube.predicates import running, scheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.taint.arrange import Consumer, consumer
from scenarios.taint.outcomes import device_of, evicted, goes_on, is_placed, kept_off
from scenarios.taint.rules import controller_knows, example, message, user
from scenarios.taint.seen import RulesSeen


def whole_driver_is_broken(scenario: Scenario, driver: Driver) -> Object:
    """The document's first example, for this driver."""
    manifest = example(scenario, "tr-rule-driver-noexecute.yaml")
    assert list(manifest["spec"]["deviceSelector"]) == ["driver"]
    manifest["spec"]["deviceSelector"]["driver"] = driver.name
    return manifest


def one_gpu_is_degraded(scenario: Scenario, driver: Driver) -> Object:
    """The document's second example, for this driver and node: gpu-3."""
    manifest = example(scenario, "tr-rule-device-noschedule.yaml")
    assert list(manifest["spec"]["deviceSelector"]) == ["driver", "pool", "device"]
    manifest["spec"]["deviceSelector"].update(driver=driver.name, pool=scenario.node)
    return manifest


@pytest.mark.statement("TR-01")
@pytest.mark.needs("kubelet")
def test_whole_installation_of_a_driver_is_taken_out(scenario: Scenario, difference: Difference) -> None:
    nodes = scenario.nodes(2)
    driver, other = scenario.driver(gpus(2), nodes=nodes), scenario.driver(gpus(2), nodes=nodes)
    runners = [user(scenario, driver, f"runner-{node}", node=node).pod for node in nodes]
    beside = [user(scenario, other, f"beside-{node}", node=node).pod for node in nodes]
    runners, beside = ([scenario.wait(each, running()) for each in pods] for pods in (runners, beside))
    rules_seen = RulesSeen(scenario)

    scenario.create(whole_driver_is_broken(scenario, other if difference("another driver is broken") else driver))
    rules_seen()

    for runner in runners:
        evicted(scenario, runner, timeout=10)
    kept_off(scenario, user(scenario, driver, "new").pod)
    is_placed(scenario, user(scenario, other, "new-beside").pod)
    controller_knows(scenario)
    for each in beside:
        goes_on(scenario, each)


@pytest.mark.control("TR-01")
def test_devices_are_given_out_again_once_the_rule_is_deleted(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1), nodes=scenario.nodes(2), plugin=False)
    rules_seen = RulesSeen(scenario)
    rule = scenario.create(whole_driver_is_broken(scenario, driver))
    rules_seen()
    waiters = [user(scenario, driver, f"waiter-{number}").pod for number in range(2)]
    for waiter in waiters:
        kept_off(scenario, waiter)

    scenario.delete(rule)

    for waiter in waiters:
        scenario.wait(waiter, scheduled())


def others_are_given_out(scenario: Scenario, driver: Driver) -> None:
    """The GPUs beside gpu-3 are given to new Pods, and no fifth one is."""
    new = [consumer(scenario, driver, f"new-{number}") for number in range(4)]
    assert {device_of(scenario, each) for each in new} == {"gpu-0", "gpu-1", "gpu-2", "gpu-4"}


def leave(scenario: Scenario, placed: Consumer) -> None:
    """The Pod and its claim go, so that its device is free."""
    scenario.delete(placed.pod)
    scenario.delete(placed.claim)


@pytest.mark.statement("TR-08")
@pytest.mark.needs("kubelet")
@pytest.mark.feature("DeviceTaintRule.status")
def test_one_degraded_gpu_is_left_to_its_pod_and_given_to_no_other(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(5))
    on_degraded = consumer(scenario, driver, "runner", gpu=3)
    runner = scenario.wait(on_degraded.pod, running())
    rules_seen = RulesSeen(scenario)

    rule = scenario.create(one_gpu_is_degraded(scenario, driver))
    assert message(scenario, rule) == "Eviction only happens for the NoExecute effect."
    if difference("the rule is deleted"):
        scenario.delete(rule)
    rules_seen()

    others_are_given_out(scenario, driver)
    controller_knows(scenario)
    goes_on(scenario, runner)
    leave(scenario, on_degraded)
    kept_off(scenario, consumer(scenario, driver, "late").pod)


@pytest.mark.control("TR-08")
def test_gpu_is_given_out_again_once_the_rule_is_deleted(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(5), plugin=False)
    rules_seen = RulesSeen(scenario)
    rule = scenario.create(one_gpu_is_degraded(scenario, driver))
    rules_seen()
    others_are_given_out(scenario, driver)
    late = consumer(scenario, driver, "late")
    kept_off(scenario, late.pod)

    scenario.delete(rule)

    assert device_of(scenario, late) == "gpu-3"
