"""Which gate preemption by groups belongs to (PR-05)."""

import pytest

from harness.errors import InfrastructureError
from harness.kube import metrics
from harness.kube.predicates import unschedulable
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.preemption.arrange import ALL, SINGLE, all_bound, group_over, new_gang, nodes, placed, sent_away, stay

GATE = "GenericWorkload"

#: What preemption by groups was behind in the release before.
FORMER = "WorkloadAwarePreemption"

#: All that builds on it, as far as the profile has it on.
FURTHER = (
    "CompositePodGroup",
    "DRAWorkloadResourceClaims",
    "PodGroupPreemptionPolicy",
    "TopologyAwareWorkloadScheduling",
    "WorkloadWithJob",
)

pytestmark = [pytest.mark.exclusive("cluster"), pytest.mark.needs("restart", "bare-nodes")]


def without(scenario: Scenario, *gates: str) -> None:
    """The scheduler runs without these gates."""
    scenario.cluster.restart("kube-scheduler", gates=dict.fromkeys(gates, False))


def gates(scenario: Scenario) -> set[str]:
    """The feature gates that the scheduler knows."""
    page = metrics.series(scenario.cluster.metrics("kube-scheduler"), "kubernetes_feature_enabled")
    return {sample.labels["name"] for sample in page}


@pytest.mark.statement("PR-05")
@pytest.mark.feature("GenericWorkload.preemption")
def test_groups_preempt_and_are_preempted_with_no_gate_of_its_own(scenario: Scenario, difference: Difference) -> None:
    without(scenario, *FURTHER, *([GATE] if difference("GenericWorkload is off as well") else []))
    where = nodes(scenario, 1, 1, 1, 1)
    single, whole = group_over(scenario, "single", where[:2], SINGLE), group_over(scenario, "all", where[2:], ALL)

    preemptor = new_gang(scenario, "high", [[where[0]], [where[2]]])

    all_bound(scenario, preemptor.members)
    sent_away(scenario, [single[0], *whole], preemptor.group)
    stay(scenario, single[1])
    assert GATE in gates(scenario)
    assert FORMER not in gates(scenario)
    with pytest.raises(InfrastructureError):
        scenario.cluster.restart("kube-scheduler", gates={FORMER: True})
    assert f"unrecognized feature gate: {FORMER}" in scenario.cluster.log("kube-scheduler")


@pytest.mark.control("PR-05")
@pytest.mark.feature("GenericWorkload.preemption")
def test_pods_of_a_gang_preempt_one_by_one_with_the_gate_off(scenario: Scenario) -> None:
    without(scenario, *FURTHER, GATE)
    left, right = nodes(scenario, 1, 1)
    victim = placed(scenario, "left", "low", left)
    spared = placed(scenario, "right", "middle", right)

    reaching, stuck = new_gang(scenario, "middle", [[left], [right]]).members

    all_bound(scenario, [reaching])
    sent_away(scenario, [victim], reaching)
    scenario.wait(stuck, unschedulable("preemption: "))
    stay(scenario, spared)
