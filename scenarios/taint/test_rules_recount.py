"""When the extent of a rule is computed again, and when it is not (TR-15, TR-16)."""

from collections.abc import Callable

import pytest

from fake_driver.profiles import gpus
from harness.kube.predicates import find_condition, scheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.taint.outcomes import evicted
from scenarios.taint.rules import FINAL, change_effect, controller_knows, create_rule, says, user, verdict

Change = Callable[[Scenario, Object], None]

UNUSED = says(
    "False",
    "NoEffect",
    "2 published devices selected. 0 allocated devices selected. 0 pods would be evicted in 0 different namespaces "
    f"if the effect was NoExecute. {FINAL}",
)
USED = says(
    "False",
    "NoEffect",
    "2 published devices selected. 1 allocated device selected. 1 pod would be evicted in 1 namespace "
    f"if the effect was NoExecute. {FINAL}",
)
OTHER_EFFECT = says("False", "OtherEffect", "Eviction only happens for the NoExecute effect.")


def overtaken_rule(scenario: Scenario) -> Object:
    """A rule that says that no device is in use, while one is, and the controller knows that."""
    driver = scenario.driver(gpus(2), plugin=False)
    controller_knows(scenario)
    rule = create_rule(scenario, "None", driver=driver.name)
    said = scenario.wait(rule, UNUSED)
    scenario.wait(user(scenario, driver, "late").pod, scheduled())
    controller_knows(scenario)
    return said


def anew(rule: Object) -> Object:
    """The rule as somebody creates it who has its manifest."""
    taint = {field: value for field, value in rule["spec"]["taint"].items() if field != "timeAdded"}
    return {
        "kind": rule["kind"],
        "metadata": {"name": rule["metadata"]["name"]},
        "spec": {**rule["spec"], "taint": taint},
    }


def label(scenario: Scenario, rule: Object) -> None:
    """Change the rule's labels, and nothing of its spec."""
    scenario.client.patch(rule, {"metadata": {"labels": {"looked-at": "again"}}})


def status_period_is_over(scenario: Scenario) -> None:
    """The controller has updated the status of a rule that was created now: it does so ten seconds after the first."""
    driver = scenario.driver(gpus(1), plugin=False)
    clock = user(scenario, driver, "clock")
    scenario.wait(clock.pod, scheduled())
    rule = create_rule(scenario, "NoExecute", driver=driver.name)
    evicted(scenario, clock.pod)
    scenario.wait(rule, says("False", "Completed", "1 pod evicted since starting the controller."))


@pytest.mark.statement("TR-15")
@pytest.mark.slow
@pytest.mark.feature("DeviceTaintRule.status")
def test_numbers_stay_when_another_pod_gets_a_selected_device(scenario: Scenario, difference: Difference) -> None:
    rule = overtaken_rule(scenario)
    if difference("the taint gets another value"):
        scenario.client.patch(rule, {"spec": {"taint": {"value": "again"}}})

    status_period_is_over(scenario)

    # With the same lastTransitionTime.
    assert verdict(scenario, scenario.get(rule)) == find_condition(rule, "EvictionInProgress")


@pytest.mark.statement("TR-15")
@pytest.mark.needs("restart")
@pytest.mark.exclusive("cluster")
@pytest.mark.deviates("TR-15", "the numbers are computed again when the controller-manager starts")
@pytest.mark.feature("DeviceTaint.effect.None")
def test_restart_of_the_controller_manager_brings_new_numbers(scenario: Scenario, difference: Difference) -> None:
    rule = overtaken_rule(scenario)

    scheduler = difference("the scheduler is restarted in its place")
    scenario.cluster.restart("kube-scheduler" if scheduler else "kube-controller-manager")

    changed = scenario.wait(rule, USED, timeout=20)
    assert changed["spec"] == rule["spec"]


@pytest.mark.statement("TR-16")
@pytest.mark.feature("DeviceTaint.effect.None")
def test_rule_created_anew_has_new_numbers(scenario: Scenario, difference: Difference) -> None:
    rule = overtaken_rule(scenario)

    if difference("the rule only gets another label"):
        label(scenario, rule)
    else:
        scenario.delete(rule)
        rule = scenario.create(anew(rule))

    scenario.wait(rule, USED, timeout=10)


@pytest.mark.control("TR-16")
@pytest.mark.feature("DeviceTaintRule.status")
def test_rule_with_other_labels_has_the_old_numbers(scenario: Scenario) -> None:
    rule = overtaken_rule(scenario)

    label(scenario, rule)
    # Rules reach the controller in the order in which they were written.
    scenario.wait(create_rule(scenario, "NoSchedule", driver=f"{scenario.namespace}.example.com"), OTHER_EFFECT)

    assert verdict(scenario, scenario.get(rule)) == find_condition(rule, "EvictionInProgress")


def change_value(scenario: Scenario, rule: Object) -> None:
    """Change the value of the taint."""
    scenario.client.patch(rule, {"spec": {"taint": {"value": "again"}}})


def change_effect_and_back(scenario: Scenario, rule: Object) -> None:
    """Another effect for a while."""
    scenario.wait(change_effect(scenario, rule, "NoSchedule"), OTHER_EFFECT)
    change_effect(scenario, rule, "None")


@pytest.mark.statement("TR-16")
@pytest.mark.deviates("TR-16", "any change of the rule's spec brings new numbers, too: it need not be created anew")
@pytest.mark.parametrize("change", [change_value, change_effect_and_back])
@pytest.mark.feature("DeviceTaint.effect.None")
def test_rule_whose_spec_changes_has_new_numbers(scenario: Scenario, difference: Difference, change: Change) -> None:
    rule = overtaken_rule(scenario)

    if difference("the rule only gets another label"):
        label(scenario, rule)
    else:
        change(scenario, rule)

    scenario.wait(rule, USED, timeout=10)
