"""Which gate preemption by groups belongs to (PR-05)."""

import pytest

from harness.kube import metrics
from harness.plugin.scenario import Scenario

#: In the release before, preemption by groups had a gate of its own.
FORMER = "WorkloadAwarePreemption"

#: What else the scheduler knows about groups of Pods, beside GenericWorkload.
OTHERS = (
    "CompositePodGroup",
    "DRAWorkloadResourceClaims",
    "PodGroupPreemptionPolicy",
    "TopologyAwareWorkloadScheduling",
)

pytestmark = [pytest.mark.exclusive("cluster"), pytest.mark.needs("restart")]


def gates(scenario: Scenario) -> dict[str, bool]:
    """What the scheduler says of its feature gates."""
    page = metrics.series(scenario.cluster.metrics("kube-scheduler"), "kubernetes_feature_enabled")
    return {sample.labels["name"]: bool(sample.value) for sample in page}
