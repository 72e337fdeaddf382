from typing import Any

import pytest

from harness.explain.model import Explanation
from harness.explain.pods import explain_pod
from harness.explain.snapshot import Snapshot
from harness.kube.builders import (
    claim_template,
    device_taint,
    device_taint_rule,
    device_toleration,
    gang,
    pod,
    pod_group,
    request,
)
from tests.explain.cluster import DRIVER, a_node, ago, devices, event, has, snapshot, stored, unplaced, wants


def why(taken: Snapshot, name: str = "waiter") -> Explanation:
    found = explain_pod(taken, "ns", name)
    assert found
    return found


def waiter(**fields: Any) -> list[Any]:
    return [unplaced(claims={"gpu": "wanted"}, **fields)]


def test_all_devices_taken_and_by_whom() -> None:
    taken = snapshot(a_node(), *devices("gpu-0"), has("held", "gpu-0", "holder"), wants(), *waiter())
    (finding,) = why(taken).findings
    assert finding.cause == "devices-taken"
    assert "ResourceClaim ns/held, used by pod holder" in finding.sentence


def test_devices_that_are_free_where_the_pod_may_not_be_are_told() -> None:
    here, there = a_node(), a_node("n2")
    published = [*devices("gpu-0"), devices("gpu-1", node="n2")[0]]
    bound_to_here = waiter(node_selector={"kubernetes.io/hostname": "n1"})
    found = [here, there, *published, has("held", "gpu-0", "holder"), wants(), *bound_to_here]
    (finding,) = why(snapshot(*found)).findings
    assert finding.cause == "devices-taken"
    assert finding.sentence.endswith("on the nodes that the Pod may use")
    assert any("gpu-1 (on node n2)" in fact for fact in finding.facts)
    assert why(snapshot(*found[:-1], *waiter())).causes == ("awaiting-retry",)


def test_devices_with_admin_access_of_others_are_free() -> None:
    taken = snapshot(a_node(), *devices("gpu-0"), has("held", "gpu-0", "x", adminAccess=True), wants(), *waiter())
    assert why(taken).causes == ("awaiting-retry",)


def test_a_taint_and_the_toleration_that_is_missing() -> None:
    tainted = {"name": "gpu-0", "taints": [device_taint("k", "NoSchedule", "v")]}
    taken = snapshot(a_node(), *devices(tainted), wants(), *waiter())
    (finding,) = why(taken).findings
    assert finding.cause == "device-tainted"
    assert "{key: k, operator: Equal, value: 'v', effect: NoSchedule}" in finding.remedy


def test_a_taint_of_a_rule_that_matches_only_some_devices() -> None:
    rule = stored(device_taint_rule("r", device_taint("k", "NoExecute"), driver=DRIVER, device="gpu-0"))
    taken = snapshot(a_node(), *devices("gpu-0"), rule, wants(), *waiter())
    assert why(taken).causes == ("device-tainted-by-rule",)
    elsewhere = snapshot(a_node(), *devices("gpu-1"), rule, wants(), *waiter())
    assert why(elsewhere).causes == ("awaiting-retry",)


def test_a_toleration_counts() -> None:
    tainted = {"name": "gpu-0", "taints": [device_taint("k", "NoSchedule")]}
    tolerant = wants("wanted", request(DRIVER, tolerations=[device_toleration("k")]))
    assert why(snapshot(a_node(), *devices(tainted), tolerant, *waiter())).causes == ("awaiting-retry",)


def test_two_obstacles_that_each_would_have_to_go_are_both_told() -> None:
    tainted = {"name": "gpu-1", "taints": [device_taint("k", "NoSchedule")]}
    found = [a_node(), *devices("gpu-0", tainted), has("held", "gpu-0", "x"), *waiter()]
    both = wants("wanted", request(DRIVER, count=2))
    assert sorted(why(snapshot(*found, both)).causes) == ["device-tainted", "devices-taken"]


def test_what_would_not_help_is_not_told() -> None:
    tainted = {"name": "gpu-1", "attributes": {"a": {"int": 1}}, "taints": [device_taint("k", "NoSchedule")]}
    of_gpu_1 = wants("wanted", request(DRIVER, selectors=[f"'a' in device.attributes['{DRIVER}']"]))
    taken = snapshot(a_node(), *devices("gpu-0", tainted), has("held", "gpu-0", "x"), of_gpu_1, *waiter())
    assert why(taken).causes == ("device-tainted",)


def test_only_slices_of_the_newest_generation_count() -> None:
    old = devices("gpu-0", "gpu-1", slice_count=1)[0]
    new = devices("gpu-0", generation=2, slice_count=2)
    new[0]["metadata"]["name"] = "newer"
    (finding,) = why(snapshot(a_node(), old, *new, wants(), *waiter())).findings
    assert finding.cause == "pool-incomplete"
    assert "1 of 2 slices of generation 2" in finding.facts[0]


def test_a_selector_that_cannot_be_evaluated_is_told_and_rejects_nothing() -> None:
    odd = wants("wanted", request(DRIVER, selectors=["cel.bind(x, device.driver, x == 'y')"]))
    taken = snapshot(a_node(), *devices("gpu-0"), has("held", "gpu-0", "x"), odd, *waiter())
    (finding,) = why(taken).findings
    assert finding.cause == "devices-taken"
    assert any("not evaluated" in fact for fact in finding.facts)


def test_gate_and_missing_claim_are_both_told() -> None:
    gated = unplaced(message="", claims={"gpu": "nope"}, scheduling_gates=["g"])
    assert why(snapshot(gated)).causes == ("scheduling-gates", "claim-missing")


