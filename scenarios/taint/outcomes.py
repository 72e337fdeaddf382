"""What becomes of a Pod that has, or wants, a device with taints."""

from harness.kube.predicates import (
    allocated_devices,
    condition,
    gone,
    running,
    scheduled,
    terminating,
    unschedulable,
    unscheduled,
)
from harness.plugin.scenario import Object, Scenario
from scenarios.taint.arrange import Consumer

#: What the eviction controller writes on a Pod before it deletes it.
EVICTED = condition("DisruptionTarget", "True", "DeletionByDeviceTaintManager")

#: The feature of a release whose eviction controller tells of every eviction.
TOLD = "DeviceTaintManagerEviction.for-every-pod"


def device_of(scenario: Scenario, placed: Consumer) -> str:
    """The device that the Pod is given, once it is placed."""
    scenario.wait(placed.pod, scheduled())
    (given,) = allocated_devices(scenario.get(placed.claim))
    return given.device


def is_placed(scenario: Scenario, new: Object) -> None:
    """The Pod is placed at the scheduler's first attempt."""
    outcome = scenario.wait(new, scheduled() | unschedulable())
    assert scheduled()(outcome), "the Pod was kept off"


def was_placed(scenario: Scenario, new: Object) -> None:
    """The scheduler's first word of the Pod is that it has placed it; the Pod may be gone again by now."""
    said = scenario.waiter.wait_reasons(new, "Scheduled", "FailedScheduling")
    assert "Scheduled" in said, "the Pod was kept off"


def kept_off(scenario: Scenario, waiter: Object) -> None:
    """No node has a device that the Pod may use: the scheduler says so before it binds the Pod anywhere."""
    outcome = scenario.wait(waiter, unschedulable("cannot allocate all claims") | scheduled())
    assert unscheduled()(outcome), f"the Pod was bound to {outcome['spec'].get('nodeName')}"


def evicted(scenario: Scenario, runner: Object, timeout: float = 30) -> None:
    """The eviction controller has deleted the Pod, and it is gone."""
    scenario.wait(runner, gone(), timeout)
    said_of(scenario, runner)


def said_of(scenario: Scenario, runner: Object) -> None:
    """The eviction controller tells of the Pod's deletion; that of 1.34 tells only of the first since it started."""
    if scenario.release.has(TOLD):
        scenario.wait_event(runner, "DeviceTaintManagerEviction", "Marking for deletion")


def goes_on(scenario: Scenario, runner: Object) -> None:
    """The Pod is the same as before, and runs."""
    now = scenario.client.find(runner)
    assert now is not None, "the Pod is gone"
    assert now["metadata"]["uid"] == runner["metadata"]["uid"], "another Pod has taken its name"
    assert (running() & ~terminating())(now), "the Pod is on its way out"
