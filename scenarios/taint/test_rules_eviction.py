"""From the dry run to the eviction, and how its end is told (TR-17, TR-18)."""

from datetime import UTC, datetime

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import container
from harness.kube.builders.devices import Effect
from harness.kube.predicates import allocated_devices, gone, running
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.eviction.arrange import tolerating
from scenarios.taint.kubectl import kubectl
from scenarios.taint.outcomes import evicted, goes_on
from scenarios.taint.rules import (
    RENEWS_TIME,
    change_effect,
    controller_knows,
    create_rule,
    message,
    new_rule,
    parse_time,
    says,
    user,
    verdict,
)

LONG_AGO = "2026-01-01T00:00:00Z"


def two_counted_and_one_beside(scenario: Scenario) -> tuple[Object, list[Object], Object]:
    """A dry run that counts two running Pods, these Pods, and one that it does not count."""
    driver = scenario.driver(gpus(2, name="lower"), gpus(1, name="upper"))
    users = [user(scenario, driver, f"user-{i}") for i in range(3)]
    pods = [scenario.wait(each.pod, running()) for each in users]
    # Which pool a claim's device is from is the scheduler's choice.
    pools = [allocated_devices(scenario.get(each.claim))[0].pool for each in users]
    counted = [pod for pod, pool in zip(pods, pools, strict=True) if pool == f"{scenario.node}/lower"]
    (beside,) = (pod for pod in pods if pod not in counted)
    controller_knows(scenario)
    rule = new_rule(scenario, "None", driver=driver.name, pool=f"{scenario.node}/lower")
    rule["spec"]["taint"]["timeAdded"] = LONG_AGO
    stored = scenario.create(rule)
    assert message(scenario, stored).startswith(
        "2 published devices selected. 2 allocated devices selected. 2 pods would be evicted in 1 namespace"
    )
    return stored, counted, beside


@pytest.mark.statement("TR-17")
@pytest.mark.needs("kubelet")
@pytest.mark.feature("DeviceTaintRule.status")
def test_effect_changed_to_noexecute_evicts_the_pods_that_were_counted(
    scenario: Scenario, difference: Difference
) -> None:
    rule, counted, beside = two_counted_and_one_beside(scenario)

    before = datetime.now(UTC).replace(microsecond=0)
    changed = change_effect(scenario, rule, "None" if difference("the effect stays None") else "NoExecute")

    for each in counted:
        evicted(scenario, each, timeout=10)
    controller_knows(scenario)
    goes_on(scenario, beside)
    assert changed["metadata"]["uid"] == rule["metadata"]["uid"]
    if scenario.release.has(RENEWS_TIME):
        # Tolerations count from the new effect.
        assert parse_time(changed["spec"]["taint"]["timeAdded"]) >= before


@pytest.mark.control("TR-17")
@pytest.mark.needs("kubelet")
@pytest.mark.feature("DeviceTaintRule.status")
def test_nobody_is_evicted_while_the_effect_stays_none(scenario: Scenario) -> None:
    rule, counted, beside = two_counted_and_one_beside(scenario)

    scenario.client.patch(rule, {"spec": {"taint": {"value": "noted"}}})
    assert verdict(scenario, scenario.get(rule))["reason"] == "NoEffect"
    controller_knows(scenario)

    for each in (*counted, beside):
        goes_on(scenario, each)


