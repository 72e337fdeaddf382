"""The three effects, and what each means for running and for new Pods (TA-06, TA-07, TA-11 to TA-13)."""

import pytest

from fake_driver.inventory import Taint
from fake_driver.profiles import gpus, shareable
from harness.kube.builders import STUBBORN, claim, device_taint, device_taint_rule, pod, request
from harness.kube.predicates import (
    condition,
    running,
    scheduled,
    terminating,
    unallocated,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.taint.arrange import BROKEN, LOST, consumer, tainted
from scenarios.taint.outcomes import EVICTED, device_of, evicted, goes_on, is_placed, kept_off
from scenarios.taint.seen import RulesSeen, slices_seen


@pytest.mark.statement("TA-06")
def test_new_pod_is_not_placed_on_a_tainted_device(scenario: Scenario, difference: Difference) -> None:
    late = difference("the Pod is on the device before the taint")
    driver = scenario.driver(tainted(gpus(1), "gpu-0", *(() if late else (BROKEN,))), plugin=False)
    slices_seen(scenario)

    new = consumer(scenario, driver, "new")
    if late:
        scenario.wait(new.pod, scheduled())
        driver.control.update_device(scenario.node, "gpu-0", taints=[BROKEN])

    kept_off(scenario, new.pod)
    scenario.wait(new.claim, unallocated())


@pytest.mark.control("TA-06", "TA-07")
@pytest.mark.needs("kubelet")
def test_pods_that_run_on_other_devices_or_without_noexecute_go_on(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(3))
    users = [consumer(scenario, driver, f"user-{index}", gpu=index) for index in range(3)]
    on_broken, on_lost, on_healthy = (scenario.wait(user.pod, running()) for user in users)

    # One write: when the controller acts on the one taint it knows of the other.
    driver.control.set_pools([tainted(tainted(driver.control.pools[0], "gpu-0", BROKEN), "gpu-1", LOST)])

    evicted(scenario, on_lost)
    goes_on(scenario, on_broken)
    goes_on(scenario, on_healthy)


@pytest.mark.statement("TA-06")
@pytest.mark.deviates("TA-06", "a new Pod joins an allocated claim: the scheduler never looks at its taints")
def test_new_pod_joins_an_allocated_claim_whose_device_is_tainted(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2), plugin=False)
    first = consumer(scenario, driver, "first")
    assert device_of(scenario, first) == "gpu-0"
    driver.control.update_device(scenario.node, "gpu-0", taints=[BROKEN])
    slices_seen(scenario)

    if difference("the new Pod brings a claim of its own for the device"):
        joining = consumer(scenario, driver, "joining", gpu=0).pod
    else:
        joining = scenario.create(pod("joining", claims={"gpu": first.claim}))

    is_placed(scenario, joining)


