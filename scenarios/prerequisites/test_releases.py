"""Since when what is stable: DRA, extended resources, taints, composite groups (PQ-01, PQ-02, PQ-09, PQ-10)."""

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import pod
from harness.kube.predicates import allocated, allocated_devices, scheduled, unschedulable
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.extended.counted import own_resource, serve_by_dra
from scenarios.prerequisites.maturity import (
    SOON,
    claiming,
    dependants,
    emulable,
    emulate,
    gate,
    refuses,
    served,
)
from scenarios.taint.arrange import BROKEN, consumer, tainted
from scenarios.taint.outcomes import kept_off
from scenarios.taint.rules import create_rule
from scenarios.taint.seen import RulesSeen, slices_seen

DRA = "DynamicResourceAllocation"
LOCKED = f"cannot set feature gate {DRA} to false, feature is locked to true"
DRA_API = "resource.k8s.io/v1"
ALPHA_GROUPS = "scheduling.k8s.io/v1alpha3"

#: Stages in the metric's words.
ALPHA, BETA, STABLE = "ALPHA", "BETA", ""


@pytest.mark.statement("PQ-01")
@pytest.mark.profile("defaults")
def test_dra_is_there_where_nobody_asks_for_it(scenario: Scenario, difference: Difference) -> None:
    beta = difference("one looks for DRA among the versions that were there before it was stable")
    version = "resource.k8s.io/v1beta1" if beta else DRA_API
    assert {"deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices"} <= served(scenario, version)
    assert gate(scenario, DRA) == (STABLE, True)
    driver = scenario.driver(gpus(1), plugin=False)

    consumer = claiming(scenario, "consumer", driver.device_class)

    scenario.wait(consumer, scheduled())
    own = scenario.wait(scenario.client.get("ResourceClaim", "consumer"), allocated())
    assert allocated_devices(own) == [(driver.name, scenario.node, "gpu-0")]


@pytest.mark.statement("PQ-01")
@pytest.mark.deviates("PQ-01", "it went stable in v1.34 already; from v1.35 on nobody can switch it off")
@pytest.mark.profile("defaults")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("restart")
def test_dra_is_stable_a_release_earlier_than_told(scenario: Scenario, difference: Difference) -> None:
    first = "1.35" if difference("one asks a scheduler that behaves as that of v1.35") else "1.34"

    without = dict.fromkeys([DRA, *dependants(scenario, first, DRA)], False)
    assert not refuses(scenario, first, without, LOCKED), "it cannot be switched off"

    assert gate(scenario, DRA) == (STABLE, False)
    emulate(scenario, first)
    assert gate(scenario, DRA) == (STABLE, True)


@pytest.mark.control("PQ-01")
@pytest.mark.profile("defaults")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("restart")
def test_dra_can_be_switched_off_before_v1_35_only(scenario: Scenario) -> None:
    own = scenario.release.minor
    for minor in {own, "1.35" if "1.35" in emulable(scenario) else own}:
        without = dict.fromkeys([DRA, *dependants(scenario, minor, DRA)], False)
        assert refuses(scenario, minor, without, LOCKED) == scenario.release.has(f"{DRA}.locked")


@pytest.mark.statement("PQ-02")
@pytest.mark.feature("DeviceTaintRule.v1")
@pytest.mark.profile("defaults")
def test_taints_of_devices_work_where_nobody_asks_for_them(scenario: Scenario, difference: Difference) -> None:
    for name in ("DRADeviceTaints", "DRADeviceTaintRules"):
        assert gate(scenario, name) == (STABLE, True)
    assert "devicetaintrules" in served(scenario, DRA_API)
    rules_seen = RulesSeen(scenario)
    free = difference("no device has a taint")
    marked = scenario.driver(gpus(1) if free else tainted(gpus(1), "gpu-0", BROKEN), plugin=False)
    ruled = scenario.driver(gpus(1), plugin=False)
    if not free:
        create_rule(scenario, "NoSchedule", driver=ruled.name)
    rules_seen()
    slices_seen(scenario)

    kept_off(scenario, consumer(scenario, marked, "wants-marked").pod)
    kept_off(scenario, consumer(scenario, ruled, "wants-ruled").pod)