@pytest.mark.statement("TR-17")
@pytest.mark.needs("kubelet")
@pytest.mark.slow
@pytest.mark.deviates("TR-17", "a Pod that is ending already is not counted before, but afterwards, as if evicted")
@pytest.mark.feature("DeviceTaintRule.status")
def test_pod_that_ends_already_is_not_predicted_and_yet_counted_as_evicted(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(gpus(1))
    main = container(claims=["gpu"]) | {"lifecycle": {"preStop": {"sleep": {"seconds": 20}}}}
    ending = scenario.wait(user(scenario, driver, "ending", containers=[main], grace_seconds=60).pod, running())
    if not difference("the Pod is not ending"):
        scenario.client.delete(ending)
    controller_knows(scenario)
    rule = create_rule(scenario, "None", driver=driver.name)
    assert "1 allocated device selected. 0 pods would be evicted in 0 different namespaces" in message(scenario, rule)

    change_effect(scenario, rule, "NoExecute")

    scenario.wait(rule, says("False", "Completed", "1 pod evicted since starting the controller."))
    assert "DeviceTaintManagerEviction" not in {event["reason"] for event in scenario.client.events(ending)}


def until_finished(scenario: Scenario, rule: Object, timeout: int) -> tuple[int, str]:
    """The document's command for the rule: its exit code, and what it says."""
    done = kubectl(
        scenario,
        "wait",
        "--for=condition=EvictionInProgress=false",
        f"DeviceTaintRule/{rule['metadata']['name']}",
        f"--timeout={timeout}s",
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.statement("TR-18")
@pytest.mark.control("TR-15")
@pytest.mark.needs("kubelet")
@pytest.mark.slow
@pytest.mark.feature("DeviceTaintRule.status")
def test_condition_tells_of_an_eviction_from_its_beginning_to_its_end(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(gpus(2))
    # The status is written at most every ten seconds: once when both wait, once between, once when both are gone.
    patience = None if difference("a Pod tolerates the taint for ever") else 18
    hasty = scenario.wait(user(scenario, driver, "hasty", tolerations=tolerating(1)).pod, running())
    patient = scenario.wait(user(scenario, driver, "patient", tolerations=tolerating(patience)).pod, running())
    controller_knows(scenario)

    rule = create_rule(scenario, "NoExecute", driver=driver.name)
    told = verdict(scenario, rule)
    assert (told["status"], told["reason"]) == ("True", "PodsPendingEviction")
    assert told["message"] == "2 pods need to be evicted in 1 namespace."

    evicted(scenario, hasty)
    both = "1 pod needs to be evicted in 1 namespace. 1 pod evicted since starting the controller."
    scenario.wait(rule, says("True", "PodsPendingEviction", both))
    goes_on(scenario, patient)
    code, said = until_finished(scenario, rule, timeout=30)

    assert (code, said.strip()) == (0, f"devicetaintrule.resource.k8s.io/{rule['metadata']['name']} condition met")
    assert gone()(scenario.client.find(patient))
    assert says("False", "Completed", "2 pods evicted since starting the controller.")(scenario.get(rule))


@pytest.mark.control("TR-18")
@pytest.mark.needs("kubelet")
@pytest.mark.feature("DeviceTaintRule.status")
def test_kubectl_waits_in_vain_while_a_pod_has_time_left(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    patient = scenario.wait(user(scenario, driver, "patient", tolerations=tolerating(3600)).pod, running())
    controller_knows(scenario)
    rule = create_rule(scenario, "NoExecute", driver=driver.name)
    assert message(scenario, rule) == "1 pod needs to be evicted in 1 namespace."

    code, said = until_finished(scenario, rule, timeout=1)

    assert code == 1
    assert "timed out waiting for the condition" in said
    goes_on(scenario, patient)


@pytest.mark.statement("TR-18")
@pytest.mark.parametrize(
    ("effect", "reason", "text"),
    [
        ("NoExecute", "NotStarted", ""),
        ("NoSchedule", "OtherEffect", "Eviction only happens for the NoExecute effect."),
    ],
    ids=["tolerated", "other-effect"],
)
@pytest.mark.feature("DeviceTaintRule.status")
def test_rule_that_evicts_nobody_is_finished_at_once(
    scenario: Scenario, difference: Difference, effect: Effect, reason: str, text: str
) -> None:
    later = difference("the effect is NoExecute, and a Pod is to be evicted later")
    driver = scenario.driver(gpus(1))
    tolerations = tolerating(3600 if later else None)
    runner = scenario.wait(user(scenario, driver, "runner", tolerations=tolerations).pod, running())
    controller_knows(scenario)

    rule = create_rule(scenario, "NoExecute" if later else effect, driver=driver.name)

    told = verdict(scenario, rule)
    assert (told["status"], told["reason"], told["message"]) == ("False", reason, text)
    assert until_finished(scenario, rule, timeout=30)[0] == 0
    goes_on(scenario, runner)
