"""Advice of the documents, followed and not followed (OB-06 to OB-09)."""

import pytest

from fake_driver.attachment import fail, succeed
from fake_driver.inventory import Pool
from fake_driver.profiles import fabric, gpus
from harness.drivers import Driver
from harness.kube.builders import claim, device_taint, device_taint_rule, pod, request
from harness.kube.predicates import gone, running, scheduled, scheduling_error, terminating, unschedulable, unscheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.beyond.consumers import ask
from scenarios.binding.arrange import ONE_POLL
from scenarios.explain.asked import explanation
from scenarios.prescheduled.stuck import NOT_PREPARED, held_back, not_allowed, unallocated_claim
from scenarios.prescheduled.test_blocked_node import most_of, plain_pod
from scenarios.taint.rules import change_effect, create_rule, message, published, says, user

#: Seconds until a rule's status is written again; it is at least ten seconds after the last time.
NEXT_STATUS = 30


@pytest.mark.slow
@pytest.mark.statement("OB-06")
@pytest.mark.needs("kubelet")
@pytest.mark.feature("DeviceTaintRule.status")
def test_first_none_then_the_counts_then_noexecute_until_all_are_gone(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(gpus(2))
    worker = user(scenario, driver, "worker").pod
    scenario.wait(worker, running())
    at_once = difference("the rule has the effect NoExecute from the start")

    rule = create_rule(scenario, "NoExecute" if at_once else "None", driver=driver.name)
    told = message(scenario, rule)
    assert told.startswith("2 published devices selected. 1 allocated device selected. 1 pod would be evicted"), told
    assert running()(scenario.get(worker))
    assert not terminating()(scenario.get(worker))

    rule = change_effect(scenario, rule, "NoExecute")
    scenario.wait(worker, gone())
    scenario.wait(rule, says("False", "Completed", "1 pod evicted since starting the controller."), NEXT_STATUS)


@pytest.mark.control("OB-06")
@pytest.mark.needs("kubelet")
def test_noexecute_from_the_start_evicts_before_anybody_has_read_a_count(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2))
    worker = user(scenario, driver, "worker").pod
    scenario.wait(worker, running())

    create_rule(scenario, "NoExecute", driver=driver.name)

    scenario.wait(worker, gone())


def rule_from_slice(scenario: Scenario, driver: Driver, index: int) -> Object:
    """A rule without effect for a published device, with the values copied from its live slice."""
    (live,), _ = scenario.client.list("ResourceSlice", field_selector=f"spec.driver={driver.name}")
    spec = live["spec"]
    return device_taint_rule(
        scenario.namespace,
        device_taint("example.com/unhealthy", "None"),
        driver=spec["driver"],
        pool=spec["pool"]["name"],
        device=spec["devices"][index]["name"],
    )


@pytest.mark.statement("OB-07")
@pytest.mark.feature("DeviceTaintRule.status")
def test_rule_with_values_copied_from_the_slice_selects_one_device(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(4), plugin=False)
    rule = rule_from_slice(scenario, driver, 2)
    if difference("the device's name is written by hand, wrongly"):
        rule["spec"]["deviceSelector"]["device"] = "gpu2"

    assert published(message(scenario, scenario.create(rule))) == 1


@pytest.mark.control("OB-07")
@pytest.mark.feature("DeviceTaintRule.status")
def test_rule_with_a_wrong_value_selects_no_device(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(4), plugin=False)
    rule = rule_from_slice(scenario, driver, 2)
    rule["spec"]["deviceSelector"]["device"] = "gpu2"

    assert published(message(scenario, scenario.create(rule))) == 0


def bad_node_first(scenario: Scenario, pool: Pool) -> tuple[Driver, str, str]:
    """A driver whose devices never get ready on a node, the first to have one, and that node and another."""
    bad, good = scenario.nodes(2)
    driver = scenario.driver(pool.on(bad), nodes=[bad, good])
    driver.control.attach(succeed())
    driver.control.attach(fail("the switch is dark"), node=bad)
    driver.control.fail_prepare("the switch is dark", node=bad)
    scenario.on_exit(driver.control.clear_faults)
    return driver, bad, good


@pytest.mark.slow
@pytest.mark.statement("OB-08")
@pytest.mark.needs("kubelet")
def test_pod_is_never_bound_where_the_device_does_not_become_ready(scenario: Scenario, difference: Difference) -> None:
    pool = gpus(1) if difference("the devices have no binding conditions") else fabric(1)
    driver, _, good = bad_node_first(scenario, pool)
    consumer, _ = ask(scenario, "consumer", request(driver.device_class))
    outcome = scenario.wait(consumer, scheduling_error("the switch is dark") | scheduled(), ONE_POLL)
    assert unscheduled()(outcome), "the Pod was bound to the node whose device does not become ready"

    driver.control.set_pools([pool.on(good)])

    bound = scenario.wait(consumer, scheduled(), timeout=2 * ONE_POLL)
    assert bound["spec"]["nodeName"] == good  # which never changes: it was no other before
    scenario.wait(consumer, running())


@pytest.mark.control("OB-08")
@pytest.mark.needs("kubelet")
def test_without_conditions_the_pod_is_bound_and_stuck_there(scenario: Scenario) -> None:
    driver, bad, good = bad_node_first(scenario, gpus(1))
    consumer, _ = ask(scenario, "consumer", request(driver.device_class))
    scenario.wait(consumer, scheduled(bad))
    driver.control.set_pools([*driver.control.pools, gpus(1).on(good)])

    scenario.wait_event(consumer, NOT_PREPARED, "the switch is dark")
    stuck = scenario.get(consumer)
    assert stuck["spec"]["nodeName"] == bad
    assert explanation(scenario, stuck).causes == ("prepare-failed",)


@pytest.mark.statement("OB-09")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("kubelet")
def test_pod_around_the_scheduler_is_stuck_and_takes_room_from_others(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(gpus(0))
    wanted = unallocated_claim(scenario, driver.device_class)
    around = not difference("the Pod goes through the scheduler")
    where = {"node_name": scenario.node} if around else {"on": scenario.node}
    requests = most_of(scenario, scenario.node)
    stuck = scenario.create(pod("stuck", claims={"gpu": wanted}, requests=requests, **where))  # type: ignore[arg-type]
    if around:
        held_back(scenario, stuck, not_allowed(stuck, wanted))

    plain = plain_pod(scenario)

    assert set(explanation(scenario, plain).causes) == {"node-resources"}
    found = explanation(scenario, stuck)
    assert found.causes == ("prescheduled",)
    assert "let the scheduler place the Pod" in found.findings[0].remedy


@pytest.mark.control("OB-09")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("kubelet")
def test_pod_through_the_scheduler_waits_and_takes_nothing(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(0))
    wanted = scenario.create(claim("wanted", request(driver.device_class)))
    waiter = scenario.create(
        pod("waiter", claims={"gpu": wanted}, requests=most_of(scenario, scenario.node), on=scenario.node)
    )
    scenario.wait(waiter, unschedulable("cannot allocate all claims"))

    assert scheduled()(plain_pod(scenario))
