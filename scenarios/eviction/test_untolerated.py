"""A release whose allocations keep no tolerations: the controller that evicts knows of none (EV-07 to EV-10)."""

import time

import pytest

from fake_driver.profiles import gpus
from harness.kube.predicates import running, terminating
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.eviction.arrange import SLACK, evicted_after, run_on_gpu, taint, tolerating

pytestmark = [pytest.mark.needs("kubelet"), pytest.mark.feature("DeviceTaint.evicts-whoever-tolerates-it")]

WHY = "an allocation keeps no tolerations, so the Pod is evicted at once whatever its request tolerates"


@pytest.mark.statement("EV-07", "EV-08", "EV-09", "EV-10")
@pytest.mark.deviates("EV-07", WHY)
@pytest.mark.deviates("EV-08", WHY)
@pytest.mark.deviates("EV-09", WHY)
@pytest.mark.deviates("EV-10", WHY)
@pytest.mark.parametrize("seconds", [3600, None], ids=["for-an-hour", "for-ever"])
def test_toleration_saves_nobody_from_eviction(scenario: Scenario, difference: Difference, seconds: int | None) -> None:
    driver = scenario.driver(gpus(2))
    worker, device = run_on_gpu(scenario, driver, tolerations=tolerating(seconds))
    effect = "NoSchedule" if difference("the effect of the taint is NoSchedule") else "NoExecute"

    taint(scenario, driver, device, effect=effect)

    assert evicted_after(scenario, worker, time.time(), timeout=15) < SLACK


@pytest.mark.control("EV-08", "EV-09", "EV-10")
def test_pod_on_a_device_without_a_taint_goes_on(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2))
    victim, device = run_on_gpu(scenario, driver, "victim", tolerating(3600))
    other, _ = run_on_gpu(scenario, driver, "other", tolerating(3600))

    taint(scenario, driver, device)

    scenario.wait(victim, terminating())
    assert (running() & ~terminating())(scenario.get(other))
