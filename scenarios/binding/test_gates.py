"""What the components themselves make of the gate and of the limit (BC-05, BC-06, BC-20, BC-22, BC-29)."""

import pytest

from fake_driver.profiles import fabric
from harness.kube.predicates import allocation_results, scheduled, unallocated, unschedulable, unscheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.binding.arrange import ATTACHED, FAILED, ONE_POLL, PENDING, consumer, report, waiting
from scenarios.binding.configuration import binding_timeout, document_example, last_words
from scenarios.binding.example import publish

GATE = "DRADeviceBindingConditions"
FIELDS = ("bindsToNode", "bindingConditions", "bindingFailureConditions")

pytestmark = pytest.mark.needs("kubelet", "restart")
alone = pytest.mark.exclusive("cluster")


def binding_fields(slice: Object) -> Object:
    """The three fields of the slice's one device, as far as it has them."""
    (device,) = slice["spec"]["devices"]
    return {name: device[name] for name in FIELDS if name in device}


def published(scenario: Scenario, driver: str) -> Object:
    """The driver's one slice."""
    (found,) = scenario.client.list("ResourceSlice", field_selector=f"spec.driver={driver}")[0]
    return found


@alone
@pytest.mark.statement("BC-06", "BC-29")
def test_both_components_with_the_gate_on_hold_the_pod_back(scenario: Scenario, difference: Difference) -> None:
    if difference("the gate is off in the kube-scheduler"):
        scenario.cluster.restart("kube-scheduler", gates={GATE: False})
    driver = scenario.driver(fabric(1), plugin=False)

    held = waiting(scenario, driver)
    assert unscheduled()(scenario.get(held.pod))

    report(driver, held, {ATTACHED: "True"})
    scenario.wait(held.pod, scheduled(scenario.node), timeout=ONE_POLL)


@pytest.mark.profile("features", off={"kube-apiserver": [GATE]})
@pytest.mark.control("BC-05", "BC-06", "BC-22", "BC-29")
def test_api_server_with_the_gate_off_drops_the_fields_and_nobody_waits(scenario: Scenario) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    assert binding_fields(published(scenario, driver.name)) == {}
    assert binding_fields(publish(scenario).slice) == {}

    bound = consumer(scenario, driver)

    scenario.wait(bound.pod, scheduled(scenario.node))
    assert "bindingConditions" not in allocation_results(scenario.get(bound.claim))[0]
    assert PENDING not in {found.get("reason") for found in scenario.client.events(bound.pod)}


@alone
@pytest.mark.control("BC-06", "BC-29")
def test_scheduler_with_the_gate_off_skips_the_device(scenario: Scenario) -> None:
    scenario.cluster.restart("kube-scheduler", gates={GATE: False})
    driver = scenario.driver(fabric(1), plugin=False)
    assert binding_fields(published(scenario, driver.name)) == {
        "bindsToNode": True,
        "bindingConditions": [ATTACHED],
        "bindingFailureConditions": [FAILED],
    }

    made = consumer(scenario, driver)

    outcome = scenario.wait(made.pod, unschedulable("cannot allocate all claims") | scheduled())
    assert unscheduled()(outcome), "the Pod was bound"
    scenario.wait(made.claim, unallocated())


@alone
@pytest.mark.control("BC-20")
@pytest.mark.feature("DynamicResourcesArgs.bindingTimeout")
def test_scheduler_refuses_limits_it_does_not_understand(scenario: Scenario) -> None:
    misspelt, short = document_example(), document_example()
    arguments = binding_timeout(misspelt)
    arguments["bindingTimeOut"] = arguments.pop("bindingTimeout")
    assert 'unknown field "bindingTimeOut"' in last_words(scenario, misspelt)

    binding_timeout(short)["bindingTimeout"] = "900ms"
    assert "must be at least 1 second" in last_words(scenario, short)

    refused = last_words(scenario, document_example(), {GATE: False})
    assert "bindingTimeout: Forbidden" in refused, refused[-500:]
