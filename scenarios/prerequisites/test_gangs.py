"""What gangs need: a gate and an API of the control plane; one can ask beforehand (PQ-03 to PQ-05, PQ-08)."""

from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from harness.errors import InfrastructureError
from harness.kube import ApiError
from harness.kube.builders import gang, pod_group
from harness.kube.predicates import scheduled, tried
from harness.kube.resources import resource
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.gang.arrange import Gang, at_home, group_of, held_for_quorum, member, members, placed, room
from scenarios.prerequisites.maturity import SOON, gate, served

GATE = "GenericWorkload"
NEVER_SYNCED = "could not find the requested resource"


def api(scenario: Scenario) -> tuple[str, str]:
    """The API version and plural name of what makes a group: PodGroups, or Workloads where they hold the groups."""
    sent = scenario.client.complete(pod_group("training", gang(2)))
    return sent["apiVersion"], resource(sent["kind"]).plural


def groups_served(scenario: Scenario) -> bool:
    """What is asked before a gang is tried: does discovery list groups?"""
    version, plural = api(scenario)
    return plural in served(scenario, version)


def api_server(scenario: Scenario, *, gate: bool, api_on: bool) -> None:
    """The API server with gate and API on or off."""
    scenario.spoilt = True
    version, _ = api(scenario)
    scenario.note(f"kube-apiserver: {GATE}={gate}, --runtime-config={version}={api_on}")
    args = [f"--runtime-config={version}=true"] if api_on else []
    scenario.cluster.restart("kube-apiserver", gates={GATE: True} if gate else {}, args=args)


def scheduler_with_gate(scenario: Scenario) -> None:
    """The scheduler with the gate on; returns when it is ready."""
    scenario.note(f"kube-scheduler: {GATE}=True")
    scenario.cluster.restart("kube-scheduler", gates={GATE: True})


def refused_as_unknown(scenario: Scenario) -> None:
    """The API server knows no PodGroups: there is nothing to send one to."""
    with pytest.raises(ApiError) as refusal:
        scenario.client.create(pod_group("training", gang(2)), dry_run=True)
    assert refusal.value.not_found, refusal.value


def waits_for_the_api(scenario: Scenario, starting: Future[None], words_before: int) -> None:
    """The scheduler that is being started has asked for PodGroups in vain, more than once, and is not ready."""

    def turns() -> int:
        words = scenario.cluster.log("kube-scheduler")[words_before:].splitlines()
        return sum("PodGroup" in line and NEVER_SYNCED in line for line in words)

    done = scenario.waiter.poll(lambda: starting.done() or turns() > 1, bool, "the scheduler asks for PodGroups", SOON)
    assert done
    assert not starting.done(), "the scheduler is ready"


@pytest.mark.statement("PQ-03", "PQ-04")
@pytest.mark.feature("PodGroup.v1beta1")
@pytest.mark.profile("defaults")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("restart", "bare-nodes")
def test_gangs_need_the_gate_in_both_components_and_the_api(scenario: Scenario, difference: Difference) -> None:
    room(scenario, 4)
    assert gate(scenario, GATE, "kube-apiserver") == ("BETA", False)
    assert not groups_served(scenario), "neither gate nor API"
    both = difference("gate and API are on from the start")
    api_server(scenario, gate=both, api_on=True)
    assert not groups_served(scenario), "the API without the gate"
    api_server(scenario, gate=True, api_on=False)
    assert not groups_served(scenario), "the gate without the API"

    words_before = len(scenario.cluster.log("kube-scheduler"))
    with ThreadPoolExecutor(1) as threads:
        starting = threads.submit(scheduler_with_gate, scenario)
        waits_for_the_api(scenario, starting, words_before)
        lonely = member(scenario, "lonely", 0, **at_home(scenario))
        waits_for_the_api(scenario, starting, len(scenario.cluster.log("kube-scheduler")))
        assert not (scheduled() | tried())(scenario.get(lonely)), "a scheduler without the API has tried a Pod"
        scenario.cluster.stop("kube-scheduler")
        with pytest.raises(InfrastructureError):
            starting.result()

    api_server(scenario, gate=True, api_on=True)
    scheduler_with_gate(scenario)
    scenario.wait(lonely, scheduled())
    for component in ("kube-apiserver", "kube-scheduler"):
        assert gate(scenario, GATE, component)[1], f"{component} has the gate off"
    group = scenario.create(pod_group("training", gang(2)))
    first = members(scenario, group, [0], **at_home(scenario))
    held_for_quorum(scenario, first)
    placed(scenario, Gang(group, first + members(scenario, group, [1], **at_home(scenario))))


@pytest.mark.control("PQ-03", "PQ-04")
@pytest.mark.feature("PodGroup.v1beta1")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("restart", "bare-nodes")
def test_pods_of_a_group_are_placed_singly_with_the_gate_in_the_api_server_only(scenario: Scenario) -> None:
    room(scenario, 1)
    needing = [each.name for each in scenario.release.gates.values() if GATE in each.needs]
    known = [name for name in needing if gate_is_on(scenario, name)]
    scenario.cluster.restart("kube-scheduler", gates=dict.fromkeys([GATE, *known], False))

    group = scenario.create(pod_group("training", gang(2)))
    (first,) = members(scenario, group, [0], **at_home(scenario))

    assert first["spec"]["schedulingGroup"] == {"podGroupName": "training"}
    scenario.wait(first, scheduled(), SOON)


def gate_is_on(scenario: Scenario, name: str) -> bool:
    """Whether the scheduler has the gate on."""
    return gate(scenario, name)[1]


@pytest.mark.statement("PQ-05")
@pytest.mark.profile("defaults")
def test_any_user_can_ask_beforehand_whether_groups_are_served(scenario: Scenario, difference: Difference) -> None:
    version, kind = api(scenario)
    if difference("one asks for what every cluster serves"):
        version, kind = "scheduling.k8s.io/v1", "priorityclasses"

    assert kind not in served(scenario, version)

    refused_as_unknown(scenario)


@pytest.mark.control("PQ-05")
def test_groups_are_served_and_taken_where_the_provider_has_switched_them_on(scenario: Scenario) -> None:
    assert groups_served(scenario)

    stored = scenario.create(pod_group("training", gang(2)))

    assert scenario.get(stored)["spec"] == stored["spec"]


def training(scenario: Scenario, *, grouped: bool) -> Object:
    """The first Pod of a training job that should start with two."""
    return member(scenario, "training", 0, group="training" if grouped else None, **at_home(scenario))


@pytest.mark.statement("PQ-08")
@pytest.mark.needs("bare-nodes")
def test_pods_are_placed_as_a_group_where_the_gate_is_open(scenario: Scenario, difference: Difference) -> None:
    room(scenario, 2)
    group = scenario.create(pod_group("training", gang(2)))

    first = training(scenario, grouped=not difference("the Pods name no group"))

    assert group_of(first) == "training"
    held_for_quorum(scenario, [first])
    placed(scenario, Gang(group, [first, *members(scenario, group, [1], **at_home(scenario))]))


@pytest.mark.control("PQ-08")
@pytest.mark.profile("defaults")
@pytest.mark.needs("bare-nodes")
def test_pods_are_placed_one_by_one_where_the_gate_is_closed(scenario: Scenario) -> None:
    refused_as_unknown(scenario)
    room(scenario, 2)

    first = training(scenario, grouped=True)

    assert group_of(first) is None
    scenario.wait(first, scheduled(), SOON)
