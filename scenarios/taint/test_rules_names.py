"""Names in a rule are those in ResourceSlices, and no others (TR-09, TR-10)."""

from typing import Literal

import pytest
import yaml

from fake_driver.profiles import gpus
from harness.drivers import Driver
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.taint.kubectl import kubectl
from scenarios.taint.outcomes import device_of, is_placed, kept_off
from scenarios.taint.rules import change_effect, controller_knows, create_rule, message, published, user
from scenarios.taint.seen import RulesSeen

Field = Literal["driver", "pool", "device"]


def first_gpu(scenario: Scenario, driver: Driver) -> dict[Field, str]:
    """The names of the driver's first GPU on the scenario's node."""
    return {"driver": driver.name, "pool": scenario.node, "device": "gpu-0"}


@pytest.mark.statement("TR-09")
@pytest.mark.parametrize("field", ["driver", "pool", "device"])
@pytest.mark.feature("DeviceTaintRule.status")
def test_misspelt_name_is_accepted_and_selects_nothing(
    scenario: Scenario, difference: Difference, field: Field
) -> None:
    driver = scenario.driver(gpus(1), plugin=False)
    controller_knows(scenario)
    rules_seen = RulesSeen(scenario)
    names = first_gpu(scenario, driver)
    if not difference("no name is misspelt"):
        names[field] += "x"

    rule = create_rule(scenario, "None", **names)

    assert published(message(scenario, rule)) == 0
    change_effect(scenario, rule, "NoSchedule")
    rules_seen()
    is_placed(scenario, user(scenario, driver, "new").pod)


@pytest.mark.control("TR-09")
@pytest.mark.feature("DeviceTaintRule.status")
def test_names_as_published_select_the_device(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1), plugin=False)
    controller_knows(scenario)
    rules_seen = RulesSeen(scenario)

    rule = create_rule(scenario, "None", **first_gpu(scenario, driver))

    assert published(message(scenario, rule)) == 1
    change_effect(scenario, rule, "NoSchedule")
    rules_seen()
    kept_off(scenario, user(scenario, driver, "new").pod)


def shown_slice(scenario: Scenario, driver: Driver) -> Object:
    """The driver's one slice as `kubectl get` shows it."""
    shown = kubectl(scenario, "get", "resourceslices", "-o", "yaml")
    assert shown.returncode == 0, shown.stderr
    (found,) = [item for item in yaml.safe_load(shown.stdout)["items"] if item["spec"]["driver"] == driver.name]
    assert isinstance(found, dict)
    return found


@pytest.mark.statement("TR-10")
@pytest.mark.feature("DeviceTaintRule.status")
def test_values_that_kubectl_shows_select_the_device(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(3, name="upper"), plugin=False)
    controller_knows(scenario)
    shown = shown_slice(scenario, driver)
    pool = shown["metadata"] if difference("the slice's own name is taken for the pool's") else shown["spec"]["pool"]

    rule = create_rule(
        scenario,
        "None",
        driver=shown["spec"]["driver"],
        pool=pool["name"],
        device=shown["spec"]["devices"][1]["name"],
    )

    assert published(message(scenario, rule)) == 1


@pytest.mark.control("TR-10")
@pytest.mark.parametrize("of", ["node", "pod", "slice", "class"])
@pytest.mark.feature("DeviceTaintRule.status")
def test_other_names_in_place_of_the_pools_select_nothing(
    scenario: Scenario, of: Literal["node", "pod", "slice", "class"]
) -> None:
    driver = scenario.driver(gpus(1, name="upper"), plugin=False)
    placed = user(scenario, driver, "user")
    assert device_of(scenario, placed) == "gpu-0"
    controller_knows(scenario)
    names = {
        "node": scenario.node,
        "pod": "user",
        "slice": shown_slice(scenario, driver)["metadata"]["name"],
        "class": driver.device_class,
    }

    rule = create_rule(scenario, "None", driver=driver.name, pool=names[of], device="gpu-0")

    assert published(message(scenario, rule)) == 0
