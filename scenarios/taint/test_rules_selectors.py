"""Which devices a rule selects: every form of its selector (TR-03, TR-05 to TR-07)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import pytest

from fake_driver.inventory import Pool
from fake_driver.profiles import gpus
from harness.kube.predicates import gone, running, scheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.taint.outcomes import device_of, evicted, goes_on, is_placed, kept_off
from scenarios.taint.rules import (
    change_effect,
    controller_knows,
    create_rule,
    message,
    new_rule,
    published,
    user,
)
from scenarios.taint.seen import RulesSeen

Field = Literal["driver", "pool", "device"]


class Inventory:
    """Two drivers with a pool of the same name each, and devices of the same names in all pools. No others have them.

    driver: a/gpu-0 a/gpu-1 a/gpu-2, b/gpu-0 b/gpu-1; other driver: a/gpu-0. Pool a and b are on different nodes.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._prefix = scenario.namespace
        here, there = scenario.nodes(2)
        self.driver = scenario.driver(self._pool("a", 3, here), self._pool("b", 2, there), plugin=False)
        scenario.driver(self._pool("a", 1, here), plugin=False)
        controller_knows(scenario)

    def _pool(self, name: str, count: int, node: str) -> Pool:
        devices = [replace(device, name=self.name(device.name)) for device in gpus(count).devices]
        return Pool(self.name(name), devices, node=node)

    def name(self, name: str) -> str:
        """A pool's or device's name as it is published."""
        return f"{self._prefix}-{name}"

    def names(self, *fields: Field) -> dict[Field, str]:
        """The first device's own names in these fields."""
        own: Mapping[Field, str] = {
            "driver": self.driver.name,
            "pool": self.name("a"),
            "device": self.name("gpu-0"),
        }
        return {field: own[field] for field in fields}


def form(statement: str, count: int, *fields: Field) -> object:
    """A form of the selector, and how many devices of the inventory it selects."""
    return pytest.param(fields, count, marks=pytest.mark.statement(statement), id="+".join(fields))


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        form("TR-03", 5, "driver"),
        form("TR-05", 4, "pool"),
        form("TR-05", 3, "driver", "pool"),
        form("TR-07", 3, "device"),
        form("TR-07", 2, "driver", "device"),
        form("TR-07", 2, "pool", "device"),
        form("TR-07", 1, "driver", "pool", "device"),
    ],
)
@pytest.mark.feature("DeviceTaintRule.status")
def test_devices_are_selected_that_all_given_names_match(
    scenario: Scenario, difference: Difference, fields: tuple[Field, ...], count: int
) -> None:
    names = Inventory(scenario).names(*fields)
    if difference("each name has one more letter"):
        names = {field: f"{name}x" for field, name in names.items()}

    assert published(message(scenario, create_rule(scenario, "None", **names))) == count


@pytest.mark.control("TR-03")
@pytest.mark.feature("DeviceTaintRule.status")
def test_driver_that_no_slice_has_selects_no_device(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2), plugin=False)
    controller_knows(scenario)

    text = message(scenario, create_rule(scenario, "None", driver=f"other.{driver.name}"))

    assert text.startswith("0 published devices selected. 0 allocated devices selected. 0 pods would be evicted")


@pytest.mark.statement("TR-03")
@pytest.mark.feature("DeviceTaintRule.missing-selector-selects-nothing")
@pytest.mark.feature("DeviceTaintRule.status")
def test_missing_selector_selects_no_device(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2), plugin=False)
    controller_knows(scenario)
    rules_seen = RulesSeen(scenario)
    rule = new_rule(scenario, "None", driver=driver.name)
    if not difference("the rule has a selector"):
        del rule["spec"]["deviceSelector"]
    stored = scenario.create(rule)

    assert published(message(scenario, stored)) == 0
    change_effect(scenario, stored, "NoSchedule")
    rules_seen()
    is_placed(scenario, user(scenario, driver, "new").pod)


