"""What becomes of claims in a race, at their deletion, and when the scheduler is away (XD-03, XD-04, XD-06)."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import claim, pod, request
from harness.kube.predicates import (
    Predicate,
    allocated,
    allocated_devices,
    running,
    scheduled,
    terminating,
    unallocated,
    unschedulable,
    unscheduled,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.beyond.consumers import ask, left_out, served

DELETE_PROTECTION = "resource.kubernetes.io/delete-protection"


def protected() -> Predicate[Object]:
    """A finalizer keeps the claim."""
    return Predicate("protected", lambda own: DELETE_PROTECTION in own["metadata"].get("finalizers", ()))


def race(scenario: Scenario, device_class: str) -> list[Object]:
    """Two Pods that are created at the same moment, with a claim each; returned once the scheduler has tried both."""
    claims = [scenario.create(claim(name, request(device_class))) for name in ("left", "right")]
    racers = [pod(own["metadata"]["name"], claims={"gpu": own}) for own in claims]
    with ThreadPoolExecutor(len(racers)) as threads:
        created = list(threads.map(scenario.create, racers))
    return [scenario.wait(racer, unschedulable("cannot allocate all claims") | scheduled()) for racer in created]


@pytest.mark.statement("XD-03")
def test_one_of_two_racing_pods_gets_the_last_device(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(3 if difference("there is a device for each of the two") else 2), plugin=False)
    served(scenario, *ask(scenario, "before", request(driver.device_class)))

    racers = race(scenario, driver.device_class)

    assert sorted(bool(scheduled()(racer)) for racer in racers) == [False, True]
    winner, loser = sorted(racers, key=unscheduled())
    given = scenario.wait(scenario.client.get("ResourceClaim", winner["metadata"]["name"]), allocated())
    assert [device.device for device in allocated_devices(given)] == ["gpu-1"]
    scenario.wait(scenario.client.get("ResourceClaim", loser["metadata"]["name"]), unallocated())


@pytest.mark.control("XD-03")
def test_both_racing_pods_are_served_from_two_devices(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(3), plugin=False)
    served(scenario, *ask(scenario, "before", request(driver.device_class)))

    racers = race(scenario, driver.device_class)

    assert all(scheduled()(racer) for racer in racers)
    given = [scenario.client.get("ResourceClaim", racer["metadata"]["name"]) for racer in racers]
    assert sorted(device.device for own in given for device in allocated_devices(own)) == ["gpu-1", "gpu-2"]


@pytest.mark.statement("XD-04")
@pytest.mark.needs("kubelet")
def test_deleted_claim_stays_until_the_pod_that_uses_it_is_gone(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    user, held = ask(scenario, "user", request(driver.device_class))
    other, marker = ask(scenario, "other", request(driver.device_class))
    scenario.wait(user, running())
    scenario.wait(other, running())
    allocation = scenario.get(held)["status"]["allocation"]
    if difference("no Pod uses the claim"):
        scenario.delete(user)

    for own in (held, marker):
        scenario.client.delete(own, missing_ok=True)
    # The controller that lets go of claims has let go of one whose deletion came later.
    scenario.delete(other)
    scenario.waiter.wait_gone(marker)

    kept = scenario.wait(held, terminating() & protected())
    assert kept["status"]["allocation"] == allocation
    assert running()(scenario.get(user))

    scenario.delete(user)
    scenario.waiter.wait_gone(held)


@pytest.mark.control("XD-04")
def test_claim_that_no_pod_uses_is_gone_at_once(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1), plugin=False)
    unused = scenario.create(claim("unused", request(driver.device_class)))

    scenario.client.delete(unused)

    assert scenario.client.find(unused) is None


def stop_scheduler(scenario: Scenario) -> None:
    """No Pod is scheduled until the scheduler is started again."""
    scenario.cluster.stop("kube-scheduler")
    scenario.on_exit(lambda: scenario.cluster.start("kube-scheduler"))


@pytest.mark.statement("XD-06")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("kubelet", "restart")
def test_scheduler_restart_loses_no_claim(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    kept = served(scenario, *ask(scenario, "kept", request(driver.device_class)))
    user, freed = ask(scenario, "freed", request(driver.device_class))
    freed = served(scenario, user, freed)
    waiter = ask(scenario, "waiter", request(driver.device_class))
    left_out(scenario, *waiter)

    stop_scheduler(scenario)
    scenario.delete(user)
    scenario.delete(freed)
    if not difference("the scheduler is not started again"):
        scenario.cluster.start("kube-scheduler")

    scenario.wait(waiter[0], scheduled(), timeout=15)
    assert allocated_devices(scenario.wait(waiter[1], allocated())) == allocated_devices(freed)
    assert scenario.get(kept)["status"] == kept["status"]


@pytest.mark.control("XD-06")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("kubelet", "restart")
def test_pod_waits_beside_a_free_device_while_the_scheduler_is_down(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    user, freed = ask(scenario, "freed", request(driver.device_class))
    served(scenario, user, freed)
    waiter = ask(scenario, "waiter", request(driver.device_class))
    left_out(scenario, *waiter)

    stop_scheduler(scenario)
    scenario.delete(user)
    scenario.delete(freed)

    scenario.barrier.kubelet(scenario.node)  # all but the scheduler go on working
    assert unscheduled()(scenario.get(waiter[0]))
    scenario.cluster.start("kube-scheduler")
    served(scenario, *waiter)
