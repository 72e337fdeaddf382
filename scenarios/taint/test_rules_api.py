"""The kind and its fields, and what is refused (TR-02, TR-04)."""

import copy
from datetime import UTC, datetime, timedelta

import pytest

from harness.kube.builders import device_taint
from harness.kube.predicates import gone
from harness.kube.refusals import refusal
from harness.kube.times import api_time
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.taint.rules import RENEWS_TIME, create_rule, example, new_rule, parse_time

PLURAL = "devicetaintrules"


@pytest.mark.statement("TR-02")
@pytest.mark.feature("DeviceTaintRule.v1")
def test_rules_are_served_in_version_v1(scenario: Scenario, difference: Difference) -> None:
    version = "v1beta1" if difference("version v1beta1, which is served as well, is used") else "v1"
    group = f"resource.k8s.io/{version}"

    served = {kind["name"]: kind for kind in scenario.client.raw("GET", f"/apis/{group}")["resources"]}
    assert PLURAL in served, f"{group} has only {', '.join(served)}"
    assert served[PLURAL]["kind"] == "DeviceTaintRule"
    assert served[PLURAL]["namespaced"] is False
    assert {"create", "get", "list", "watch", "update", "patch", "delete"} <= set(served[PLURAL]["verbs"])
    assert {"get", "patch", "update"} <= set(served[f"{PLURAL}/status"]["verbs"])

    manifest = example(scenario, "tr-rule-driver-noexecute.yaml")
    assert manifest["apiVersion"] == group
    stored = scenario.create(manifest)
    assert scenario.get(stored)["spec"].items() >= {"deviceSelector": manifest["spec"]["deviceSelector"]}.items()
    scenario.delete(stored)
    assert gone()(scenario.client.find(stored))


@pytest.mark.control("TR-02")
@pytest.mark.feature("DeviceTaint.effect.None")
def test_rules_do_not_exist_in_another_version_that_is_served(scenario: Scenario) -> None:
    group = "/apis/resource.k8s.io/v1beta1"
    assert PLURAL not in {kind["name"] for kind in scenario.client.raw("GET", group)["resources"]}
    manifest = {**new_rule(scenario, "None"), "apiVersion": "resource.k8s.io/v1beta1"}

    assert refusal(lambda: scenario.client.create(manifest)).not_found


@pytest.mark.statement("TR-04")
@pytest.mark.parametrize("value", ["Broken", None])
@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute", "None"])
@pytest.mark.feature("DeviceTaint.effect.None")
def test_taint_is_read_back_as_written(
    scenario: Scenario, difference: Difference, effect: str, value: str | None
) -> None:
    rule = new_rule(scenario, "None", driver=f"{scenario.namespace}.example.com")
    taint = {**device_taint("example.com/unhealthy", "None", value), "effect": effect}
    if difference("the taint has no effect"):
        del taint["effect"]
    rule["spec"]["taint"] = taint

    before = datetime.now(UTC).replace(microsecond=0)
    stored = scenario.get(scenario.create(rule))["spec"]["taint"]

    # One field is the API server's own.
    added = parse_time(stored.pop("timeAdded"))
    assert stored == taint
    assert before <= added <= datetime.now(UTC)


@pytest.mark.statement("TR-04")
@pytest.mark.feature("DeviceTaint.effect.None")
def test_time_of_the_taint_is_kept_unless_the_effect_changes(scenario: Scenario, difference: Difference) -> None:
    rule = new_rule(scenario, "None", driver=f"{scenario.namespace}.example.com")
    given = api_time(datetime.now(UTC) - timedelta(hours=1))
    rule["spec"]["taint"]["timeAdded"] = given
    stored = scenario.create(rule)
    assert stored["spec"]["taint"]["timeAdded"] == given

    other = {"effect": "NoSchedule"} if difference("the effect changes") else {"key": "example.com/other", "value": "x"}
    changed = scenario.client.patch(stored, {"spec": {"taint": other}})

    assert changed["spec"]["taint"] == {**stored["spec"]["taint"], **other}
    assert changed["metadata"]["generation"] == 2