@pytest.mark.statement("TA-07")
@pytest.mark.needs("kubelet")
def test_running_pod_is_removed_from_the_device(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    user = consumer(scenario, driver, "user", gpu=0)
    runner = scenario.wait(user.pod, running())

    other = difference("another device of the node is tainted")
    driver.control.update_device(scenario.node, "gpu-1" if other else "gpu-0", taints=[LOST])

    evicted(scenario, runner, timeout=10)


@pytest.mark.statement("TA-11")
@pytest.mark.needs("kubelet")
def test_noschedule_leaves_running_pods_and_keeps_new_ones_off(scenario: Scenario, difference: Difference) -> None:
    # A device that several claims can share: without the taint there is room for the new Pod.
    driver = scenario.driver(shareable(2))
    users = [consumer(scenario, driver, f"user-{index}", gpu=index) for index in range(2)]
    runner, witness = (scenario.wait(user.pod, running()) for user in users)

    effect = "NoExecute" if difference("the effect is NoExecute") else "NoSchedule"
    taint = Taint("example.com/broken", effect)
    driver.control.set_pools([tainted(tainted(driver.control.pools[0], "shared-0", taint), "shared-1", LOST)])
    slices_seen(scenario)

    kept_off(scenario, consumer(scenario, driver, "new", gpu=0).pod)
    evicted(scenario, witness)
    goes_on(scenario, runner)


@pytest.mark.control("TA-11")
@pytest.mark.needs("kubelet")
def test_noexecute_removes_the_running_pod_and_keeps_new_ones_off(scenario: Scenario) -> None:
    driver = scenario.driver(shareable(1))
    runner = scenario.wait(consumer(scenario, driver, "user").pod, running())

    driver.control.update_device(scenario.node, "shared-0", taints=[LOST])
    slices_seen(scenario)

    kept_off(scenario, consumer(scenario, driver, "new").pod)
    evicted(scenario, runner)


@pytest.mark.statement("TA-12")
@pytest.mark.needs("kubelet")
def test_noexecute_keeps_the_replacement_off_the_device_as_well(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    runner = scenario.wait(consumer(scenario, driver, "user").pod, running())

    driver.control.update_device(scenario.node, "gpu-0", taints=[LOST])
    evicted(scenario, runner)
    if difference("the taint is removed before the replacement arrives"):
        driver.control.update_device(scenario.node, "gpu-0", taints=())
    slices_seen(scenario)

    kept_off(scenario, consumer(scenario, driver, "replacement").pod)


@pytest.mark.control("TA-12")
@pytest.mark.needs("kubelet")
def test_replacement_gets_the_device_once_the_taint_is_gone(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    runner = scenario.wait(consumer(scenario, driver, "user").pod, running())
    driver.control.update_device(scenario.node, "gpu-0", taints=[LOST])
    evicted(scenario, runner)

    driver.control.update_device(scenario.node, "gpu-0", taints=())

    replacement = consumer(scenario, driver, "replacement")
    assert device_of(scenario, replacement) == "gpu-0"
    scenario.wait(replacement.pod, running())


@pytest.mark.statement("TA-12")
@pytest.mark.needs("kubelet")
@pytest.mark.deviates("TA-12", "a new Pod that joins the claim of an evicted one is placed, and then evicted as well")
def test_new_pod_joins_the_claim_of_an_evicted_one_and_is_evicted_too(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(gpus(1))
    shared = scenario.create(claim("shared", request(driver.device_class)))
    # As long as it ends, it keeps the claim reserved.
    leaving = scenario.create(pod("leaving", claims={"gpu": shared}, command=STUBBORN, grace_seconds=60))
    scenario.wait(leaving, running())
    driver.control.update_device(scenario.node, "gpu-0", taints=[LOST])
    scenario.wait(leaving, terminating() & EVICTED)
    slices_seen(scenario)

    if difference("the new Pod brings a claim of its own"):
        shared = scenario.create(claim("own", request(driver.device_class)))
    joining = scenario.create(pod("joining", claims={"gpu": shared}, command=STUBBORN, grace_seconds=60))

    is_placed(scenario, joining)
    scenario.wait(joining, terminating() & EVICTED)


def rule_of_effect(name: str, effect: str, driver: str) -> Object:
    """A rule that taints all devices of a driver."""
    return device_taint_rule(name, {**device_taint("example.com/noted", "None"), "effect": effect}, driver=driver)


@pytest.mark.statement("TA-13")
@pytest.mark.needs("kubelet")
@pytest.mark.feature("DeviceTaintRule.status")
def test_effect_none_neither_evicts_nor_keeps_off(scenario: Scenario, difference: Difference) -> None:
    effect = "NoSchedule" if difference("the effect is NoSchedule") else "None"
    driver = scenario.driver(gpus(2))
    runner = scenario.wait(consumer(scenario, driver, "runner").pod, running())
    rules_seen = RulesSeen(scenario)

    rule = scenario.create(rule_of_effect(scenario.namespace, effect, driver.name))
    scenario.wait(rule, condition("EvictionInProgress", "False"))
    rules_seen()

    is_placed(scenario, consumer(scenario, driver, "new").pod)
    goes_on(scenario, runner)


@pytest.mark.control("TA-13")
@pytest.mark.feature("DeviceTaint.effect.None")
def test_pods_wait_once_effect_none_has_become_noschedule(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2), plugin=False)
    rules_seen = RulesSeen(scenario)
    rule = scenario.create(rule_of_effect(scenario.namespace, "None", driver.name))
    assert device_of(scenario, consumer(scenario, driver, "before")) == "gpu-0"

    scenario.client.patch(rule, {"spec": {"taint": {"effect": "NoSchedule"}}})
    rules_seen()

    kept_off(scenario, consumer(scenario, driver, "after").pod)
