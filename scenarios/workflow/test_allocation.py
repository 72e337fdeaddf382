"""The search is done for every Pod, and the scheduler writes down what it found (WF-11, WF-15)."""

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import claim, claim_template, job, pod, request
from harness.kube.predicates import (
    all_of,
    allocated,
    allocated_devices,
    allocation_results,
    count_of,
    generated_claim_name,
    reserved_for,
    scheduled,
    unallocated,
    unschedulable,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario

JOB = "workload"


def run_workload(scenario: Scenario, pods: int, template: Object | None) -> None:
    """A Job of so many Pods at once, each with a claim of the template where one is given."""
    templates = {"gpu": template} if template else {}
    scenario.create(job(JOB, pod("worker", templates=templates, image=scenario.cluster.image), completions=pods))


@pytest.mark.statement("WF-11")
def test_devices_are_searched_for_every_pod_of_a_workload(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2), plugin=False)
    template = scenario.create(claim_template("template", request(driver.device_class)))
    run_workload(scenario, 3, None if difference("the Pods have no claims") else template)

    # One Pod more than there are devices.
    decided = count_of(scheduled(), 2) & count_of(unschedulable("cannot allocate all claims"), 1)
    pods = scenario.waiter.wait_any("Pod", decided | all_of(scheduled(), 3), label_selector=f"job-name={JOB}")

    assert sum(map(scheduled(), pods)) == 2
    served: list[list[str]] = []
    left: list[list[str]] = []
    for found in pods:
        own = scenario.client.get("ResourceClaim", generated_claim_name(found, "gpu"))
        (served if scheduled()(found) else left).append([device.device for device in allocated_devices(own)])
    assert sorted(served) == [["gpu-0"], ["gpu-1"]]
    assert left == [[]]


@pytest.mark.control("WF-11")
def test_every_pod_of_a_workload_without_claims_is_scheduled(scenario: Scenario) -> None:
    scenario.driver(gpus(2), plugin=False)
    run_workload(scenario, 3, None)

    scenario.waiter.wait_any("Pod", all_of(scheduled(), 3), label_selector=f"job-name={JOB}")


def writers_of_status(obj: Object) -> set[str]:
    """The field managers of the object's status."""
    return {entry["manager"] for entry in obj["metadata"]["managedFields"] if entry.get("subresource") == "status"}


@pytest.mark.statement("WF-15")
def test_scheduler_writes_the_allocation_into_the_claim(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1), plugin=False)
    wanted = scenario.create(claim("wanted", request(driver.device_class, name="any")))
    scheduler = "nobody" if difference("no scheduler looks after the Pod") else None
    consumer = scenario.create(pod("consumer", claims={"gpu": wanted}, scheduler_name=scheduler))

    written = scenario.wait(wanted, allocated(), timeout=10)

    assert allocation_results(written) == [
        {"request": "any", "driver": driver.name, "pool": scenario.node, "device": "gpu-0"}
    ]
    assert reserved_for(consumer)(written)
    assert writers_of_status(written) == {"kube-scheduler"}


@pytest.mark.control("WF-15")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("restart")
def test_claim_stays_unallocated_while_the_scheduler_is_stopped(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1), plugin=False)
    template = scenario.create(claim_template("template", request(driver.device_class)))
    scenario.cluster.stop("kube-scheduler")
    wanted = scenario.create(claim("wanted", request(driver.device_class)))
    consumer = scenario.create(pod("consumer", claims={"gpu": wanted}))

    # The only other component that writes to claims has seen both.
    scenario.barrier.claim_controller(template)
    assert unallocated()(scenario.get(wanted))

    scenario.cluster.start("kube-scheduler")
    scenario.wait(consumer, scheduled())
    scenario.wait(wanted, allocated())