@pytest.mark.statement("TR-03")
@pytest.mark.exclusive("cluster")
@pytest.mark.feature("DeviceTaintRule.status")
def test_empty_selector_selects_every_device_there_is(scenario: Scenario, difference: Difference) -> None:
    drivers = [scenario.driver(gpus(count), plugin=False) for count in (1, 2)]
    users = [user(scenario, driver, f"user-{index}").pod for index, driver in enumerate(drivers)]
    for each in users:
        scenario.wait(each, scheduled())
    controller_knows(scenario)

    narrowed = difference("the selector names one driver")
    rule = create_rule(scenario, "None", driver=drivers[0].name if narrowed else None)
    slices, _ = scenario.client.list("ResourceSlice")
    assert published(message(scenario, rule)) == sum(len(each["spec"].get("devices", ())) for each in slices)

    change_effect(scenario, rule, "NoExecute")
    for each in users:
        scenario.wait(each, gone())


@pytest.mark.statement("TR-05")
def test_pool_narrows_the_rule_to_its_devices(scenario: Scenario, difference: Difference) -> None:
    here, there = scenario.nodes(2)
    driver = scenario.driver(gpus(1), nodes=[here, there], plugin=False)
    rules_seen = RulesSeen(scenario)

    create_rule(scenario, "NoSchedule", driver=driver.name, pool=None if difference("the rule has no pool") else here)
    rules_seen()

    kept_off(scenario, user(scenario, driver, "here", node=here).pod)
    new = user(scenario, driver, "there", node=there)
    is_placed(scenario, new.pod)
    assert device_of(scenario, new) == "gpu-0"


@pytest.mark.control("TR-05")
def test_without_a_pool_the_devices_of_all_pools_are_tainted(scenario: Scenario) -> None:
    here, there = scenario.nodes(2)
    driver = scenario.driver(gpus(1), nodes=[here, there], plugin=False)
    rules_seen = RulesSeen(scenario)

    create_rule(scenario, "NoSchedule", driver=driver.name)
    rules_seen()

    for node in (here, there):
        kept_off(scenario, user(scenario, driver, node, node=node).pod)


@pytest.mark.statement("TR-06")
@pytest.mark.needs("kubelet")
def test_pool_selects_a_node_where_each_node_has_its_pool(scenario: Scenario, difference: Difference) -> None:
    here, there = scenario.nodes(2)
    driver = scenario.driver(gpus(1), nodes=[here, there])
    on_here, on_there = (
        scenario.wait(user(scenario, driver, node, node=node).pod, running()) for node in (here, there)
    )

    pool = there if difference("the rule has the pool of the other node") else here
    create_rule(scenario, "NoExecute", driver=driver.name, pool=pool)

    evicted(scenario, on_here, timeout=10)
    controller_knows(scenario)
    goes_on(scenario, on_there)


@pytest.mark.control("TR-06")
@pytest.mark.needs("kubelet")
def test_pool_over_several_nodes_covers_them_all(scenario: Scenario) -> None:
    nodes = scenario.nodes(2)
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)}]}]
    pool = gpus(2, name="rack", node_selector={"nodeSelectorTerms": terms})
    driver = scenario.driver(pool, nodes=nodes)
    users = [scenario.wait(user(scenario, driver, node, node=node).pod, running()) for node in nodes]

    create_rule(scenario, "NoExecute", driver=driver.name, pool="rack")

    for each in users:
        evicted(scenario, each)


@pytest.mark.statement("TR-07")
def test_neighbours_of_the_selected_device_are_given_out(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(3), plugin=False)
    rules_seen = RulesSeen(scenario)

    device = None if difference("the rule has no device") else "gpu-1"
    create_rule(scenario, "NoSchedule", driver=driver.name, pool=scenario.node, device=device)
    rules_seen()

    for name, given in (("first", "gpu-0"), ("second", "gpu-2")):
        new = user(scenario, driver, name)
        is_placed(scenario, new.pod)
        assert device_of(scenario, new) == given
    kept_off(scenario, user(scenario, driver, "third").pod)


@pytest.mark.control("TR-07")
def test_without_a_device_no_device_of_the_pool_is_given_out(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(3), plugin=False)
    rules_seen = RulesSeen(scenario)

    create_rule(scenario, "NoSchedule", driver=driver.name, pool=scenario.node)
    rules_seen()

    kept_off(scenario, user(scenario, driver, "first").pod)
