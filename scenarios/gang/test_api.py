"""The API: maturity, and the document's two manifests (GS-02, GS-03, GS-05)."""

from importlib.resources import files

import pytest
import yaml

from harness.kube import ApiError, metrics
from harness.kube.predicates import scheduled
from harness.kube.refusals import refused
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.gang.arrange import SOON, Gang, at_home, held_for_quorum, members, placed, room

GATE = "GenericWorkload"
API = "scheduling.k8s.io/v1beta1"
MIN_COUNT = "spec.schedulingPolicy.gang.minCount"


def manifest(scenario: Scenario, file: str) -> Object:
    """An example as it stands in the document, in the version that the release has it in."""
    found: Object = yaml.safe_load((files("scenarios") / "examples" / file).read_text("utf-8"))
    if found["kind"] == "PodGroup" and not scenario.release.has("PodGroup.v1beta1"):
        del found["apiVersion"]
    return found


def at_hand(scenario: Scenario, example: Object) -> Object:
    """The example Pod in the scenario's own room, with an image that is there."""
    home = at_home(scenario)
    example["spec"]["containers"][0] |= {
        "image": scenario.cluster.image,
        "imagePullPolicy": "IfNotPresent",
        "resources": {"requests": {name: str(amount) for name, amount in home["requests"].items()}},
    }
    example["spec"] |= {"nodeSelector": home["node_selector"], "schedulerName": scenario.scheduler_name}
    example["spec"]["terminationGracePeriodSeconds"] = 0
    return example


def served(scenario: Scenario, version: str = API) -> set[str]:
    """The kinds that the API server serves in a version of its scheduling API."""
    try:
        found = scenario.client.raw("GET", f"/apis/{version}")
    except ApiError as error:
        if error.not_found:
            return set()
        raise
    return {each["kind"] for each in found["resources"]}


def gate(scenario: Scenario, name: str = GATE) -> tuple[str, bool]:
    """The gate's stage, in the API server's own words, and whether it is on."""
    page = metrics.series(scenario.cluster.metrics("kube-apiserver"), "kubernetes_feature_enabled")
    (found,) = (sample for sample in page if sample.labels["name"] == name)
    return found.labels["stage"], bool(found.value)


@pytest.mark.statement("GS-02")
@pytest.mark.feature("PodGroup.v1beta1")
@pytest.mark.profile("defaults")
def test_gangs_are_beta_and_off_where_nobody_asks_for_them(scenario: Scenario, difference: Difference) -> None:
    name, version, kind = GATE, API, "PodGroup"
    if difference("one looks for a beta and a kind that are on by default"):
        name, version, kind = "DRADeviceBindingConditions", "scheduling.k8s.io/v1", "PriorityClass"

    assert gate(scenario, name) == ("BETA", False)
    assert kind not in served(scenario, version)
    stored = scenario.client.create(manifest(scenario, "gs-pod-worker-0.yaml"), dry_run=True)
    assert "schedulingGroup" not in stored["spec"]


@pytest.mark.control("GS-02")
@pytest.mark.feature("PodGroup.v1beta1")
def test_groups_are_served_and_named_with_gate_and_api_on(scenario: Scenario) -> None:
    assert gate(scenario) == ("BETA", True)
    assert {"PodGroup", "Workload"} <= served(scenario)
    stored = scenario.client.create(manifest(scenario, "gs-pod-worker-0.yaml"), dry_run=True)
    assert stored["spec"]["schedulingGroup"] == {"podGroupName": "training-worker-0"}


@pytest.mark.statement("GS-03")
@pytest.mark.feature("Pod.spec.schedulingGroup")
@pytest.mark.needs("bare-nodes")
def test_example_group_asks_for_four_pods_at_the_same_time(scenario: Scenario, difference: Difference) -> None:
    example = manifest(scenario, "gs-podgroup.yaml")
    read = scenario.client.create(example, dry_run=True)
    assert (read["metadata"]["namespace"], read["metadata"]["name"]) == ("default", "training-worker-0")
    assert read["spec"]["schedulingPolicy"] == {"gang": {"minCount": 4}}

    # Under its own name, but in the scenario's namespace, so that nobody meets it by chance.
    example["metadata"].pop("namespace")
    if difference("minCount is three"):
        example["spec"]["schedulingPolicy"]["gang"]["minCount"] = 3
    room(scenario, 4)
    group = scenario.create(example)
    pods = members(scenario, group, range(3), **at_home(scenario))
    held_for_quorum(scenario, pods)

    pods += members(scenario, group, [3], **at_home(scenario))

    placed(scenario, Gang(group, pods))


@pytest.mark.control("GS-03")
@pytest.mark.feature("Pod.spec.schedulingGroup")
def test_min_count_is_positive(scenario: Scenario) -> None:
    example = manifest(scenario, "gs-podgroup.yaml")
    for count in (0, -1):
        example["spec"]["schedulingPolicy"]["gang"]["minCount"] = count
        refused(lambda: scenario.client.create(example, dry_run=True), MIN_COUNT)
    del example["spec"]["schedulingPolicy"]["gang"]["minCount"]
    refused(lambda: scenario.client.create(example, dry_run=True), MIN_COUNT)


@pytest.mark.statement("GS-05")
@pytest.mark.feature("Pod.spec.schedulingGroup")
@pytest.mark.needs("bare-nodes")
def test_example_pod_waits_for_the_example_group(scenario: Scenario, difference: Difference) -> None:
    example = manifest(scenario, "gs-pod-worker-0.yaml")
    if difference("the Pod names no group"):
        del example["spec"]["schedulingGroup"]
    read = scenario.client.create(example, dry_run=True)
    (container,) = read["spec"]["containers"]
    assert (read["metadata"]["name"], container["name"], container["image"]) == ("worker-0", "ml-worker", "training:v1")

    room(scenario, 4)
    group = manifest(scenario, "gs-podgroup.yaml")
    group["metadata"].pop("namespace")
    group = scenario.create(group)
    first = scenario.create(at_hand(scenario, example))
    assert first["spec"].get("schedulingGroup") == {"podGroupName": "training-worker-0"}
    held_for_quorum(scenario, [first])

    members(scenario, group, range(1, 4), **at_home(scenario))

    scenario.wait(first, scheduled(), SOON)


@pytest.mark.control("GS-05")
@pytest.mark.feature("Pod.spec.schedulingGroup")
@pytest.mark.profile("defaults")
@pytest.mark.needs("bare-nodes")
def test_example_pod_is_placed_alone_with_the_gate_off(scenario: Scenario) -> None:
    room(scenario, 1)

    stored = scenario.create(at_hand(scenario, manifest(scenario, "gs-pod-worker-0.yaml")))

    assert "schedulingGroup" not in stored["spec"]
    scenario.wait(stored, scheduled())
