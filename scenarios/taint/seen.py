"""Proof that the scheduler knows of a change of slices or taint rules: what is created afterwards meets the new state.

Pods, slices and rules reach the scheduler through watches of their own, in no order between them. A Pod that depends on
a slice (a rule) written after the change cannot be scheduled before the scheduler has been told of the change itself.
"""

import secrets

from harness.kube.builders import (
    claim,
    device_class,
    device_taint,
    device_taint_rule,
    pod,
    request,
    resource_slice,
)
from harness.kube.predicates import scheduled, unschedulable, unscheduled
from harness.plugin.scenario import Object, Scenario


def slices_seen(scenario: Scenario) -> None:
    """The scheduler knows every ResourceSlice as it was written before this call, or later."""
    scenario.wait(_probe(scenario, f"probe-{secrets.token_hex(3)}"), scheduled())


class RulesSeen:
    """A Pod kept off its device by a rule of its own; made before the rule under test, asked after it."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        name = f"probe-{secrets.token_hex(3)}"
        taint = device_taint("example.com/probe", "NoSchedule")
        self._rule = scenario.create(device_taint_rule(name, taint, driver=_driver(name)))
        self._probe = self._first_held(name)

    def _first_held(self, name: str) -> Object:
        """The first of several probes that the rule keeps off: nothing else tells that the scheduler knows it."""

        def ask() -> Object:
            probe = _probe(self._scenario, f"{name}-{secrets.token_hex(2)}", driver=_driver(name))
            return self._scenario.wait(probe, unschedulable("cannot allocate all claims") | scheduled())

        return self._scenario.waiter.poll(ask, unscheduled(), f"a probe is held by rule {name}", 15)

    def __call__(self) -> None:
        """The scheduler knows every DeviceTaintRule as it was written before this call, or later. Once only."""
        self._scenario.delete(self._rule)
        self._scenario.wait(self._probe, scheduled())


def _probe(scenario: Scenario, name: str, driver: str | None = None) -> Object:
    """A Pod for the one device of a slice that is written now, in a pool of its own."""
    driver = driver or _driver(name)
    everywhere = resource_slice(name, driver, ["probe"], all_nodes=True)
    if scenario.release.has("ResourceSlice.spec.skipNodeOperations"):
        # No driver stands behind the slice: without this the kubelet would try it in vain until the Pod goes.
        everywhere["spec"]["skipNodeOperations"] = ["*"]
    scenario.create(everywhere)
    scenario.create(device_class(name, driver))
    return scenario.create(pod(name, claims={"probe": scenario.create(claim(name, request(name)))}))


def _driver(name: str) -> str:
    return f"{name}.example.com"