def test_a_claim_that_may_not_be_read_is_not_missing() -> None:
    taken = snapshot(a_node(), unplaced(message="", claims={"gpu": "nope"}), missing=("ResourceClaim",))
    assert "claim-missing" not in why(taken).causes


def test_template_that_is_there_waits_for_the_controller() -> None:
    found = [stored(claim_template("t", request(DRIVER))), unplaced(message="", templates={"gpu": "t"})]
    assert why(snapshot(*found)).causes == ("claim-not-generated",)


@pytest.mark.parametrize(
    ("scheduler", "others", "causes"),
    [
        ("default-scheduler", (), ["scheduler-down"]),
        ("mine", (), ["scheduler-down", "scheduler-unknown"]),
        ("mine", ("default-scheduler",), ["scheduler-unknown"]),
        ("default-scheduler", ("default-scheduler",), ["not-tried-yet"]),
    ],
)
def test_silent_schedulers(scheduler: str, others: tuple[str, ...], causes: list[str]) -> None:
    tried = [unplaced(f"other-{name}", scheduler_name=name) for name in others]
    found = why(snapshot(a_node(), unplaced(message="", scheduler_name=scheduler), *tried))
    assert sorted(found.causes) == causes
    assert all(finding.certain for finding in found.findings) == (len(causes) == 1)


def test_the_wait_for_conditions_has_so_much_time_left() -> None:
    pending = has("wanted", "gpu-0", "waiter", bindingConditions=["Attached"], bindingFailureConditions=["Lost"])
    found = [a_node(), *devices("gpu-0"), pending, *waiter(message="")]
    (finding,) = why(snapshot(*found)).findings
    assert finding.cause == "binding-conditions"
    assert any("30 s ago" in fact for fact in finding.facts)
    assert any("it has 10 min left" in fact for fact in finding.facts)


def test_failed_bindings_are_counted() -> None:
    (made,) = waiter()
    text = 'running PreBind plugin "DynamicResources": device binding failed: claim=wanted, reason=R, message="m"'
    found = [a_node(), *devices("gpu-0"), wants(), made, event(made, "FailedScheduling", text, count=3)]
    (finding, *_) = why(snapshot(*found)).findings
    assert finding.cause == "binding-failed"
    assert "3 times, last at" in finding.sentence


def test_node_that_a_failed_binding_left_behind_is_no_preemption() -> None:
    (made,) = waiter()
    made["status"]["nominatedNodeName"] = "n1"
    (condition,) = made["status"]["conditions"]
    condition |= {"reason": "SchedulerError", "message": "claim wanted binding failed: reason=R"}
    causes = why(snapshot(a_node(), *devices("gpu-0"), wants(), made)).causes
    assert "binding-failed" in causes
    assert "preempting" not in causes


def test_quorum_counts_only_pods_that_are_not_over() -> None:
    over = stored(pod("over", pod_group="g"), status={"phase": "Failed"})
    found = snapshot(stored(pod_group("g", gang(2))), over, unplaced(message="", pod_group="g"))
    (finding,) = why(found).findings
    assert "1 of 2" in finding.sentence


def test_an_eviction_names_the_taint_of_the_pods_own_device() -> None:
    lost = [{"name": name, "taints": [device_taint(f"{name}/k", "NoExecute")]} for name in ("gpu-0", "gpu-1")]
    made = stored(pod("waiter", claims={"gpu": "held"}, node_name="n1"))
    made["metadata"]["deletionTimestamp"] = ago(1)
    made["status"] = {"conditions": [
        {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByDeviceTaintManager"}
    ]}  # fmt: skip
    (finding,) = why(snapshot(a_node(), *devices(*lost), has("held", "gpu-1", "waiter"), made)).findings
    assert finding.cause == "evicted-by-taint"
    assert "gpu-1/k" in finding.sentence
    assert "gpu-0/k" not in finding.sentence


def test_a_pod_that_is_gone_is_known_by_its_events() -> None:
    (victim,) = waiter()
    winner = stored(pod("winner"), status={})
    winner["metadata"]["uid"] = "00000000-0000-0000-0000-000000000001"
    told = event(victim, "Preempted", f"Preempted by pod {winner['metadata']['uid']} on node n1")
    (finding,) = why(snapshot(winner, told)).findings
    assert finding.sentence == "preempted by Pod ns/winner, priority 0"
    assert explain_pod(snapshot(), "ns", "waiter") is None


def test_a_later_pod_of_the_same_name_is_another_one() -> None:
    assert explain_pod(snapshot(*waiter()), "ns", "waiter", uid="earlier") is None


def test_a_node_that_is_not_ready() -> None:
    down = a_node(ready=False, taints=({"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"},))
    assert why(snapshot(down, unplaced())).causes == ("node-not-ready",)


def test_node_resources_with_the_part_for_devices_apart() -> None:
    user = stored(pod("user", node_name="n1", requests={"cpu": "1"}), status={
        "phase": "Running",
        "nodeAllocatableResourceClaimStatuses": [
            {"resourceClaimName": "c", "containers": ["main"], "mapping": [{"name": "cpu", "quantity": "2"}],
             "overhead": [{"name": "cpu", "perPod": "100m", "perContainer": "200m"}]}
        ],
    })  # fmt: skip
    found = snapshot(a_node(), user, unplaced(message="0/1 nodes are available: 1 Insufficient cpu.",
                                              requests={"cpu": "1"}))  # fmt: skip
    (finding,) = why(found).findings
    assert finding.cause == "node-resources"
    assert "node n1: cpu 4, taken by Pods 1, through devices 2300m, left 700m" in finding.facts
