"""Who may report on which device, as the API server says it (BC-15, XD-57)."""

from typing import NamedTuple

import pytest

from fake_driver.profiles import fabric
from harness.drivers import Driver
from harness.kube import Client
from harness.kube.builders import on_node, pod, service_account
from harness.kube.predicates import exists, scheduled
from harness.kube.refusals import refusal
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.binding.arrange import ATTACHED, conditions, waiting
from scenarios.binding.controller import GRANULAR, apply, entitle, written

pytestmark = pytest.mark.needs("kubelet")


@pytest.mark.statement("BC-15")
def test_controller_without_the_right_to_the_driver_is_refused(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(fabric(1), plugin=False)
    held = waiting(scenario, driver)
    user = f"{scenario.namespace}-controller"
    entitled = difference("the controller has the right to the driver")
    entitle(scenario, user, driver.name if entitled else "other.example.com", "arbitrary-node:patch")
    writer = scenario.client.as_user(user)

    def write() -> Object:
        return apply(writer, driver, held.claim, written(ATTACHED))

    if scenario.release.gate(GRANULAR):
        assert 'requires resource="resourceclaims/driver"' in refusal(write).message
    else:
        assert conditions(write()), "the right to the driver is asked for since 1.36"
        assert not entitled


class Agent(NamedTuple):
    """A controller that runs as a Pod on a node, and claims allocated for that node and for another one."""

    driver: Driver
    client: Client
    here: Object
    elsewhere: Object


def agent(scenario: Scenario, verb: str) -> Agent:
    """An agent with this right to the driver."""
    node, other = scenario.nodes(2)
    driver = scenario.driver(fabric(1), nodes=[node, other], plugin=False)
    account = scenario.create(service_account("agent"))
    entitle(scenario, f"system:serviceaccount:{scenario.namespace}:agent", driver.name, verb)
    body = pod("agent", affinity=on_node(node))
    body["spec"]["serviceAccountName"] = "agent"
    home = scenario.create(body)
    here, elsewhere = (
        waiting(scenario, driver, name, affinity=on_node(at)).claim for name, at in (("here", node), ("there", other))
    )
    scenario.wait(home, scheduled(node))
    scenario.wait(account, exists())
    token = scenario.client.service_account_token("agent", pod=home)
    return Agent(driver, scenario.client.with_token(token), here, elsewhere)


@pytest.mark.statement("XD-57")
def test_agent_with_the_right_to_its_node_may_report_on_nothing_else(
    scenario: Scenario, difference: Difference
) -> None:
    wide = difference("the right is not bound to the node")
    made = agent(scenario, "arbitrary-node:patch" if wide else "associated-node:patch")

    taken = apply(made.client, made.driver, made.here, written(ATTACHED))
    assert [found["type"] for found in conditions(taken)] == [ATTACHED]

    away = refusal(lambda: apply(made.client, made.driver, made.elsewhere, written(ATTACHED)))
    assert {cause.field for cause in away.causes} == {"status.devices"}
    assert 'resource="resourceclaims/driver", verb="[arbitrary-node:patch]" permission' in away.message

    taken["status"]["devices"][0]["conditions"] = [written(ATTACHED, status="False")]
    update = refusal(lambda: made.client.replace(taken, subresource="status"))
    assert 'verb="[associated-node:update arbitrary-node:update]" permission' in update.message

    binding = refusal(lambda: made.client.patch(made.here, {"status": {"reservedFor": []}}, subresource="status"))
    assert 'requires resource="resourceclaims/binding", verb="patch" permission' in binding.message


@pytest.mark.control("XD-57")
def test_agent_with_the_right_to_every_node_may_report_on_other_nodes(scenario: Scenario) -> None:
    made = agent(scenario, "arbitrary-node:patch")

    for claim in (made.here, made.elsewhere):
        taken = apply(made.client, made.driver, claim, written(ATTACHED))
        assert [found["type"] for found in conditions(taken)] == [ATTACHED]
