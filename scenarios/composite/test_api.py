"""The kind and its policies, as the API server takes and refuses them (CP-01, CP-04, XD-31)."""

from collections.abc import Sequence

import pytest

from harness.kube import ApiError, metrics
from harness.kube.builders import (
    basic,
    composite_pod_group,
    composite_pod_group_template,
    gang,
    gang_of_groups,
    pod_group,
    pod_group_template,
    workload,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.composite.tree import WORKLOAD

GATE = "CompositePodGroup"
ALPHA = "scheduling.k8s.io/v1alpha3"
BETA = "scheduling.k8s.io/v1beta1"


def served(scenario: Scenario, version: str) -> set[str]:
    """The kinds that the API server has in a version of its scheduling API."""
    return {entry["kind"] for entry in scenario.client.raw("GET", f"/apis/{version}")["resources"]}


def stage(scenario: Scenario) -> str:
    """What the scheduler says of the gate's stage."""
    page = metrics.series(scenario.cluster.metrics("kube-scheduler"), "kubernetes_feature_enabled", name=GATE)
    (found,) = page
    return found.labels["stage"]


@pytest.mark.statement("CP-01")
def test_composites_are_served_as_alpha(scenario: Scenario, difference: Difference) -> None:
    version = BETA if difference("one looks in the beta version, where PodGroups are") else ALPHA

    assert GATE in served(scenario, version)

    assert stage(scenario) == "ALPHA"
    made = scenario.create(composite_pod_group("root", gang_of_groups(2), WORKLOAD))
    scenario.create(composite_pod_group("inner", gang_of_groups(1), WORKLOAD, parent="root"))
    leaf = scenario.create(pod_group("leaf", gang(2), workload=WORKLOAD, parent="inner"))
    assert scenario.get(made)["spec"]["schedulingPolicy"] == {"gang": {"minGroupCount": 2}}
    assert scenario.get(leaf)["spec"]["parentCompositePodGroupName"] == "inner"


@pytest.mark.control("CP-01")
@pytest.mark.profile("defaults")
def test_composites_do_not_exist_unless_switched_on(scenario: Scenario) -> None:
    groups = scenario.client.raw("GET", "/apis/scheduling.k8s.io")["versions"]
    assert ALPHA not in {version["groupVersion"] for version in groups}

    with pytest.raises(ApiError) as refusal:
        scenario.create(composite_pod_group("root", gang_of_groups(2), WORKLOAD))

    assert refusal.value.not_found, refusal.value


def unknown(scenario: Scenario, obj: Object, field: str) -> None:
    """The API server refuses the object, because its kind has no such field."""
    with pytest.raises(ApiError) as refusal:
        scenario.client.create(obj, dry_run=True)
    assert f'unknown field "spec.schedulingPolicy.{field}"' in refusal.value.message, refusal.value


@pytest.mark.statement("CP-04")
def test_each_kind_knows_its_own_minimum_only(scenario: Scenario, difference: Difference) -> None:
    swapped = difference("each minimum is in its own kind")
    groups, pods = gang_of_groups(2), gang(2)

    unknown(scenario, pod_group("pods", pods if swapped else groups), "gang.minGroupCount")
    unknown(scenario, composite_pod_group("groups", groups if swapped else pods, WORKLOAD), "gang.minCount")


@pytest.mark.control("CP-04")
def test_each_minimum_is_taken_in_its_own_kind_and_basic_in_both(scenario: Scenario) -> None:
    for name, policy in {"gang": gang(2), "basic": basic()}.items():
        stored = scenario.create(pod_group(name, policy))
        assert stored["spec"]["schedulingPolicy"] == policy
    for name, policy in {"gang": gang_of_groups(2), "basic": basic()}.items():
        stored = scenario.create(composite_pod_group(name, policy, WORKLOAD))
        assert stored["spec"]["schedulingPolicy"] == policy


LEAF = pod_group_template("leaf", gang(2))


def nested(levels: int) -> Object:
    """Templates of so many levels: one of a pod group, all above it of one composite each."""
    made = composite_pod_group_template(f"level-{levels - 1}", gang_of_groups(1), groups=[LEAF])
    for level in range(levels - 2, 0, -1):
        made = composite_pod_group_template(f"level-{level}", gang_of_groups(1), composites=[made])
    return made


def wide(children: int) -> Object:
    """A composite template with so many pod group templates."""
    leaves = [pod_group_template(f"leaf-{number}", gang(2)) for number in range(children)]
    return composite_pod_group_template("wide", gang_of_groups(1), groups=leaves)


def side_by_side(count: int) -> Sequence[Object]:
    """So many composite templates, each of one pod group template."""
    return [
        composite_pod_group_template(
            f"root-{number}", gang_of_groups(1), groups=[pod_group_template(f"leaf-{number}", gang(2))]
        )
        for number in range(count)
    ]


def refused(scenario: Scenario, composites: Sequence[Object], field: str) -> None:
    """The API server refuses a Workload of these templates, and names the field."""
    with pytest.raises(ApiError) as refusal:
        scenario.client.create(workload("training", composites=composites), dry_run=True)
    named = {cause.field for cause in refusal.value.causes}
    assert f"spec.compositePodGroupTemplates{field}" in named, refusal.value


@pytest.mark.statement("XD-31")
def test_trees_of_templates_are_limited(scenario: Scenario, difference: Difference) -> None:
    more = 0 if difference("nothing is above its limit") else 1

    refused(scenario, [nested(4 + more)], "[0]")
    refused(scenario, [wide(8 + more)], "[0].podGroupTemplates")
    refused(scenario, side_by_side(8 + more), "")
    refused(scenario, [composite_pod_group_template("childless", gang_of_groups(1))], "[0]")


@pytest.mark.control("XD-31")
def test_trees_of_templates_are_taken_up_to_their_limits(scenario: Scenario) -> None:
    for number, composites in enumerate(([nested(4)], [wide(8)], side_by_side(8))):
        stored = scenario.create(workload(f"training-{number}", composites=composites))
        assert len(stored["spec"]["compositePodGroupTemplates"]) == len(composites)
