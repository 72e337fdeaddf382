"""Pods that want devices, and what becomes of them."""

from fake_driver.profiles import gpus
from harness.kube.builders import claim, pod, request
from harness.kube.predicates import allocated, scheduled, unallocated, unschedulable, unscheduled
from harness.plugin.scenario import Object, Scenario


def ask(scenario: Scenario, name: str, wanted: Object, *, grace_seconds: int = 0) -> tuple[Object, Object]:
    """A Pod and its claim with this request, both of that name."""
    own = scenario.create(claim(name, wanted))
    return scenario.create(pod(name, claims={"gpu": own}, grace_seconds=grace_seconds)), own


def served(scenario: Scenario, consumer: Object, own: Object) -> Object:
    """The claim with its allocation, once its Pod is scheduled."""
    scenario.wait(consumer, scheduled())
    return scenario.wait(own, allocated())


def left_out(scenario: Scenario, consumer: Object, own: Object) -> None:
    """The scheduler finds no device for the Pod and says so before it binds the Pod anywhere."""
    outcome = scenario.wait(consumer, unschedulable("cannot allocate all claims") | scheduled())
    assert unscheduled()(outcome), f"the Pod was bound to {outcome['spec'].get('nodeName')}"
    scenario.wait(own, unallocated())


def slices_seen(scenario: Scenario, node: str) -> None:
    """The scheduler knows every slice written before: it allocates a device from one that was written later."""
    marker = scenario.driver(gpus(1), nodes=[node], plugin=False)
    served(scenario, *ask(scenario, "marker", request(marker.device_class)))
