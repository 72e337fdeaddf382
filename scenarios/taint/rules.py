"""DeviceTaintRules, whom they meet, and what Kubernetes writes in their status."""

import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import yaml

from fake_driver.profiles import gpus
from harness.drivers import Driver
from harness.kube.builders import claim, device_taint, device_taint_rule, device_toleration, pod, request
from harness.kube.builders.devices import Effect
from harness.kube.predicates import Predicate, find_condition, gone
from harness.plugin.scenario import Object, Scenario
from scenarios.eviction.arrange import UNHEALTHY
from scenarios.taint.arrange import LOST, Consumer, tainted

#: How every message of a rule without effect ends.
FINAL = "This information will not be updated again. Recreate the DeviceTaintRule to trigger an update."

#: The feature of a release whose API server gives a rule's taint a new time when a client changes the effect only.
RENEWS_TIME = "DeviceTaintRule.timeAdded-follows-effect"


def new_rule(
    scenario: Scenario, effect: Effect, *, driver: str | None = None, pool: str | None = None, device: str | None = None
) -> Object:
    """A rule of the scenario for the devices that all given names match, not created yet."""
    name = f"{scenario.namespace}-{secrets.token_hex(2)}"
    return device_taint_rule(name, device_taint(UNHEALTHY, effect), driver=driver, pool=pool, device=device)


def create_rule(
    scenario: Scenario, effect: Effect, *, driver: str | None = None, pool: str | None = None, device: str | None = None
) -> Object:
    """A rule of the scenario for the devices that all given names match."""
    return scenario.create(new_rule(scenario, effect, driver=driver, pool=pool, device=device))


def example(scenario: Scenario, file: str) -> Object:
    """A document's example under the scenario's own name, in the version that the release has it in."""
    manifest: Object = yaml.safe_load((files("scenarios") / "examples" / file).read_text("utf-8"))
    if not scenario.release.has("DeviceTaintRule.v1"):
        del manifest["apiVersion"]
    manifest["metadata"]["name"] = scenario.namespace
    return manifest


def change_effect(scenario: Scenario, rule: Object, effect: Effect) -> Object:
    """The rule with another effect, as stored."""
    scenario.note(f"effect {effect}")
    return scenario.client.patch(rule, {"spec": {"taint": {"effect": effect}}})


def user(
    scenario: Scenario,
    driver: Driver,
    name: str,
    *,
    node: str | None = None,
    namespace: str | None = None,
    selectors: Sequence[str] = (),
    tolerations: Sequence[Object] = (),
    **fields: Any,
) -> Consumer:
    """A Pod (on that node) that wants a device of the driver; `tolerations` are those of the request."""
    wanted = request(driver.device_class, selectors=selectors, tolerations=tolerations)
    own = scenario.create(claim(name, wanted, namespace=namespace))
    return Consumer(scenario.create(pod(name, claims={"gpu": own}, on=node, namespace=namespace, **fields)), own)


def judged(rule: Object) -> bool:
    """The controller has written the condition for the rule's spec as it is now."""
    found = find_condition(rule, "EvictionInProgress")
    return found is not None and found["observedGeneration"] == rule["metadata"]["generation"]


def verdict(scenario: Scenario, rule: Object) -> Object:
    """The condition EvictionInProgress of the rule as it was last written, once there is one."""
    found = find_condition(scenario.wait(rule, Predicate("judged as it is now", judged)), "EvictionInProgress")
    assert found is not None
    return found


def message(scenario: Scenario, rule: Object) -> str:
    """What the controller says of the rule, once it has said something of the spec as it is now."""
    return str(verdict(scenario, rule)["message"])


def published(text: str) -> int:
    """The number of published devices in a message about the extent of a rule."""
    found = re.match(r"(\d+) published devices? selected\. ", text)
    assert found, f"no number of published devices in {text!r}"
    return int(found[1])


def says(status: str, reason: str, text: str) -> Predicate[Object]:
    """The condition EvictionInProgress has this status and reason, and exactly this message."""

    def test(rule: Object) -> bool:
        found = find_condition(rule, "EvictionInProgress")
        return found is not None and (found["status"], found["reason"], found["message"]) == (status, reason, text)

    return Predicate(f"EvictionInProgress={status}, {reason}, {text!r}", test)


def controller_knows(scenario: Scenario) -> None:
    """The eviction controller knows every slice, claim and Pod as it was written before this call, or later.

    It evicts a Pod that was created later, for a taint in a slice that was written later. What it had put into its
    queue before comes first, so evictions that were due at once have begun.
    """
    probe = scenario.driver(tainted(gpus(1), "gpu-0", LOST), plugin=False)
    for_no_time = [device_toleration(LOST.key, effect="NoExecute", seconds=0)]
    name = f"probe-{secrets.token_hex(3)}"
    own = scenario.create(claim(name, request(probe.device_class, tolerations=for_no_time)))
    scenario.wait(scenario.create(pod(name, claims={"gpu": own})), gone())


def parse_time(text: str) -> datetime:
    """A time as the API writes it."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
