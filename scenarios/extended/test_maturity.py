"""Since when DRA serves extended resources, by what components say of themselves and by what they do (ER-01)."""

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import pod
from harness.kube.predicates import allocated_devices, running, scheduled, unschedulable
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from harness.releases import get
from scenarios.extended.counted import generated_claim, own_resource, serve_by_dra
from scenarios.prerequisites.maturity import emulable, emulate, gate

GATE = "DRAExtendedResource"

#: The gate's stage, in the metric's words (a stable one has none), and whether it is on when nobody sets it.
FOUND = {"1.34": ("ALPHA", False), "1.35": ("ALPHA", False), "1.36": ("BETA", True), "1.37": ("", True)}


@pytest.mark.statement("ER-01")
@pytest.mark.deviates("ER-01", "it went alpha in v1.34 already; beta in v1.36 and stable in v1.37 are right")
@pytest.mark.profile("defaults")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("restart")
def test_feature_is_beta_and_stable_when_told_and_alpha_a_release_before(
    scenario: Scenario, difference: Difference
) -> None:
    gates = {GATE: True} if difference("somebody has switched the gate on") else {}
    stages = {}
    for minor in emulable(scenario):
        emulate(scenario, minor, gates=gates)
        stages[minor] = gate(scenario, GATE)

    assert stages == {minor: FOUND[minor] for minor in emulable(scenario)}


@pytest.mark.statement("ER-01")
@pytest.mark.feature("DRAExtendedResource.default")
@pytest.mark.profile("defaults")
@pytest.mark.needs("kubelet")
def test_extended_resource_is_served_without_any_gate_set(scenario: Scenario, difference: Difference) -> None:
    resource = own_resource(scenario)
    driver = scenario.driver(gpus(1), device_class=False)
    serve_by_dra(scenario, driver, None if difference("the class names no extended resource") else resource)

    consumer = scenario.create(pod("consumer", limits={resource: 1}))

    # A first attempt may come before the scheduler has seen the class; it tries again when it has.
    scenario.wait(consumer, scheduled(), timeout=15)
    started = scenario.wait(consumer, running())
    assert allocated_devices(generated_claim(scenario, started)) == [(driver.name, scenario.node, "gpu-0")]


def locked(minor: str) -> bool:
    """Whether nobody can switch it off in that release."""
    found = get(minor).gate(GATE)
    return found is not None and found.locked


@pytest.mark.control("ER-01")
@pytest.mark.profile("defaults")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("restart")
def test_extended_resource_is_not_served_with_the_gate_off(scenario: Scenario) -> None:
    resource = own_resource(scenario)
    serve_by_dra(scenario, scenario.driver(gpus(1), plugin=False, device_class=False), resource)
    emulate(scenario, next(minor for minor in emulable(scenario) if not locked(minor)), gates={GATE: False})

    consumer = scenario.create(pod("consumer", limits={resource: 1}))

    scenario.wait(consumer, unschedulable(f"Insufficient {resource}"))
    assert scenario.client.list("ResourceClaim")[0] == []