@pytest.mark.control("TR-04")
@pytest.mark.parametrize(
    "own",
    [
        pytest.param(False, marks=pytest.mark.feature(RENEWS_TIME), id="by-the-api-server"),
        pytest.param(True, id="by-the-client"),
    ],
)
@pytest.mark.feature("DeviceTaint.effect.None")
def test_change_of_the_effect_renews_the_time_unless_the_client_sets_it(scenario: Scenario, own: bool) -> None:
    rule = new_rule(scenario, "None", driver=f"{scenario.namespace}.example.com")
    rule["spec"]["taint"]["timeAdded"] = "2026-01-01T00:00:00Z"
    stored = scenario.create(rule)

    before = datetime.now(UTC).replace(microsecond=0)
    given = {"timeAdded": "2026-02-02T00:00:00Z"} if own else {}
    changed = scenario.client.patch(stored, {"spec": {"taint": {"effect": "NoSchedule", **given}}})

    added = changed["spec"]["taint"]["timeAdded"]
    assert added == given["timeAdded"] if own else before <= parse_time(added) <= datetime.now(UTC)


#: Path in the spec, a value that it must not have (None: it is left out), the reason of the refusal.
REFUSED = [
    ("taint.key", None, "FieldValueInvalid"),
    ("taint.key", "", "FieldValueInvalid"),
    ("taint.key", "not a key", "FieldValueInvalid"),
    ("taint.value", "not a value!", "FieldValueInvalid"),
    ("taint.effect", None, "FieldValueRequired"),
    ("taint.effect", "PreferNoSchedule", "FieldValueNotSupported"),
    ("deviceSelector.driver", "", "FieldValueRequired"),
    ("deviceSelector.driver", "not/a/driver", "FieldValueInvalid"),
    ("deviceSelector.pool", "", "FieldValueRequired"),
    ("deviceSelector.pool", "a//b", "FieldValueInvalid"),
    ("deviceSelector.device", "", "FieldValueInvalid"),
    ("deviceSelector.device", "gpu_0", "FieldValueInvalid"),
]


def with_field(rule: Object, path: str, value: str | None) -> Object:
    """The rule with another value at a path of its spec; None stands for no value, as it does in a merge patch."""
    changed = copy.deepcopy(rule)
    part, field = path.split(".")
    changed["spec"][part][field] = value
    return changed


@pytest.mark.control("TR-04")
@pytest.mark.parametrize(("path", "value", "reason"), REFUSED, ids=lambda part: "missing" if part is None else None)
def test_invalid_field_is_refused_at_creation_and_change(
    scenario: Scenario, path: str, value: str | None, reason: str
) -> None:
    good = new_rule(scenario, "NoSchedule", driver=f"{scenario.namespace}.example.com", pool="a", device="gpu-0")

    created = refusal(lambda: scenario.create(with_field(good, path, value)))
    stored = scenario.create(good)
    updated = refusal(lambda: scenario.client.patch(stored, {"spec": with_field(good, path, value)["spec"]}))

    for error in (created, updated):
        assert error.status == 422
        assert (f"spec.{path}", reason) in {(cause.field, cause.reason) for cause in error.causes}
    assert scenario.get(stored)["spec"] == stored["spec"]


@pytest.mark.control("TR-04")
@pytest.mark.feature("DeviceTaintRule.v1")
@pytest.mark.feature("DeviceTaint.effect.None")
def test_selector_may_change_but_a_rule_is_only_replaced_by_who_has_read_it(scenario: Scenario) -> None:
    stored = create_rule(scenario, "None", driver=f"{scenario.namespace}.example.com")
    moved = {"pool": "elsewhere", "device": "gpu-7"}
    changed = scenario.client.patch(stored, {"spec": {"deviceSelector": moved}})
    assert changed["spec"]["deviceSelector"] == {**stored["spec"]["deviceSelector"], **moved}

    del changed["metadata"]["resourceVersion"]
    error = refusal(lambda: scenario.client.replace(changed))

    assert [cause.field for cause in error.causes] == ["metadata.resourceVersion"]


@pytest.mark.control("TR-04")
@pytest.mark.feature("DeviceTaint.effect.None")
def test_status_has_room_for_eight_conditions(scenario: Scenario) -> None:
    stored = create_rule(scenario, "None", driver=f"{scenario.namespace}.example.com")

    def write(count: int) -> Object:
        said = {"status": "True", "reason": "Test", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        conditions = [{"type": f"Test{number}", **said} for number in range(count)]
        return scenario.client.patch(stored, {"status": {"conditions": conditions}}, subresource="status", dry_run=True)

    assert len(write(8)["status"]["conditions"]) == 8
    assert [cause.field for cause in refusal(lambda: write(9)).causes] == ["status.conditions"]
