"""What a restart in the middle of an eviction changes: nothing (XD-19)."""

import time

import pytest

from fake_driver.profiles import gpus
from harness.clusters.protocol import Component
from harness.kube.predicates import gone, running, terminating
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.eviction.arrange import evicted_after, eviction_barrier, run_on_gpu, taint, tolerating, whole_second

RESTARTED = pytest.mark.parametrize("component", ["kube-controller-manager", "kube-apiserver"])

#: Longer than a restart takes on a busy machine.
TIME = 15


@pytest.mark.statement("XD-19")
@pytest.mark.needs("kubelet", "restart")
@pytest.mark.exclusive("cluster")
@pytest.mark.slow
@RESTARTED
@pytest.mark.feature("ResourceClaim.status.allocation.devices.results.tolerations")
def test_eviction_survives_a_restart(scenario: Scenario, difference: Difference, component: Component) -> None:
    driver = scenario.driver(gpus(3))
    one, first = run_on_gpu(scenario, driver, "one", tolerating(TIME))
    other, second = run_on_gpu(scenario, driver, "other", tolerating(TIME))
    stayer, third = run_on_gpu(scenario, driver, "stayer", tolerating(None))

    begun = whole_second()
    tainted = taint(scenario, driver, first, second, third)
    scenario.cluster.restart(component)
    if component == "kube-apiserver":
        # Its clients come back only after their backoff; nobody else shall have to wait for that.
        scenario.spoilt = True
    if difference("the taint is gone before the time is over"):
        for device in (first, second, third):
            driver.control.update_device(scenario.node, device, taints=[])

    assert tainted + evicted_after(scenario, one, tainted, tolerated=TIME) >= begun + TIME
    assert tainted + evicted_after(scenario, other, tainted, tolerated=TIME) >= begun + TIME
    scenario.wait(one, gone())
    scenario.wait(other, gone())
    assert (running() & ~terminating())(scenario.get(stayer))


@pytest.mark.control("XD-19")
@pytest.mark.needs("kubelet", "restart")
@pytest.mark.exclusive("cluster")
@pytest.mark.slow
@pytest.mark.feature("ResourceClaim.status.allocation.devices.results.tolerations")
def test_nobody_is_evicted_when_the_taint_goes_while_the_controller_is_down(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2))
    worker, device = run_on_gpu(scenario, driver, tolerations=tolerating(5))
    due = taint(scenario, driver, device) + 5

    scenario.cluster.stop("kube-controller-manager")
    scenario.on_exit(lambda: scenario.cluster.start("kube-controller-manager"))
    driver.control.update_device(scenario.node, device, taints=[])
    scenario.cluster.start("kube-controller-manager")
    # A Pod whose time ends later than the worker's would have ended is evicted: by then the worker would be gone.
    scenario.waiter.poll(time.time, lambda now: now > due, "the time of the toleration is over")
    eviction_barrier(scenario, driver)

    assert (running() & ~terminating())(scenario.get(worker))
