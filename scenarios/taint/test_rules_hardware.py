"""Fixed names that hide the hardware, and attributes that tell it apart (TR-11, TR-12)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from fake_driver.inventory import Pool
from fake_driver.profiles import gpus
from harness.drivers import Driver
from harness.kube.predicates import scheduling_error, unallocated, unscheduled
from harness.kube.refusals import refusal
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.taint.outcomes import device_of, kept_off
from scenarios.taint.rules import create_rule, new_rule, user
from scenarios.taint.seen import RulesSeen

SICK = "GPU-sick"
HEALTHY = "GPU-healthy"


def hardware(*uuids: str | None) -> Pool:
    """GPUs of fixed names, gpu-0 and so on, with these uuids; None: the device has no such attribute."""
    template = gpus(len(uuids))

    def attributes(known: Mapping[str, Any], uuid: str | None) -> dict[str, Any]:
        rest = {name: value for name, value in known.items() if name != "uuid"}
        return rest if uuid is None else {**rest, "uuid": uuid}

    devices = [
        replace(device, attributes=attributes(device.attributes, uuid))
        for device, uuid in zip(template.devices, uuids, strict=True)
    ]
    return replace(template, devices=devices)


def published_here(scenario: Scenario, *uuids: str | None) -> Pool:
    """The pool on the scenario's node, named after it; the uuids stay as they are given."""
    return replace(hardware(*uuids), name=scenario.node, node=scenario.node)


def is_unit(driver: Driver, uuid: str) -> str:
    """A CEL expression for one piece of hardware."""
    return f"device.attributes['{driver.name}'].uuid == '{uuid}'"


def with_cel(scenario: Scenario, driver: Driver, uuid: str) -> Object:
    """The rule of which the document speaks: it selects one piece of hardware by an attribute."""
    rule = new_rule(scenario, "NoSchedule")
    rule["spec"]["deviceSelector"] = {"selectors": [{"cel": {"expression": is_unit(driver, uuid)}}]}
    return rule


@pytest.mark.statement("TR-11")
@pytest.mark.feature("DeviceTaintRule.spec.deviceSelector.selectors")
def test_cel_selector_taints_one_piece_of_hardware(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(published_here(scenario, HEALTHY, SICK), plugin=False)
    rules_seen = RulesSeen(scenario)
    scenario.create(with_cel(scenario, driver, HEALTHY if difference("the rule selects the other one") else SICK))
    rules_seen()

    kept_off(scenario, user(scenario, driver, "on-sick", selectors=[is_unit(driver, SICK)]).pod)
    assert device_of(scenario, user(scenario, driver, "on-healthy", selectors=[is_unit(driver, HEALTHY)])) == "gpu-0"


@pytest.mark.statement("TR-11")
@pytest.mark.feature("DeviceTaintRule.spec.deviceSelector.names-only")
@pytest.mark.deviates("TR-11", "a rule has no CEL selector: the field is unknown, and where that is let pass, lost")
def test_cel_selector_is_unknown_and_a_rule_that_loses_it_selects_everything(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(published_here(scenario, HEALTHY, SICK), plugin=False)
    rule = with_cel(scenario, driver, SICK)
    if difference("the rule names driver and device"):
        rule = new_rule(scenario, "NoSchedule", driver=driver.name, device="gpu-1")

    error = refusal(lambda: scenario.client.create(rule, dry_run=True, validation="Strict"))

    assert error.status == 400
    assert 'unknown field "spec.deviceSelector.selectors"' in error.message
    for validation in ("Warn", "Ignore"):
        kept = scenario.client.create(rule, dry_run=True, validation=validation)  # stored, it would taint every device
        assert kept["spec"]["deviceSelector"] == {}


@pytest.mark.control("TR-11")
def test_rule_by_name_stays_with_the_name_when_the_hardware_behind_it_changes(scenario: Scenario) -> None:
    driver = scenario.driver(published_here(scenario, SICK, HEALTHY), plugin=False)
    rules_seen = RulesSeen(scenario)
    create_rule(scenario, "NoSchedule", driver=driver.name, pool=scenario.node, device="gpu-0")
    rules_seen()
    on_sick = user(scenario, driver, "on-sick", selectors=[is_unit(driver, SICK)])
    kept_off(scenario, on_sick.pod)

    driver.control.set_pools([published_here(scenario, HEALTHY, SICK)])

    assert device_of(scenario, on_sick) == "gpu-1"
    kept_off(scenario, user(scenario, driver, "on-healthy", selectors=[is_unit(driver, HEALTHY)]).pod)


@pytest.mark.statement("TR-12")
def test_attribute_selects_the_hardware_only_where_the_driver_publishes_it(
    scenario: Scenario, difference: Difference
) -> None:
    uuid = HEALTHY if difference("both drivers publish the attribute") else None
    telling = scenario.driver(published_here(scenario, SICK, HEALTHY), plugin=False)
    silent = scenario.driver(published_here(scenario, None, uuid), plugin=False)

    served = user(scenario, telling, "served", selectors=[is_unit(telling, HEALTHY)])
    unserved = user(
        scenario,
        silent,
        "unserved",
        selectors=[f"'uuid' in device.attributes['{silent.name}'] && {is_unit(silent, HEALTHY)}"],
    )

    assert device_of(scenario, served) == "gpu-1"
    kept_off(scenario, unserved.pod)


@pytest.mark.control("TR-12")
def test_expression_about_a_missing_attribute_is_an_error_that_keeps_the_pod_pending(scenario: Scenario) -> None:
    driver = scenario.driver(published_here(scenario, None, HEALTHY), plugin=False)

    waiter = user(scenario, driver, "waiter", selectors=[is_unit(driver, HEALTHY)])

    outcome = scenario.wait(waiter.pod, scheduling_error("CEL runtime error: no such key: uuid"))
    assert unscheduled()(outcome)
    scenario.wait(waiter.claim, unallocated())
