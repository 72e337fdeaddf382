"""How a workload asks: by a named claim, or by a template of claims (WF-05, WF-06, WF-08 to WF-10)."""

import pytest

from fake_driver.profiles import gpus
from harness.drivers.driver import PREPARE
from harness.kube.builders import claim, claim_template, pod, request
from harness.kube.predicates import (
    allocated,
    claim_generated,
    find_condition,
    generated_claim_name,
    reserved_for,
    running,
    scheduled,
    unallocated,
    unreserved,
    unscheduled,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario


def generated_claim(scenario: Scenario, consumer: Object, entry: str = "gpu") -> Object:
    """The claim that is generated for an entry of the Pod's `spec.resourceClaims`."""
    named = scenario.wait(consumer, claim_generated(entry), timeout=10)
    return scenario.client.get("ResourceClaim", generated_claim_name(named, entry))


def claims_of(scenario: Scenario, owner: Object) -> list[Object]:
    """The claims in the scenario's namespace that the Pod owns."""
    claims, _ = scenario.client.list("ResourceClaim")
    uid = owner["metadata"]["uid"]
    return [found for found in claims if uid in (ref["uid"] for ref in found["metadata"].get("ownerReferences", ()))]


@pytest.mark.statement("WF-05")
def test_claim_and_template_both_lead_to_an_allocation(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2), plugin=False)
    named = scenario.create(claim("named", request(driver.device_class)))
    template = scenario.create(claim_template("template", request(driver.device_class)))
    unreferenced = difference("no Pod refers to the claim")
    by_claim = scenario.create(pod("by-claim", claims={} if unreferenced else {"gpu": named}))
    by_template = scenario.create(pod("by-template", templates={"gpu": template}))

    for consumer in (by_claim, by_template):
        scenario.wait(consumer, scheduled())
    for asked in (named, generated_claim(scenario, by_template)):
        assert allocated()(scenario.get(asked))


@pytest.mark.control("WF-05")
def test_claim_that_no_pod_refers_to_stays_unallocated(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2), plugin=False)
    alone = scenario.create(claim("alone", request(driver.device_class)))

    twin = scenario.create(claim("twin", request(driver.device_class)))
    scenario.barrier.scheduler_with(pod("twin", claims={"gpu": twin}))
    scenario.wait(twin, allocated())

    assert unallocated()(scenario.get(alone))


@pytest.mark.statement("WF-06")
@pytest.mark.needs("kubelet")
def test_claim_is_reserved_for_the_pod_that_refers_to_it(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    named = scenario.create(claim("named", request(driver.device_class)))
    template = scenario.create(claim_template("template", request(driver.device_class)))
    if difference("the Pod's manifest refers to neither"):
        consumer = scenario.create(pod("consumer"))
    else:
        consumer = scenario.create(pod("consumer", claims={"named": named}, templates={"generated": template}))

    scenario.wait(consumer, running())
    assert reserved_for(consumer)(scenario.get(named))
    generated = generated_claim(scenario, consumer, "generated")
    assert reserved_for(consumer)(generated)
    driver.prepared(named)
    driver.prepared(generated)


@pytest.mark.control("WF-06")
@pytest.mark.needs("kubelet")
def test_pod_that_refers_to_no_claim_runs_without_a_device(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2))
    named = scenario.create(claim("named", request(driver.device_class)))
    template = scenario.create(claim_template("template", request(driver.device_class)))
    consumer = scenario.create(pod("consumer", node_selector={"kubernetes.io/hostname": scenario.node}))

    scenario.wait(consumer, running())
    scenario.barrier.claim_controller(template)

    assert unreserved()(scenario.get(named))
    assert claims_of(scenario, consumer) == []
    assert driver.calls(PREPARE) == []


