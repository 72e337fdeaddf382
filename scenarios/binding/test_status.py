"""Where the conditions stand, who writes them, and what is refused (BC-05, BC-14, BC-15)."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from fake_driver.attachment import wrong_device
from fake_driver.profiles import fabric
from harness.drivers import Driver
from harness.kube import ApiError, Client
from harness.kube.builders import cluster_role, cluster_role_binding, resource_slice
from harness.kube.builders.cluster import rule
from harness.kube.predicates import allocation_results, scheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.binding.arrange import ATTACHED, FAILED, ONE_POLL, Consumer, conditions, report, still_waits, waiting

GRANULAR = "DRAResourceClaimGranularStatusAuthorization"


def written(type: str) -> Object:
    """A condition with all five fields."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"type": type, "status": "True", "reason": "Seen", "message": "in its slot", "lastTransitionTime": now}


def device_entry(driver: Driver, claim: Object, *found: Object) -> Object:
    """What a controller writes into the status of a claim with one device."""
    (result,) = allocation_results(claim)
    return {"driver": driver.name, "pool": result["pool"], "device": result["device"], "conditions": list(found)}


def refusal(attempt: Callable[[], object]) -> ApiError:
    """What the API server says when it refuses."""
    try:
        attempt()
    except ApiError as error:
        return error
    raise AssertionError("the API server took it")


@pytest.mark.statement("BC-05")
@pytest.mark.needs("kubelet")
def test_slice_carries_the_three_fields(scenario: Scenario, difference: Difference) -> None:
    left_out = difference("the driver leaves the fields out")
    pool = fabric(1) if not left_out else fabric(1, conditions=(), failures=(), binds_to_node=False)
    driver = scenario.driver(pool, plugin=False)

    slices, _ = scenario.client.list("ResourceSlice", field_selector=f"spec.driver={driver.name}")

    (device,) = slices[0]["spec"]["devices"]
    fields = {name: device.get(name) for name in ("bindsToNode", "bindingConditions", "bindingFailureConditions")}
    assert fields == {
        "bindsToNode": True,
        "bindingConditions": [ATTACHED],
        "bindingFailureConditions": [FAILED],
    }


@pytest.mark.statement("BC-05")
@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("bindingConditions", {"bindingConditions": ["a", "b", "c", "d", "e"], "bindingFailureConditions": ["f"]}),
        (
            "bindingFailureConditions",
            {"bindingConditions": ["f"], "bindingFailureConditions": ["a", "b", "c", "d", "e"]},
        ),
        ("bindingConditions[1]", {"bindingConditions": ["a", "a"], "bindingFailureConditions": ["f"]}),
        ("bindingConditions[0]", {"bindingConditions": ["not a label"], "bindingFailureConditions": ["f"]}),
        ("bindingFailureConditions[0]", {"bindingConditions": ["a"], "bindingFailureConditions": ["a"]}),
        ("bindingConditions", {"bindingFailureConditions": ["f"]}),
        ("bindingFailureConditions", {"bindingConditions": ["a"]}),
    ],
    ids=["five", "five-failures", "twice", "no-label", "in-both-lists", "failures-alone", "conditions-alone"],
)
def test_lists_that_make_no_sense_are_refused(
    scenario: Scenario, difference: Difference, field: str, fields: Object
) -> None:
    good = {"bindingConditions": ["a", "b", "c", "d"], "bindingFailureConditions": ["e", "f", "g", "h"]}
    device = {"name": "gpu-0", **(good if difference("the lists are in order") else fields)}
    name = scenario.namespace

    error = refusal(
        lambda: scenario.create(resource_slice(name, f"{name}.example.com", [device], node=scenario.namespace))
    )

    assert f"spec.devices[0].{field}" in {cause.field for cause in error.causes}, str(error)