@pytest.mark.control("PQ-02", "PQ-10")
@pytest.mark.profile("defaults")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("restart")
def test_v1_36_has_neither_stable_rules_nor_composite_groups(scenario: Scenario) -> None:
    scenario.spoilt = True
    emulate(scenario, "1.36", component="kube-apiserver", args=[f"--runtime-config={ALPHA_GROUPS}=true"])

    assert {"resourceclaims", "resourceslices"} <= served(scenario, DRA_API)
    assert "devicetaintrules" not in served(scenario, DRA_API)
    assert gate(scenario, "DRADeviceTaints", "kube-apiserver") == (BETA, True)
    assert gate(scenario, "DRADeviceTaintRules", "kube-apiserver") == (BETA, False)
    assert "compositepodgroups" not in served(scenario, ALPHA_GROUPS)


#: The article's table of extended resources served by DRA: the gate's stage, and whether it is on by itself.
TABLE = {"1.35": (ALPHA, False), "1.36": (BETA, True), "1.37": (STABLE, True)}
#: What a cluster tells that is older than the table.
BEFORE = {"1.34": (ALPHA, False)}
EXTENDED = "DRAExtendedResource"


@pytest.mark.statement("PQ-09")
@pytest.mark.deviates("PQ-09", "it is alpha in v1.34 already", where=("1.34",))
@pytest.mark.profile("defaults")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("restart")
def test_extended_resources_mature_as_the_table_says(scenario: Scenario, difference: Difference) -> None:
    resource = own_resource(scenario)
    serve_by_dra(scenario, scenario.driver(gpus(len(TABLE)), plugin=False, device_class=False), resource)
    gates = {EXTENDED: True} if difference("somebody has switched the gate on") else {}
    rows = {minor: told for minor, told in TABLE.items() if minor in emulable(scenario)} or BEFORE

    for minor, (stage, on) in rows.items():
        emulate(scenario, minor, gates=gates)
        assert gate(scenario, EXTENDED) == (stage, on)
        consumer = scenario.create(pod(f"consumer-{minor}", limits={resource: 1}))
        scenario.wait(consumer, scheduled() if on else unschedulable(f"Insufficient {resource}"), SOON)


@pytest.mark.control("PQ-09")
@pytest.mark.profile("defaults", on={"*": [EXTENDED]})
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("restart")
def test_v1_35_serves_extended_resources_with_the_gate_on(scenario: Scenario) -> None:
    resource = own_resource(scenario)
    serve_by_dra(scenario, scenario.driver(gpus(1), plugin=False, device_class=False), resource)
    emulate(scenario, "1.35" if "1.35" in emulable(scenario) else scenario.release.minor, gates={EXTENDED: True})

    consumer = scenario.create(pod("consumer", limits={resource: 1}))

    scenario.wait(consumer, scheduled(), SOON)


@pytest.mark.statement("PQ-10")
def test_composite_groups_are_alpha(scenario: Scenario, difference: Difference) -> None:
    version = "scheduling.k8s.io/v1beta1" if difference("one looks in the beta version") else ALPHA_GROUPS

    assert "compositepodgroups" in served(scenario, version)
    assert gate(scenario, "CompositePodGroup", "kube-apiserver") == (ALPHA, True)


@pytest.mark.control("PQ-10")
@pytest.mark.profile("defaults")
def test_composite_groups_are_off_where_nobody_asks_for_them(scenario: Scenario) -> None:
    assert gate(scenario, "CompositePodGroup", "kube-apiserver") == (ALPHA, False)
    assert served(scenario, ALPHA_GROUPS) == set()
    assert served(scenario, "scheduling.k8s.io/v1") == {"priorityclasses"}
