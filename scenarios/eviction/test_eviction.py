"""What an eviction is, who does it, and what becomes of the work (EV-01, EV-02, EV-06)."""

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import runs_for
from harness.kube.predicates import Predicate, condition, gone, running, scheduled, terminating
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.eviction.arrange import SLACK, deleters, evicted_after, eviction_barrier, run_on_gpu, taint
from scenarios.taint.outcomes import said_of

#: A program that ends with a code of its own when it is told to end.
ENDS_WHEN_TOLD = ("sh", "-c", "trap 'exit 7' TERM; sleep infinity & wait")


def ended_with(code: int) -> Predicate[Object]:
    """The main container has ended with that exit code, and was never started again."""

    def test(pod: Object) -> bool:
        statuses = pod["status"].get("containerStatuses") or ()
        return any(
            s["state"].get("terminated", {}).get("exitCode") == code and s["restartCount"] == 0 for s in statuses
        )

    return Predicate(f"ended with exit code {code} and not restarted", test)


def restarted() -> Predicate[Object]:
    """The main container was started again in the same Pod."""
    return Predicate("restarted", lambda pod: any(s["restartCount"] > 0 for s in pod["status"]["containerStatuses"]))


@pytest.mark.statement("EV-01")
@pytest.mark.needs("kubelet")
def test_controller_ends_a_running_pod_by_deleting_it(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    worker, device = run_on_gpu(scenario, driver)

    if not difference("the device is not tainted"):
        taint(scenario, driver, device)

    scenario.wait(
        worker,
        condition("DisruptionTarget", "True", "DeletionByDeviceTaintManager", "due to NoExecute taint"),
        timeout=10,
    )
    scenario.wait(worker, terminating() | gone())
    scenario.wait(worker, gone())
    said_of(scenario, worker)
    by_whom = scenario.waiter.poll(lambda: deleters(scenario, "worker"), bool, "the deletion is in the audit log")
    assert by_whom[0] in (
        "system:kube-controller-manager",
        "system:serviceaccount:kube-system:device-taint-eviction-controller",
    )


@pytest.mark.control("EV-01")
@pytest.mark.needs("kubelet", "restart")
@pytest.mark.exclusive("cluster")
def test_pod_keeps_running_while_the_controller_manager_is_stopped(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    worker, device = run_on_gpu(scenario, driver)
    scenario.cluster.stop("kube-controller-manager")
    scenario.on_exit(lambda: scenario.cluster.start("kube-controller-manager"))

    taint(scenario, driver, device)
    scenario.barrier.kubelet(scenario.node)  # everything else goes on: a later Pod runs on that node
    assert (running() & ~terminating())(scenario.get(worker))

    scenario.cluster.start("kube-controller-manager")
    scenario.wait(worker, gone())


@pytest.mark.statement("EV-02")
@pytest.mark.needs("kubelet")
def test_work_is_told_to_end_and_not_started_again(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    ends_by_itself = difference("the work ends by itself and not by the taint")
    command = runs_for(3, exit_code=7) if ends_by_itself else ENDS_WHEN_TOLD
    worker, device = run_on_gpu(scenario, driver, restart_policy="Always", command=command, grace_seconds=20)

    if not ends_by_itself:
        taint(scenario, driver, device)

    scenario.wait(worker, ended_with(7) & terminating(), timeout=15)
    scenario.wait(worker, gone())


@pytest.mark.control("EV-02")
@pytest.mark.needs("kubelet")
def test_work_that_ends_by_itself_is_started_again_in_the_same_pod(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    worker, _ = run_on_gpu(scenario, driver, restart_policy="Always", command=runs_for(1, exit_code=7))

    scenario.wait(worker, restarted() & ~terminating())


@pytest.mark.statement("EV-06")
@pytest.mark.needs("kubelet")
def test_no_execute_evicts_at_once(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    worker, device = run_on_gpu(scenario, driver)
    effect = "NoSchedule" if difference("the effect is NoSchedule") else "NoExecute"

    tainted = taint(scenario, driver, device, effect=effect)

    assert evicted_after(scenario, worker, tainted, timeout=10) < SLACK


@pytest.mark.control("EV-06")
@pytest.mark.needs("kubelet")
def test_no_schedule_evicts_nobody(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2))
    worker, device = run_on_gpu(scenario, driver)

    taint(scenario, driver, device, effect="NoSchedule")
    eviction_barrier(scenario, driver)

    assert (scheduled() & running() & ~terminating())(scenario.get(worker))
