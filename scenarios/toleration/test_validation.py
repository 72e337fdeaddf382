"""Which tolerations the API server takes, and which it should refuse (XD-14 to XD-16)."""

import pytest

from fake_driver.inventory import Taint
from fake_driver.profiles import gpus
from harness.kube.builders import claim, device_toleration, request
from harness.kube.refusals import refused
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.taint.arrange import BROKEN, consumer, tainted
from scenarios.taint.outcomes import is_placed, kept_off
from scenarios.taint.seen import slices_seen

TOLERATIONS = "spec.devices.requests[0].exactly.tolerations"
VALID = device_toleration("example.com/broken", value="ecc", effect="NoSchedule")


def try_out(scenario: Scenario, *tolerations: Object) -> list[Object]:
    """Let the API server judge a claim with these tolerations without keeping it; they as it would store them."""
    wanted = claim("tolerations", request("no-class.example.com", tolerations=tolerations))
    judged = scenario.client.create(wanted, dry_run=True)
    stored: list[Object] = judged["spec"]["devices"]["requests"][0]["exactly"]["tolerations"]
    return stored


INVALID_TOLERATIONS = {
    "unknown-operator": ({**VALID, "operator": "In"}, "operator"),
    "unknown-effect": ({**VALID, "effect": "PreferNoSchedule"}, "effect"),
    "value-beside-exists": ({**VALID, "operator": "Exists"}, "value"),
    "key-with-blank": ({**VALID, "key": "no label"}, "key"),
    "value-with-blank": ({**VALID, "value": "no label"}, "value"),
    "value-too-long": ({**VALID, "value": "v" * 64}, "value"),
}


@pytest.mark.statement("XD-14")
@pytest.mark.parametrize(("toleration", "field"), INVALID_TOLERATIONS.values(), ids=INVALID_TOLERATIONS)
def test_invalid_toleration_is_refused_by_its_field(
    scenario: Scenario, difference: Difference, toleration: Object, field: str
) -> None:
    tried = VALID if difference("the toleration is valid") else toleration

    refused(lambda: try_out(scenario, VALID, tried), f"{TOLERATIONS}[1].{field}")


@pytest.mark.control("XD-14", "XD-15")
def test_valid_tolerations_are_taken_sixteen_of_them(scenario: Scenario) -> None:
    many = [device_toleration(f"example.com/broken-{index}", effect="NoSchedule", seconds=-1) for index in range(16)]

    assert try_out(scenario, *many) == many


@pytest.mark.statement("XD-15")
@pytest.mark.deviates("XD-15", "the API server does not count the tolerations of a request")
@pytest.mark.feature("ResourceSlice.spec.devices.taints.sixteen")
def test_request_with_seventeen_tolerations_is_taken_and_all_count(scenario: Scenario, difference: Difference) -> None:
    taints = [Taint(f"example.com/broken-{index}", "NoSchedule") for index in range(16)]
    driver = scenario.driver(tainted(gpus(1), "gpu-0", *taints), plugin=False)
    slices_seen(scenario)

    others = [device_toleration("example.com/of-no-use")]
    covered = [device_toleration(taint.key) for taint in taints]
    if difference("the request has only sixteen tolerations, and one of them is of no use"):
        covered.pop()

    is_placed(scenario, consumer(scenario, driver, "user", tolerations=[*others, *covered]).pod)


@pytest.mark.statement("XD-16")
@pytest.mark.deviates("XD-16", "the API server takes operator Equal without key: it covers every key with that value")
def test_toleration_without_key_and_with_a_value_is_taken_and_covers_that_value(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(tainted(gpus(1), "gpu-0", BROKEN), plugin=False)
    slices_seen(scenario)

    value = "dust" if difference("the value is another one than the taint's") else BROKEN.value
    user = consumer(scenario, driver, "user", tolerations=[{"operator": "Equal", "value": value}])

    is_placed(scenario, user.pod)


@pytest.mark.control("XD-16")
def test_toleration_without_key_covers_no_other_value(scenario: Scenario) -> None:
    driver = scenario.driver(tainted(gpus(1), "gpu-0", BROKEN), plugin=False)
    slices_seen(scenario)

    kept_off(scenario, consumer(scenario, driver, "user", tolerations=[{"operator": "Equal", "value": "dust"}]).pod)


@pytest.mark.statement("XD-16")
@pytest.mark.deviates("XD-16", "the API server takes the effect None in a toleration, too")
@pytest.mark.feature("DeviceTaint.effect.None")
def test_toleration_of_the_effect_none_is_taken(scenario: Scenario, difference: Difference) -> None:
    effect = "Never" if difference("the effect does not exist") else "None"

    toleration = {**VALID, "effect": effect}
    assert try_out(scenario, toleration) == [toleration]
