"""Pods that wait for binding conditions, and proof that they go on waiting."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from fake_driver.inventory import Pool
from fake_driver.profiles import fabric
from harness.drivers import Driver
from harness.kube.builders import claim, pod, request
from harness.kube.events import Moment, first_sent
from harness.kube.predicates import (
    allocated,
    allocation_results,
    reserved_for,
    scheduled,
    unscheduled,
)
from harness.plugin.scenario import Object, Scenario

#: The reason of the event with which the scheduler begins to wait, and that of the one with which it has bound a Pod.
PENDING, BOUND = "BindingConditionsPending", "Scheduled"

#: The type of condition that the devices of `fabric()` wait for, and the one that ends the wait.
ATTACHED, FAILED = "DeviceAttached", "DeviceAttachFailed"

#: What devices that are unlike these wait for, and what ends their wait.
INITIALIZED, OVERHEATED = "DeviceInitialized", "DeviceOverheated"

#: How many waits of a scheduler profile for a driver's devices are over, by their outcome.
DURATION = "scheduler_dra_bindingconditions_wait_duration_seconds_count"

#: What every release says of a wait that a device's failure ended.
BINDING_FAILED = "binding failed: "

#: Seconds between two looks of the scheduler at the conditions.
POLL = 5.0

#: Seconds in which a wait that can end has ended: a poll, and what a slow machine takes.
ONE_POLL = 3 * POLL


def assert_counted(scenario: Scenario, driver: Driver, metric: str, count: int, **labels: str) -> None:
    """The scheduler's own count for its profile of the scenario, where its release counts binding conditions."""
    if scenario.release.has("scheduler_dra_bindingconditions"):
        found = scenario.scheduler_metric(metric, driver=driver.name, **labels)
        assert found == count, f"{metric} {labels} is {found}, not {count}"


class Consumer(NamedTuple):
    """A Pod and its one claim."""

    pod: Object
    claim: Object


def consumer(
    scenario: Scenario, driver: Driver, name: str = "consumer", *, count: int | None = None, **pod_options: Any
) -> Consumer:
    """A Pod with a claim for devices of the driver."""
    wanted = scenario.create(claim(name, request(driver.device_class, count=count)))
    return Consumer(scenario.create(pod(name, claims={"gpu": wanted}, **pod_options)), wanted)


def waiting(
    scenario: Scenario, driver: Driver, name: str = "consumer", *, count: int | None = None, **pod_options: Any
) -> Consumer:
    """A consumer whose claim is allocated and reserved, and that is held back for the conditions."""
    made = consumer(scenario, driver, name, count=count, **pod_options)
    return held_back(scenario, made)


def unlike_pair() -> Pool:
    """Two devices of which one waits for ATTACHED or FAILED, the other for INITIALIZED or OVERHEATED."""
    first, second = fabric(2).devices
    other = replace(second, binding_conditions=[INITIALIZED], binding_failure_conditions=[OVERHEATED])
    return Pool(devices=[first, other], name="unlike")


def held_back(scenario: Scenario, made: Consumer) -> Consumer:
    """The scheduler says that the Pod waits, before it binds it; the claim is allocated and reserved by then."""
    reasons = scenario.waiter.wait_reasons(made.pod, PENDING, BOUND)
    assert PENDING in reasons, f"the Pod was not held back for conditions: events {reasons}"
    return Consumer(scenario.get(made.pod), scenario.wait(made.claim, allocated() & reserved_for(made.pod)))


def report(driver: Driver, made: Consumer, statuses: Mapping[str, str], **text: str) -> None:
    """The driver's controller reports on each device of the claim."""
    for result in allocation_results(made.claim):
        driver.control.report(made.claim, result["pool"], result["device"], statuses, **text)


def report_each(driver: Driver, made: Consumer, *statuses: Mapping[str, str]) -> None:
    """The driver's controller reports on the devices of the claim, one after another; each message names its device."""
    results = sorted(allocation_results(made.claim), key=lambda result: str(result["device"]))
    for result, of_device in zip(results, statuses, strict=True):
        device = result["device"]
        driver.control.report(made.claim, result["pool"], device, of_device, message=device)


def conditions(made: Object) -> list[Object]:
    """The conditions of the devices in a claim's status."""
    entries: Sequence[Object] = (made.get("status") or {}).get("devices") or ()
    return [condition for entry in entries for condition in entry.get("conditions") or ()]


def still_waits(scenario: Scenario, *consumers: Consumer) -> None:
    """The scheduler has looked at the conditions once more since, and holds the Pods back as before.

    It looks every 5 s. A Pod that began to wait later, and whose conditions came in only after its own first look, has
    been bound by its second one: in a time of 5 s each of the others had its look too, and at least at what was
    written before that Pod was created.
    """
    driver = scenario.driver(fabric(1), plugin=False)
    witness = waiting(scenario, driver, driver.name.partition(".")[0])
    report(driver, witness, {ATTACHED: "True"})
    scenario.wait(witness.pod, scheduled(), timeout=ONE_POLL)
    waited = time_of(scenario, witness.pod, BOUND) - time_of(scenario, witness.pod, PENDING)
    assert waited.latest > POLL - 1, f"the Pod that should measure an interval was bound after {waited.latest:.1f} s"
    for made in consumers:
        now = scenario.get(made.pod)
        assert unscheduled()(now), f"{now['metadata']['name']} was bound to {now['spec'].get('nodeName')}"
        seen = scenario.get(made.claim)["status"].get("allocation")
        assert seen == made.claim["status"]["allocation"], "the claim has another allocation"
        assert reserved_for(now)(scenario.get(made.claim))


def time_of(scenario: Scenario, obj: Object, reason: str) -> Moment:
    """When the first event of that reason was sent, as far as it tells."""
    return first_sent(scenario.wait_event(obj, reason))