@pytest.mark.statement("WF-08")
def test_template_gets_a_claim_generated_and_a_named_claim_is_used_as_it_is(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(gpus(4), plugin=False)
    named = scenario.create(claim("named", request(driver.device_class)))
    template = scenario.create(claim_template("template", request(driver.device_class)))
    by_claim = scenario.create(pod("by-claim", claims={"gpu": named}))
    if difference("both Pods name the claim"):
        by_template = scenario.create(pod("by-template", claims={"gpu": named}))
    else:
        by_template = scenario.create(pod("by-template", templates={"gpu": template}))

    for consumer in (by_claim, by_template):
        scenario.wait(consumer, scheduled())
    scenario.barrier.claim_controller(template)

    generated = claims_of(scenario, by_template)
    recorded = generated_claim_name(scenario.get(by_template), "gpu")
    assert [(found["metadata"]["name"], reserved_for(by_template)(found)) for found in generated] == [(recorded, True)]
    assert claims_of(scenario, by_claim) == []
    assert "resourceClaimStatuses" not in scenario.get(by_claim)["status"]
    assert reserved_for(by_claim)(scenario.get(named))


@pytest.mark.control("WF-08")
def test_no_claim_is_generated_where_all_pods_name_one(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(4), plugin=False)
    named = scenario.create(claim("named", request(driver.device_class)))
    template = scenario.create(claim_template("template", request(driver.device_class)))
    consumers = [scenario.create(pod(name, claims={"gpu": named})) for name in ("first", "second")]

    for consumer in consumers:
        scenario.wait(named, reserved_for(consumer))
    scenario.barrier.claim_controller(template)

    assert [claims_of(scenario, consumer) for consumer in consumers] == [[], []]


@pytest.mark.statement("WF-09")
def test_each_pod_of_a_template_gets_a_claim_of_its_own(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2), plugin=False)
    template = claim_template("template", request(driver.device_class, selectors=["true"]), claim_labels={"for": "pod"})
    if not difference("the template does not exist"):
        template = scenario.create(template)
    consumers = [scenario.create(pod(name, templates={"gpu": template})) for name in ("first", "second")]

    generated = [generated_claim(scenario, consumer) for consumer in consumers]

    for consumer, own in zip(consumers, generated, strict=True):
        owners = [(owner["kind"], owner["uid"], owner["controller"]) for owner in own["metadata"]["ownerReferences"]]
        assert owners == [("Pod", consumer["metadata"]["uid"], True)]
        assert own["metadata"]["labels"] == {"for": "pod"}
        assert own["spec"] == template["spec"]["spec"]
        scenario.wait(consumer, scheduled())
        assert claims_of(scenario, consumer) == [scenario.get(own)]
    assert generated[0]["metadata"]["uid"] != generated[1]["metadata"]["uid"]


@pytest.mark.control("WF-09")
def test_pod_waits_for_the_template_that_is_missing(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2), plugin=False)
    template = claim_template("late", request(driver.device_class))
    waiter = scenario.create(pod("waiter", templates={"gpu": template}))

    scenario.wait_event(waiter, "FailedResourceClaimCreation", 'resource claim template "late"')
    scenario.barrier.scheduler()

    assert claims_of(scenario, waiter) == []
    assert unscheduled()(scenario.get(waiter))
    scenario.create(template)
    scenario.wait(generated_claim(scenario, waiter), reserved_for(waiter))


def held_back(scenario: Scenario) -> float:
    """How many Pods of the scenario's own scheduler profile the plugin DynamicResources keeps from scheduling."""
    return scenario.scheduler_metric("scheduler_unschedulable_pods", plugin="DynamicResources")


@pytest.mark.statement("WF-10")
def test_pod_whose_claim_does_not_exist_is_not_deployed(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1), plugin=False)
    if difference("the claim exists"):
        scenario.create(claim("missing", request(driver.device_class)))
    waiter = scenario.create(pod("waiter", claims={"gpu": "missing"}, scheduler_name=scenario.scheduler_name))

    scenario.waiter.poll(
        lambda: held_back(scenario) >= 1 or scheduled()(scenario.get(waiter)), bool, "the Pod is held back or scheduled"
    )
    scenario.barrier.scheduler(scenario.scheduler_name)

    now = scenario.get(waiter)
    assert unscheduled()(now)
    assert now["status"]["phase"] == "Pending"
    # The check comes before the queue: the scheduler leaves no trace on the Pod.
    assert find_condition(now, "PodScheduled") is None


@pytest.mark.control("WF-10")
def test_waiting_pod_is_deployed_once_its_claim_exists(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1), plugin=False)
    waiter = scenario.create(pod("waiter", claims={"gpu": "late"}, scheduler_name=scenario.scheduler_name))
    scenario.waiter.poll(lambda: held_back(scenario), lambda count: count >= 1, "the Pod is held back")

    late = scenario.create(claim("late", request(driver.device_class)))

    scenario.wait(waiter, scheduled())
    scenario.wait(late, reserved_for(waiter))
