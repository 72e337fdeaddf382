"""Which taints the API server takes (TA-10), and which it refuses, naming the field (XD-13)."""

import pytest

from harness.kube.builders import device_taint, device_taint_rule, resource_slice
from harness.kube.refusals import refused
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario

EFFECTS = ("None", "NoSchedule", "NoExecute")
TAINTS = "spec.devices[0].taints"


def taint_of(effect: str) -> Object:
    """A taint with an effect that may not exist."""
    return {"key": "example.com/broken", "effect": effect}


def slice_with(*taints: Object) -> Object:
    """A slice with one device that has these taints."""
    return resource_slice("taints", "taints.example.com", [{"name": "gpu-0", "taints": [*taints]}], all_nodes=True)


def try_out(scenario: Scenario, obj: Object) -> Object:
    """Let the API server judge an object without keeping it."""
    return scenario.client.create(obj, dry_run=True)


@pytest.mark.statement("TA-10")
@pytest.mark.feature("DeviceTaint.effect.None")
@pytest.mark.parametrize("effect", EFFECTS)
def test_three_effects_are_accepted(scenario: Scenario, difference: Difference, effect: str) -> None:
    tried = "PreferNoSchedule" if difference("the effect is PreferNoSchedule") else effect

    published = try_out(scenario, slice_with(taint_of(tried)))["spec"]["devices"][0]["taints"][0]
    ruled = try_out(scenario, device_taint_rule("taints", taint_of(tried)))["spec"]["taint"]

    assert (published["effect"], ruled["effect"]) == (effect, effect)
    assert published["timeAdded"]
    assert ruled["timeAdded"]


@pytest.mark.control("TA-10")
@pytest.mark.parametrize("effect", ["PreferNoSchedule", "noschedule", ""])
def test_other_effects_are_refused(scenario: Scenario, effect: str) -> None:
    refused(lambda: try_out(scenario, slice_with(taint_of(effect))), f"{TAINTS}[0].effect")
    refused(lambda: try_out(scenario, device_taint_rule("taints", taint_of(effect))), "spec.taint.effect")


VALID = device_taint("example.com/broken", "NoSchedule", "ecc")
INVALID_TAINTS = {
    "unknown-effect": ({**VALID, "effect": "NoOp"}, "effect"),
    "no-effect": ({"key": "example.com/broken"}, "effect"),
    "no-key": ({"effect": "NoSchedule"}, "key"),
    "key-with-blank": ({**VALID, "key": "no label"}, "key"),
    "key-with-two-slashes": ({**VALID, "key": "example.com/a/b"}, "key"),
    "key-too-long": ({**VALID, "key": "k" * 64}, "key"),
    "value-with-blank": ({**VALID, "value": "no label"}, "value"),
    "value-too-long": ({**VALID, "value": "v" * 64}, "value"),
}


@pytest.mark.statement("XD-13")
@pytest.mark.parametrize(("taint", "field"), INVALID_TAINTS.values(), ids=INVALID_TAINTS)
def test_invalid_taint_is_refused_by_its_field(
    scenario: Scenario, difference: Difference, taint: Object, field: str
) -> None:
    tried = VALID if difference("the taint is valid") else taint

    refused(lambda: try_out(scenario, slice_with(VALID, tried)), f"{TAINTS}[1].{field}")
    refused(lambda: try_out(scenario, device_taint_rule("taints", tried)), f"spec.taint.{field}")


@pytest.mark.statement("XD-13")
@pytest.mark.feature("ResourceSlice.spec.devices.taints.sixteen")
def test_seventeenth_taint_of_a_device_is_refused(scenario: Scenario, difference: Difference) -> None:
    count = 16 if difference("there are sixteen taints") else 17
    many = [device_taint(f"example.com/broken-{index}", "NoSchedule") for index in range(count)]

    refused(lambda: try_out(scenario, slice_with(*many)), TAINTS)


@pytest.mark.control("XD-13")
def test_valid_taints_are_taken_as_many_as_a_device_may_have(scenario: Scenario) -> None:
    limit = 16 if scenario.release.has("ResourceSlice.spec.devices.taints.sixteen") else 4
    many = [device_taint(f"example.com/broken-{index}", "NoSchedule", "ecc") for index in range(limit)]

    taken = try_out(scenario, slice_with(*many))["spec"]["devices"][0]["taints"]

    assert [taint["key"] for taint in taken] == [taint["key"] for taint in many]