@pytest.mark.statement("BC-14")
@pytest.mark.needs("kubelet")
def test_only_conditions_of_the_claim_count(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    held = waiting(scenario, driver)

    if difference("the condition is set on the Pod"):
        set_on_pod(scenario, held)
    else:
        report(driver, held, {ATTACHED: "True"})

    scenario.wait(held.pod, scheduled(scenario.node), timeout=ONE_POLL)


@pytest.mark.control("BC-14")
@pytest.mark.needs("kubelet")
def test_conditions_of_the_pod_do_not_count_and_the_claim_has_none_of_its_own(scenario: Scenario) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    held = waiting(scenario, driver)

    set_on_pod(scenario, held)
    error = refusal(
        lambda: scenario.client.patch(held.claim, {"status": {"conditions": [written(ATTACHED)]}}, subresource="status")
    )

    assert 'unknown field "status.conditions"' in error.message
    still_waits(scenario, held)


def set_on_pod(scenario: Scenario, held: Consumer) -> None:
    scenario.client.patch(
        held.pod, {"status": {"conditions": [written(ATTACHED)]}}, type="strategic", subresource="status"
    )


@pytest.mark.statement("BC-15")
@pytest.mark.needs("kubelet")
def test_controller_writes_conditions_with_all_five_fields(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    held = waiting(scenario, driver)
    condition = written(ATTACHED)

    if not difference("no controller writes anything"):
        scenario.client.apply(
            {
                "kind": "ResourceClaim",
                "metadata": {"name": held.claim["metadata"]["name"]},
                "status": {"devices": [device_entry(driver, held.claim, condition)]},
            },
            field_manager="a-controller",
            subresource="status",
        )

    scenario.wait(held.pod, scheduled(scenario.node), timeout=ONE_POLL)
    assert conditions(scenario.get(held.claim)) == [condition]


@pytest.mark.control("BC-15")
@pytest.mark.needs("kubelet")
def test_nobody_else_writes_conditions(scenario: Scenario) -> None:
    held = waiting(scenario, scenario.driver(fabric(1)))

    still_waits(scenario, held)

    assert conditions(scenario.get(held.claim)) == []


@pytest.mark.statement("BC-15")
@pytest.mark.needs("kubelet")
def test_controller_that_takes_a_device_for_another_is_refused(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(fabric(2), plugin=False)
    driver.control.attach(wrong_device("gpu-0" if difference("it is the right device") else "gpu-1"))
    waiting(scenario, driver)

    (done,) = scenario.waiter.poll(lambda: driver.control.written, bool, "the controller has reported")

    assert "status.devices[0]" in done.result, f"the API server said: {done.result}"
    assert "must be an allocated device in the claim" in done.result


def status_writer(scenario: Scenario, *, driver: str | None) -> Client:
    """A controller that may write the status of claims, and, if one is named, about devices of a driver."""
    user = f"{scenario.namespace}-controller"
    rules = [rule("resource.k8s.io", ["resourceclaims/status"], ["patch"])]
    if driver:
        rules.append(rule("resource.k8s.io", ["resourceclaims/driver"], ["arbitrary-node:patch"], [driver]))
    scenario.create(cluster_role(user, *rules))
    scenario.create(cluster_role_binding(user, user, user))
    writer = scenario.client.as_user(user)
    scenario.waiter.poll(lambda: may_write_status(writer), bool, "the API server knows the controller's rights")
    return writer


def may_write_status(writer: Client) -> bool:
    """Whether the rights are in force: a role becomes known to the API server as a whole."""
    asked = {"group": "resource.k8s.io", "resource": "resourceclaims", "subresource": "status", "verb": "patch"}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {**asked, "namespace": writer.namespace}},
    }
    answer = writer.raw("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body=review)
    return bool(answer["status"]["allowed"])


@pytest.mark.statement("BC-15")
@pytest.mark.needs("kubelet")
def test_controller_without_the_right_to_the_driver_is_refused(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    held = waiting(scenario, driver)
    entitled = difference("the controller has the right to the driver")
    writer = status_writer(scenario, driver=driver.name if entitled else "other.example.com")
    report_of = {
        "kind": "ResourceClaim",
        "metadata": {"name": held.claim["metadata"]["name"]},
        "status": {"devices": [device_entry(driver, held.claim, written(ATTACHED))]},
    }

    def write() -> Object:
        return writer.apply(report_of, field_manager="a-controller", subresource="status")

    if scenario.release.gate(GRANULAR):
        assert 'requires resource="resourceclaims/driver"' in refusal(write).message
    else:
        assert conditions(write()), "the right to the driver is asked for since 1.36"
        assert not entitled
