"""Any driver as a black box: what its user sees of it."""

import secrets
from collections.abc import Sequence
from typing import Any

from fake_driver.profiles import gpus
from harness.drivers import Observed
from harness.kube.builders import claim, device_class, pod, request, resource_slice
from harness.kube.predicates import Predicate, running
from harness.plugin.scenario import Object, Scenario

#: Seconds that a Pod may take to run: its image may have to be pulled, a real device made ready.
STARTS = 90

#: Seconds in which slices that are just being changed have to be consistent again.
SETTLES = 15


def under_test(scenario: Scenario) -> Observed:
    """The driver of the cluster that --driver names, else a fake one with four GPUs."""
    return scenario.any_driver(gpus(4))


def user(scenario: Scenario, name: str, driver: Observed, **options: Any) -> tuple[Object, Object]:
    """A Pod with a claim of its own for one device of the driver, both of that name; `options` are the Pod's."""
    own = scenario.create(claim(name, request(driver.device_class)))
    return scenario.create(pod(name, claims={"gpu": own}, **options)), own


def running_user(scenario: Scenario, name: str, driver: Observed, **options: Any) -> tuple[Object, Object]:
    """As `user`, once the Pod runs; both as they are then."""
    consumer, own = user(scenario, name, driver, **options)
    return scenario.wait(consumer, running(), STARTS), scenario.get(own)


def devices_of(own: Object) -> list[tuple[str, str, str, str | None]]:
    """Driver, pool and device of each allocation, and its share where a device is shared."""
    results = own["status"]["allocation"]["devices"]["results"]
    return [(each["driver"], each["pool"], each["device"], each.get("shareID")) for each in results]


def published(scenario: Scenario, driver: str, wanted: Predicate[Sequence[Object]]) -> Sequence[Object]:
    """The driver's slices, once they are as wanted."""
    own = f"spec.driver={driver}"
    assert scenario.client.list("ResourceSlice", field_selector=own)[0], f"driver {driver} has published nothing"
    return scenario.waiter.wait_any("ResourceSlice", wanted, SETTLES, field_selector=own)


def careless(scenario: Scenario, *slices: Sequence[str], of: int) -> Observed:
    """A driver that publishes one pool of so many slices, of which these are there, with these devices."""
    name = f"gpu-{secrets.token_hex(3)}.example.com"
    for number, devices in enumerate(slices):
        own = f"{scenario.namespace}-{number}"
        scenario.create(resource_slice(own, name, devices, pool="careless", slice_count=of, node=scenario.node))
    scenario.create(device_class(name, driver=name))
    return Observed(name, name)
