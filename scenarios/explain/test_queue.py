"""What keeps a Pod from being tried by the scheduler at all (HS-60)."""

import secrets
from datetime import UTC, datetime, timedelta

import pytest

from fake_driver.profiles import gpus
from harness.explain.queue import PATIENCE
from harness.kube.builders import claim, claim_template, pod, request
from harness.kube.predicates import Predicate, scheduled, terminating, tried
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.beyond.consumers import ask, served
from scenarios.explain.asked import OTHER, Case, check, explanation, healthy, name_of


def missing_claim(scenario: Scenario) -> Object:
    return scenario.create(pod("waiter", claims={"gpu": "not-there"}))


def missing_template(scenario: Scenario) -> Object:
    waiter = scenario.create(pod("waiter", templates={"gpu": "not-there"}))
    scenario.wait_event(waiter, "FailedResourceClaimCreation")
    return waiter


def claim_being_deleted(scenario: Scenario) -> Object:
    driver = scenario.driver(gpus(2), plugin=False)
    user, held = ask(scenario, "user", request(driver.device_class))
    served(scenario, user, held)
    scenario.client.delete(held)
    scenario.wait(held, terminating())
    return scenario.create(pod("waiter", claims={"gpu": held}))


def scheduling_gate(scenario: Scenario) -> Object:
    return scenario.create(pod("waiter", scheduling_gates=["example.com/quota"]))


def unknown_scheduler(scenario: Scenario) -> Object:
    waiter = scenario.create(pod("waiter", scheduler_name="no-such-scheduler"))
    # Times of the API have a resolution of a second: some scheduler must have done something in a later one.
    later = Predicate[Object]("tried a second later", lambda probe: _transition(probe) > _created(waiter))

    def probe() -> Object:
        return scenario.wait(scenario.create(pod(f"probe-{secrets.token_hex(3)}")), tried())

    scenario.waiter.poll(probe, later, "some scheduler does something in a later second", 10)
    return waiter


def _created(obj: Object) -> str:
    return str(obj["metadata"]["creationTimestamp"])


def _transition(obj: Object) -> str:
    times = (c["lastTransitionTime"] for c in obj["status"]["conditions"] if c["type"] == "PodScheduled")
    return str(next(times, ""))


CASES = [
    Case("claim-missing", missing_claim, "no ResourceClaim not-there"),
    Case("template-missing", missing_template, 'resource claim template "not-there"'),
    Case("claim-being-deleted", claim_being_deleted, "still reserved for user"),
    Case("scheduling-gates", scheduling_gate, "example.com/quota"),
    Case("scheduler-unknown", unknown_scheduler, "no-such-scheduler"),
]


@pytest.mark.statement("HS-60")
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_why_a_pod_is_not_tried(scenario: Scenario, difference: Difference, case: Case) -> None:
    check(scenario, difference, case)


@pytest.mark.control("HS-60", "HS-61", "HS-62", "HS-65")
def test_nothing_is_wrong_with_a_pod_that_is_scheduled(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1), plugin=False)
    user, held = ask(scenario, "user", request(driver.device_class))
    served(scenario, user, held)

    assert explanation(scenario, healthy(scenario)).causes == ()
    assert explanation(scenario, held).causes == ()


@pytest.mark.statement("HS-60")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("restart", "kubelet")
def test_which_component_is_down(scenario: Scenario, difference: Difference) -> None:
    scenario.wait(scenario.create(pod("before")), scheduled())
    template = scenario.create(claim_template("one", request(scenario.namespace)))
    other = scenario.create(claim("other", request(scenario.namespace)))
    scenario.cluster.stop("kube-controller-manager")
    scenario.on_exit(lambda: scenario.cluster.start("kube-controller-manager"))
    foreign, unmade = (scenario.create(pod(name, templates={"gpu": template})) for name in ("foreign", "unmade"))
    entry = {"name": "gpu", "resourceClaimName": other["metadata"]["name"]}
    scenario.client.patch(foreign, {"status": {"resourceClaimStatuses": [entry]}}, "strategic", subresource="status")
    if difference(OTHER):
        foreign = unmade = scenario.create(pod("other"))

    assert explanation(scenario, foreign).causes == ("claim-owned-by-other",)
    assert explanation(scenario, unmade).causes == ("claim-not-generated",)

    scenario.cluster.stop("kube-scheduler")
    scenario.on_exit(lambda: scenario.cluster.start("kube-scheduler"))
    usual = scenario.create(pod("usual"))
    unusual = scenario.create(pod("unusual", scheduler_name="no-such-scheduler"))
    scenario.waiter.poll(
        lambda: datetime.now(UTC) - datetime.fromisoformat(_created(unusual)),
        lambda age: age > timedelta(seconds=PATIENCE),
        "the Pods are not new any more",
    )

    assert explanation(scenario, usual).causes == ("scheduler-down",)
    found = explanation(scenario, unusual)
    assert sorted(found.causes) == ["scheduler-down", "scheduler-unknown"]
    assert not any(finding.certain for finding in found.findings), "the facts fit both"
