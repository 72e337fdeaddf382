"""The results of placement can be read, told apart, and put on one time axis (OB-01 to OB-03)."""

import pytest

from fake_driver.inventory import Device
from fake_driver.profiles import gpus
from harness.drivers import Driver
from harness.kube import Waiter
from harness.kube.builders import claim_template, deployment, gang, pod, pod_group, request
from harness.kube.predicates import (
    allocated_devices,
    any_of,
    find_condition,
    find_group_condition,
    generated_claim_name,
    group_unschedulable,
    scheduled,
    terminating,
    unschedulable,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.beyond.consumers import ask
from scenarios.eviction.arrange import taint
from scenarios.explain.asked import explanation


def lines_about(scenario: Scenario, pod: Object) -> str:
    """What the report's timeline has about a Pod."""
    name = f"Pod {scenario.namespace}/{pod['metadata']['name']}"
    return "\n".join(entry["text"] for entry in scenario.recorder.entries() if entry["object"] == name)


@pytest.mark.statement("OB-01")
@pytest.mark.feature("Pod.spec.schedulingGroup")
def test_report_has_node_device_group_and_why_a_pod_waits(scenario: Scenario, difference: Difference) -> None:
    if difference("the waits observe without explaining"):
        scenario.waiter = Waiter(scenario.client, scenario.recorder)
    driver = scenario.driver(gpus(1), plugin=False)
    template = scenario.create(claim_template("one", request(driver.device_class)))
    group = scenario.create(pod_group("group", gang(1)))
    placed = scenario.create(pod("placed", templates={"gpu": template}, pod_group=group))
    placed = scenario.wait(placed, scheduled())
    waiter, _ = ask(scenario, "waiter", request(driver.device_class))
    scenario.wait(waiter, unschedulable())

    assert f"on {scenario.node}, with {driver.name}/{scenario.node}/gpu-0, in group group" in lines_about(
        scenario, placed
    )
    assert "devices-taken" in (told := lines_about(scenario, waiter))
    assert f"ResourceClaim {scenario.namespace}/{generated_claim_name(placed, 'gpu')}, used by pod placed" in told


@pytest.mark.control("OB-01")
@pytest.mark.feature("Pod.spec.schedulingGroup")
def test_report_names_no_device_of_a_pod_that_has_none(scenario: Scenario) -> None:
    plain = scenario.create(pod("plain", on=scenario.node))
    scenario.wait(plain, scheduled())

    assert f"on {scenario.node}" in (told := lines_about(scenario, plain))
    assert " with " not in told
    assert "in group" not in told


def group_of_two(scenario: Scenario, driver: Driver, name: str, members: int) -> tuple[Object, list[Object]]:
    """A gang that needs two Pods with a GPU each, with so many."""
    template = scenario.create(claim_template(name, request(driver.device_class)))
    group = scenario.create(pod_group(name, gang(2)))
    options = {"templates": {"gpu": template}, "pod_group": group}
    return group, [scenario.create(pod(f"{name}-{n}", **options)) for n in range(members)]  # type: ignore[arg-type]


@pytest.mark.statement("OB-02")
@pytest.mark.feature("PodGroup.status.conditions")
def test_short_of_quorum_and_short_of_room_are_told_apart(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1), plugin=False)
    members = (2, 1) if difference("the two causes are swapped") else (1, 2)
    quorum, waiting = group_of_two(scenario, driver, "quorum", members[0])
    room, refused = group_of_two(scenario, driver, "room", members[1])

    # The group that came later is tried: the earlier one would have been, too.
    scenario.wait(room, group_unschedulable(), timeout=15)
    for each in refused:
        scenario.wait(each, unschedulable())
    assert find_group_condition(scenario.get(quorum)) is None
    assert find_condition(scenario.get(waiting[0]), "PodScheduled") is None
    assert explanation(scenario, quorum).causes == ("group-quorum",)
    assert explanation(scenario, room).causes == ("group-no-room",)


@pytest.mark.control("OB-02")
@pytest.mark.feature("PodGroup.status.conditions")
def test_each_cause_has_its_own_cure(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1), plugin=False)
    room, refused = group_of_two(scenario, driver, "room", 2)
    scenario.wait(room, group_unschedulable())
    driver.control.add_device(scenario.node, Device("gpu-1"))
    for each in refused:
        scenario.wait(each, scheduled())

    assert explanation(scenario, room).causes == ()

    ample = scenario.driver(gpus(2), plugin=False)
    quorum, waiting = group_of_two(scenario, ample, "quorum", 1)
    assert explanation(scenario, quorum).causes == ("group-quorum",)
    second = scenario.create(pod("late", templates={"gpu": "quorum"}, pod_group=quorum))
    for each in (*waiting, second):
        scenario.wait(each, scheduled())
    assert explanation(scenario, quorum).causes == ()


def version(obj: Object) -> int:
    """The place of an object's last change on the one axis of all changes of the cluster."""
    return int(obj["metadata"]["resourceVersion"])


def slice_of(scenario: Scenario, driver: Driver) -> Object:
    """The driver's only slice."""
    (found,), _ = scenario.client.list("ResourceSlice", field_selector=f"spec.driver={driver.name}")
    return found


def replaced_after_a_taint(scenario: Scenario, driver: Driver, *, deleted_before: bool) -> tuple[Object, ...]:
    """The tainted slice, the Pod as it was marked for deletion, and the Pod in its place as it was bound."""
    template = scenario.create(claim_template("one", request(driver.device_class)))
    replicas = pod("worker", templates={"gpu": template}, grace_seconds=5, on=scenario.node)
    scenario.create(deployment("worker", replicas))
    (worker,) = scenario.waiter.wait_any("Pod", any_of(scheduled()), label_selector="app=worker")
    held = scenario.client.get("ResourceClaim", generated_claim_name(worker, "gpu"))
    (device,) = allocated_devices(held)
    if deleted_before:
        scenario.client.delete(worker)
        worker = scenario.wait(worker, terminating())
    taint(scenario, driver, device.device)
    published = slice_of(scenario, driver)
    if not deleted_before:
        worker = scenario.wait(worker, terminating())
    pods = scenario.waiter.wait_any("Pod", any_of(scheduled() & ~terminating()), label_selector="app=worker")
    (replacement,) = (each for each in pods if each["metadata"]["uid"] != worker["metadata"]["uid"])
    return published, worker, replacement


@pytest.mark.statement("OB-03")
@pytest.mark.needs("kubelet")
def test_taint_eviction_and_replacement_stand_in_order_on_one_axis(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    early = difference("the Pod is deleted before the taint")

    published, worker, replacement = replaced_after_a_taint(scenario, driver, deleted_before=early)

    assert version(published) < version(worker), "the eviction stands before the taint"
    assert version(worker) < version(replacement), "the replacement stands before the eviction"
    (since,) = (t["timeAdded"] for d in published["spec"]["devices"] for t in d.get("taints", ()))
    bound = find_condition(replacement, "PodScheduled")
    marked = find_condition(worker, "DisruptionTarget")
    assert marked
    assert bound
    assert since <= marked["lastTransitionTime"] <= bound["lastTransitionTime"]


@pytest.mark.control("OB-03")
@pytest.mark.needs("kubelet")
def test_a_deletion_before_the_taint_stands_before_it(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2))

    published, worker, _ = replaced_after_a_taint(scenario, driver, deleted_before=True)

    assert version(worker) < version(published)
    assert find_condition(worker, "DisruptionTarget") is None
