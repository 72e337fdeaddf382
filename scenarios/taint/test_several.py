"""Several marks on a device, several devices and Pods of a claim (TA-07, TA-08), and a mark that goes (XD-18)."""

import time

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import claim, device_taint, device_taint_rule, device_toleration, pod, request
from harness.kube.predicates import running, scheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.taint.arrange import BROKEN, HOUR, LOST, consumer, lost_since, tainted
from scenarios.taint.outcomes import evicted, goes_on, is_placed, kept_off
from scenarios.taint.seen import RulesSeen, slices_seen


@pytest.mark.statement("TA-08")
def test_marks_of_driver_and_administrator_add_up(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(tainted(gpus(1), "gpu-0", BROKEN), plugin=False)
    by_rule = device_taint("example.com/maintenance", "NoSchedule")
    if not difference("only the driver sets a mark"):
        seen = RulesSeen(scenario)
        scenario.create(device_taint_rule(scenario.namespace, by_rule, driver=driver.name, device="gpu-0"))
        seen()
    slices_seen(scenario)

    of_driver, of_rule = device_toleration(BROKEN.key), device_toleration(by_rule["key"])
    kept_off(scenario, consumer(scenario, driver, "driver-only", tolerations=[of_driver]).pod)
    kept_off(scenario, consumer(scenario, driver, "rule-only", tolerations=[of_rule]).pod)
    is_placed(scenario, consumer(scenario, driver, "both", tolerations=[of_driver, of_rule]).pod)


@pytest.mark.statement("TA-07")
@pytest.mark.needs("kubelet")
def test_every_pod_of_a_claim_is_removed_when_one_of_its_devices_is_tainted(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(gpus(3))
    shared = scenario.create(claim("shared", request(driver.device_class, count=2)))
    users = [scenario.create(pod(name, claims={"gpus": shared})) for name in ("one", "other")]
    runners = [scenario.wait(user, running()) for user in users]

    device = "gpu-2" if difference("the tainted device is not of that claim") else "gpu-1"
    driver.control.update_device(scenario.node, device, taints=[LOST])

    for runner in runners:
        evicted(scenario, runner, timeout=10)


@pytest.mark.statement("XD-18")
@pytest.mark.needs("kubelet")
@pytest.mark.feature("ResourceClaim.status.allocation.devices.results.tolerations")
def test_eviction_is_called_off_when_the_taint_goes_in_time(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    for_an_hour = [device_toleration(LOST.key, effect="NoExecute", seconds=HOUR)]
    users = [consumer(scenario, driver, f"user-{i}", gpu=i, tolerations=for_an_hour) for i in range(2)]
    runner, witness = (scenario.wait(user.pod, running()) for user in users)
    taint = lost_since(time.time() - HOUR + 4)
    both = tainted(tainted(driver.control.pools[0], "gpu-0", taint), "gpu-1", taint)
    driver.control.set_pools([both])

    if not difference("the taint stays"):
        driver.control.update_device(scenario.node, "gpu-0", taints=())
        scenario.wait_event(runner, "DeviceTaintManagerEviction", "Cancelling deletion", timeout=10)

    evicted(scenario, witness)  # the time of both is over
    goes_on(scenario, runner)


@pytest.mark.control("XD-18")
@pytest.mark.feature("ResourceClaim.status.allocation.devices.results.tolerations")
def test_pod_is_evicted_at_its_time_when_the_taint_stays(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1), plugin=False)
    for_an_hour = [device_toleration(LOST.key, effect="NoExecute", seconds=HOUR)]
    user = consumer(scenario, driver, "user", tolerations=for_an_hour).pod
    scenario.wait(user, scheduled())
    added = int(time.time()) - HOUR + 2

    driver.control.update_device(scenario.node, "gpu-0", taints=[lost_since(added)])

    evicted(scenario, user)
    assert time.time() >= added + HOUR
