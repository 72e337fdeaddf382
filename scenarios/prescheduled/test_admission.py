"""Turning the node name of incoming Pods into a node selector (PS-12)."""

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import pod
from harness.kube.predicates import allocated, reserved_for, scheduled, unallocated, unscheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import LABEL, Object, Scenario
from scenarios.prescheduled.stuck import held_back, not_allowed, unallocated_claim

#: JSON Patch (RFC 6902): the selector is added, beside what the Pod selects already; then the node name is removed.
NODE_NAME_TO_SELECTOR = """
(has(object.spec.nodeSelector)
  ? []
  : [JSONPatch{op: "add", path: "/spec/nodeSelector", value: Object.spec.nodeSelector{}}]) + [
  JSONPatch{
    op: "add",
    path: "/spec/nodeSelector/" + jsonpatch.escapeKey("kubernetes.io/hostname"),
    value: object.spec.nodeName
  },
  JSONPatch{op: "remove", path: "/spec/nodeName"}
]
"""


def policy(name: str) -> Object:
    """A policy that acts on new Pods with a node name."""
    return {
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {
                "resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
                ]
            },
            "matchConditions": [{"name": "has-node-name", "expression": "has(object.spec.nodeName)"}],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": NODE_NAME_TO_SELECTOR}}],
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
        },
    }


def binding(name: str, namespace: str) -> Object:
    """Puts the policy of the same name in force in the namespace of one scenario."""
    return {
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {
            "policyName": name,
            "matchResources": {"namespaceSelector": {"matchLabels": {LABEL: namespace}}},
        },
    }


def install(scenario: Scenario) -> Object:
    """Put the policy in force; returns the binding that does it."""
    name = f"{scenario.namespace}.example.com"
    scenario.create(policy(name))
    bound = scenario.create(binding(name, scenario.namespace))
    await_admission(scenario, changes_pods=True)
    return bound


def await_admission(scenario: Scenario, *, changes_pods: bool) -> None:
    """The API server learns of policies by a watch: ask it, without storing anything, until it acts as told."""
    probe = pod("probe", node_name=scenario.node)
    scenario.waiter.poll(
        lambda: scenario.client.create(probe, dry_run=True),
        lambda answer: unscheduled()(answer) == changes_pods,
        f"admission {'clears' if changes_pods else 'keeps'} the node name of Pods",
    )


@pytest.mark.statement("PS-12")
@pytest.mark.needs("kubelet")
def test_pod_whose_node_name_admission_replaces_goes_through_the_scheduler(
    scenario: Scenario, difference: Difference
) -> None:
    intended, other = scenario.nodes(2)
    driver = scenario.driver(gpus(1), nodes=[intended, other])
    wanted = unallocated_claim(scenario, driver.device_class)
    bound = install(scenario)
    if difference("the policy is not in force any more"):
        scenario.delete(bound)
        await_admission(scenario, changes_pods=False)

    stored = scenario.create(pod("consumer", claims={"gpu": wanted}, node_name=intended))

    assert unscheduled()(stored), "the Pod was stored with its node name"
    assert stored["spec"]["nodeSelector"] == {"kubernetes.io/hostname": intended}
    scenario.wait(stored, scheduled(intended))
    scenario.wait_event(stored, "Scheduled")
    assert (allocated() & reserved_for(stored))(scenario.get(wanted))


@pytest.mark.control("PS-12")
@pytest.mark.needs("kubelet")
def test_pod_gets_stuck_once_the_policy_is_removed(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    wanted = unallocated_claim(scenario, driver.device_class)
    scenario.delete(install(scenario))
    await_admission(scenario, changes_pods=False)

    stored = scenario.create(pod("consumer", claims={"gpu": wanted}, node_name=scenario.node))

    assert scheduled(scenario.node)(stored)
    held_back(scenario, stored, not_allowed(stored, wanted))
    assert unallocated()(scenario.get(wanted))
