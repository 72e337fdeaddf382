"""Who makes a new Pod, and who does not (EV-03 to EV-05)."""

from collections.abc import Sequence

import pytest

from fake_driver.profiles import gpus
from harness.drivers import Driver
from harness.kube.builders import claim_template, deployment, job, pod, request
from harness.kube.predicates import (
    Predicate,
    allocated_devices,
    condition,
    generated_claim_name,
    gone,
    running,
    terminating,
    unschedulable,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.eviction.arrange import run_on_gpu, taint

LABELS = {"app": "worker"}
SELECTOR = "app=worker"

#: A Job with it makes a new Pod for one that was evicted.
IGNORE_DISRUPTION = {
    "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
}


def template_pod(scenario: Scenario, driver: Driver) -> Object:
    """A Pod for the template of an owner; it asks for a GPU of its own."""
    one_gpu = scenario.create(claim_template("one-gpu", request(driver.device_class)))
    return pod("worker", templates={"gpu": one_gpu}, labels=LABELS, grace_seconds=2, on=scenario.node)


def run_owner(scenario: Scenario, owner: Object) -> tuple[Object, str]:
    """Create a Deployment or Job of one Pod; returns that Pod, running, and its GPU."""
    scenario.create(owner)
    worker = scenario.waiter.wait_any("Pod", exactly_one(running()), label_selector=SELECTOR)[0]
    return worker, gpu_of(scenario, worker)


def gpu_of(scenario: Scenario, worker: Object) -> str:
    """The GPU of a Pod's generated claim."""
    name = generated_claim_name(worker, "gpu")
    assert name
    return allocated_devices(scenario.client.get("ResourceClaim", name))[0].device


def exactly_one(predicate: Predicate[Object]) -> Predicate[Sequence[Object]]:
    """There is one Pod, and it is so."""
    return Predicate(f"one Pod, {predicate}", lambda pods: len(pods) == 1 and predicate(pods[0]))


def another_than(old: Object, predicate: Predicate[Object]) -> Predicate[Sequence[Object]]:
    """There is another Pod than the old one, and it is so."""
    uid = old["metadata"]["uid"]
    return Predicate(
        f"another Pod, {predicate}", lambda pods: any(p["metadata"]["uid"] != uid and predicate(p) for p in pods)
    )


def newest(pods: Sequence[Object], old: Object) -> Object:
    """The Pod that is not the old one."""
    return next(p for p in pods if p["metadata"]["uid"] != old["metadata"]["uid"])


@pytest.mark.statement("EV-03")
@pytest.mark.control("EV-04")
@pytest.mark.needs("kubelet")
def test_deployment_makes_a_new_pod_on_a_healthy_device(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    old, sick = run_owner(scenario, deployment("worker", template_pod(scenario, driver)))
    everything = difference("all devices are tainted")

    taint(scenario, driver, *(("gpu-0", "gpu-1") if everything else (sick,)))

    pods = scenario.waiter.wait_any("Pod", another_than(old, running()), label_selector=SELECTOR, timeout=15)
    assert gpu_of(scenario, newest(pods, old)) != sick
    scenario.wait(old, gone())


@pytest.mark.control("EV-03")
@pytest.mark.needs("kubelet")
def test_new_pod_waits_when_every_device_is_tainted(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2))
    old, _ = run_owner(scenario, deployment("worker", template_pod(scenario, driver)))

    taint(scenario, driver, "gpu-0", "gpu-1")

    scenario.waiter.wait_any(
        "Pod", another_than(old, unschedulable("cannot allocate all claims")), label_selector=SELECTOR
    )


@pytest.mark.statement("EV-04")
@pytest.mark.needs("kubelet")
def test_nobody_makes_a_new_pod_for_one_without_an_owner(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    if difference("the Pod belongs to a Deployment"):
        worker, device = run_owner(scenario, deployment("worker", template_pod(scenario, driver)))
    else:
        worker, device = run_on_gpu(scenario, driver, labels=LABELS)

    taint(scenario, driver, device)
    scenario.wait(worker, gone())

    # The controllers have handled what they had to: one of them has made the claim of a later Pod.
    scenario.barrier.claim_controller(scenario.create(claim_template("twins", request(driver.device_class))))
    assert scenario.client.list("Pod", label_selector=SELECTOR)[0] == []


@pytest.mark.statement("EV-05")
@pytest.mark.needs("kubelet")
def test_job_without_retries_fails_by_an_eviction(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    work = job("training", template_pod(scenario, driver), backoff_limit=0)
    if difference("the Job ignores disruptions of its Pods"):
        work["spec"]["podFailurePolicy"] = IGNORE_DISRUPTION
    _, device = run_owner(scenario, work)

    taint(scenario, driver, device)

    scenario.wait(work, condition("Failed", "True", "BackoffLimitExceeded"), timeout=15)


@pytest.mark.control("EV-05")
@pytest.mark.needs("kubelet")
def test_job_that_ignores_disruptions_goes_on_with_a_new_pod(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2))
    work = job("training", template_pod(scenario, driver), backoff_limit=0)
    work["spec"]["podFailurePolicy"] = IGNORE_DISRUPTION
    old, sick = run_owner(scenario, work)

    taint(scenario, driver, sick)

    pods = scenario.waiter.wait_any("Pod", another_than(old, running() & ~terminating()), label_selector=SELECTOR)
    assert gpu_of(scenario, newest(pods, old)) != sick
