"""Where the conditions stand, who writes them, and what is refused (BC-05, BC-14, BC-15)."""

import pytest

from fake_driver.attachment import wrong_device
from fake_driver.profiles import fabric
from harness.kube.builders import resource_slice
from harness.kube.predicates import scheduled
from harness.kube.refusals import refusal
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.binding.arrange import ATTACHED, FAILED, ONE_POLL, conditions, report, waiting
from scenarios.binding.controller import apply, set_on_pod, written


@pytest.mark.statement("BC-05")
@pytest.mark.needs("kubelet")
def test_slice_carries_the_three_fields(scenario: Scenario, difference: Difference) -> None:
    left_out = difference("the driver leaves the fields out")
    pool = fabric(1) if not left_out else fabric(1, conditions=(), failures=(), binds_to_node=False)
    driver = scenario.driver(pool, plugin=False)

    slices, _ = scenario.client.list("ResourceSlice", field_selector=f"spec.driver={driver.name}")

    (device,) = slices[0]["spec"]["devices"]
    fields = {name: device.get(name) for name in ("bindsToNode", "bindingConditions", "bindingFailureConditions")}
    assert fields == {
        "bindsToNode": True,
        "bindingConditions": [ATTACHED],
        "bindingFailureConditions": [FAILED],
    }


@pytest.mark.statement("BC-05")
@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("bindingConditions", {"bindingConditions": ["a", "b", "c", "d", "e"], "bindingFailureConditions": ["f"]}),
        (
            "bindingFailureConditions",
            {"bindingConditions": ["f"], "bindingFailureConditions": ["a", "b", "c", "d", "e"]},
        ),
        ("bindingConditions[1]", {"bindingConditions": ["a", "a"], "bindingFailureConditions": ["f"]}),
        ("bindingConditions[0]", {"bindingConditions": ["not a label"], "bindingFailureConditions": ["f"]}),
        ("bindingFailureConditions[0]", {"bindingConditions": ["a"], "bindingFailureConditions": ["a"]}),
        ("bindingConditions", {"bindingFailureConditions": ["f"]}),
        ("bindingFailureConditions", {"bindingConditions": ["a"]}),
    ],
    ids=["five", "five-failures", "twice", "no-label", "in-both-lists", "failures-alone", "conditions-alone"],
)
def test_lists_that_make_no_sense_are_refused(
    scenario: Scenario, difference: Difference, field: str, fields: Object
) -> None:
    good = {"bindingConditions": ["a", "b", "c", "d"], "bindingFailureConditions": ["e", "f", "g", "h"]}
    device = {"name": "gpu-0", **(good if difference("the lists are in order") else fields)}
    name = scenario.namespace

    error = refusal(
        lambda: scenario.create(resource_slice(name, f"{name}.example.com", [device], node=scenario.namespace))
    )

    assert f"spec.devices[0].{field}" in {cause.field for cause in error.causes}, str(error)


@pytest.mark.statement("BC-14")
@pytest.mark.needs("kubelet")
def test_only_conditions_of_the_claim_count(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    held = waiting(scenario, driver)

    if difference("the condition is set on the Pod"):
        set_on_pod(scenario, held.pod, written(ATTACHED))
    else:
        report(driver, held, {ATTACHED: "True"})

    scenario.wait(held.pod, scheduled(scenario.node), timeout=ONE_POLL)


@pytest.mark.control("BC-15")
@pytest.mark.needs("kubelet")
def test_claim_has_no_conditions_of_its_own(scenario: Scenario) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    held = waiting(scenario, driver)

    error = refusal(
        lambda: scenario.client.patch(held.claim, {"status": {"conditions": [written(ATTACHED)]}}, subresource="status")
    )

    assert 'unknown field "status.conditions"' in error.message


@pytest.mark.statement("BC-15")
@pytest.mark.needs("kubelet")
def test_controller_writes_conditions_with_all_five_fields(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    held = waiting(scenario, driver)
    condition = written(ATTACHED)

    if not difference("no controller writes anything"):
        apply(scenario.client, driver, held.claim, condition)

    scenario.wait(held.pod, scheduled(scenario.node), timeout=ONE_POLL)
    assert conditions(scenario.get(held.claim)) == [condition]


@pytest.mark.statement("BC-15")
@pytest.mark.needs("kubelet")
def test_controller_that_takes_a_device_for_another_is_refused(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(fabric(2), plugin=False)
    driver.control.attach(wrong_device("gpu-0" if difference("it is the right device") else "gpu-1"))
    waiting(scenario, driver)

    (done,) = scenario.waiter.poll(lambda: driver.control.written, bool, "the controller has reported")

    assert "status.devices[0]" in done.result, f"the API server said: {done.result}"
    assert "must be an allocated device in the claim" in done.result


@pytest.mark.statement("XD-56")
@pytest.mark.needs("kubelet")
def test_observed_generation_does_not_matter(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    held = waiting(scenario, driver)
    error = refusal(lambda: apply(scenario.client, driver, held.claim, written(ATTACHED, observedGeneration=-1)))
    assert {cause.field for cause in error.causes} == {"status.devices[0].conditions[0].observedGeneration"}

    apply(scenario.client, driver, held.claim, written(ATTACHED, status="Unknown", observedGeneration=7))
    last = "Unknown" if difference("the status is Unknown") else "True"
    apply(scenario.client, driver, held.claim, written(ATTACHED, status=last, observedGeneration=3))

    scenario.wait(held.pod, scheduled(scenario.node), timeout=ONE_POLL)
    assert [found["observedGeneration"] for found in conditions(scenario.get(held.claim))] == [3]
