"""The kubelet and a driver that goes away, comes back, or reports health (XD-05, XD-07, XD-12)."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from fake_driver.health import Health, Status
from fake_driver.profiles import gpus
from harness.drivers import PREPARE, UNPREPARE, Driver
from harness.kube.builders import claim_template, pod, request
from harness.kube.predicates import Predicate, count_of, exists, gone, running, terminating
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.beyond.consumers import ask

#: Seconds after a driver went away until the kubelet removes its slices, and the most that this may take longer.
WIPING_DELAY = 30
MARGIN = 15

#: A kubelet looks at a Pod again after about a minute, unless it is configured otherwise.
NEXT_LOOK = 90

#: The feature of a release whose kubelet shows the health of devices of claims that are made from a template.
HEALTH = "Pod.status.allocatedResourcesStatus.of-claims-from-templates"


@contextmanager
def away(driver: Driver) -> Iterator[None]:
    """Whatever comes of it, the driver is back at the end: without it no Pod that has its devices can be removed."""
    driver.control.stop()
    try:
        yield
    finally:
        driver.control.start()


@contextmanager
def crashed(driver: Driver, node: str) -> Iterator[None]:
    """As `away`, without a word to the kubelet."""
    driver.control.crash(node)
    try:
        yield
    finally:
        driver.control.start()


def slices_of(scenario: Scenario, driver: Driver) -> list[Object]:
    """The driver's slices as they are now."""
    return scenario.client.list("ResourceSlice", field_selector=f"spec.driver={driver.name}")[0]


def wait_until_wiped(scenario: Scenario, driver: Driver) -> None:
    """Wait until the driver has no slices any more."""
    scenario.waiter.wait_any(
        "ResourceSlice", count_of(exists(), 0), WIPING_DELAY + MARGIN, field_selector=f"spec.driver={driver.name}"
    )


@pytest.mark.slow
@pytest.mark.statement("XD-05")
@pytest.mark.needs("kubelet")
def test_kubelet_removes_the_slices_of_a_driver_that_stays_away(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    returns = difference("the driver registers again within the delay")

    left = time.monotonic()
    driver.control.stop()
    if returns:
        driver.control.start()

    wait_until_wiped(scenario, driver)
    assert time.monotonic() - left >= WIPING_DELAY, "the slices are gone before the delay is over"


@pytest.mark.slow
@pytest.mark.control("XD-05")
@pytest.mark.needs("kubelet")
def test_slices_of_a_driver_that_comes_back_in_time_stay(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    stays_away = scenario.driver(gpus(1))
    published = slices_of(scenario, driver)

    driver.control.stop()
    stays_away.control.stop()
    driver.control.start()
    driver.registered()

    wait_until_wiped(scenario, stays_away)  # its delay began later
    assert slices_of(scenario, driver) == published, "the slices were touched, or put back"


def health_is(health: str, message: str | None = None) -> Predicate[Object]:
    """The container's status says this of the health of the only device of the claim `gpu`, and names the device."""

    def test(consumer: Object) -> bool:
        (container,) = (consumer.get("status") or {}).get("containerStatuses") or [{}]
        return [
            (status["name"], found["health"], found.get("message"))
            for status in container.get("allocatedResourcesStatus", ())
            for found in status["resources"]
        ] == [("claim:gpu", health, message)]

    return Predicate(f"health {health}", test)


def consumer_by_template(scenario: Scenario, driver: Driver) -> Object:
    """A Pod with a claim of its own: releases before 1.36 show the health of devices for such claims only."""
    template = scenario.create(claim_template("one-gpu", request(driver.device_class)))
    return scenario.create(pod("consumer", templates={"gpu": template}))


@pytest.mark.statement("XD-07")
@pytest.mark.feature(HEALTH)
@pytest.mark.needs("kubelet")
def test_container_status_shows_the_health_that_the_driver_reports(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1), health=not difference("the driver has no health service"))
    consumer = consumer_by_template(scenario, driver)

    shown = scenario.wait(consumer, running() & health_is("Healthy"), timeout=15)
    (status,) = shown["status"]["containerStatuses"][0]["allocatedResourcesStatus"]
    assert [found["resourceID"] for found in status["resources"]] == [*scenario.cluster.cdi_devices(shown)]

    driver.control.set_health(scenario.node, "gpu-0", Health(Status.UNHEALTHY, "too hot"))
    why = "too hot" if scenario.release.has("Pod.status.allocatedResourcesStatus.resources.message") else None
    scenario.wait(consumer, health_is("Unhealthy", why))

    with away(driver):
        scenario.wait(consumer, health_is("Unknown"), timeout=NEXT_LOOK)
    driver.registered()
    scenario.wait(consumer, health_is("Unhealthy", why))


@pytest.mark.control("XD-07")
@pytest.mark.feature(HEALTH)
@pytest.mark.needs("kubelet")
def test_health_stays_unknown_when_the_driver_has_no_health_service(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1), health=False)
    consumer = consumer_by_template(scenario, driver)

    scenario.wait(consumer, running() & health_is("Unknown"))

    assert driver.calls("NodeWatchResources") == []


def remove(scenario: Scenario, consumer: Object) -> None:
    """Delete a Pod and wait until its kubelet has let it go."""
    scenario.client.delete(consumer)
    scenario.wait(consumer, gone(), timeout=15)


def ended() -> Predicate[Object]:
    """The Pod's only container runs no more."""
    return Predicate(
        "ended", lambda consumer: "terminated" in consumer["status"]["containerStatuses"][0].get("state", {})
    )


def life_of_container(consumer: Object) -> tuple[str, int, Object]:
    """What changes when the Pod's only container ends or starts anew."""
    (container,) = consumer["status"]["containerStatuses"]
    return container["containerID"], container["restartCount"], container["state"]


@pytest.mark.statement("XD-12")
@pytest.mark.needs("kubelet")
def test_restarted_driver_keeps_what_is_prepared(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    consumer, held = ask(scenario, "consumer", request(driver.device_class), grace_seconds=1)
    life = life_of_container(scenario.wait(consumer, running()))

    with crashed(driver, scenario.node):
        if difference("the driver is still away when the Pod is deleted"):
            remove(scenario, consumer)
    driver.registered()

    # The restarted driver works for another Pod; of the first it was not asked again.
    other, later = ask(scenario, "other", request(driver.device_class), grace_seconds=1)
    scenario.wait(other, running())
    driver.prepared(later)
    assert len(driver.calls(PREPARE, held)) == 1
    assert driver.calls(UNPREPARE, held) == []
    assert life_of_container(scenario.get(consumer)) == life

    remove(scenario, consumer)
    driver.unprepared(held)


@pytest.mark.control("XD-12")
@pytest.mark.needs("kubelet")
def test_deleted_pod_stays_terminating_until_the_driver_is_back(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    consumer, held = ask(scenario, "consumer", request(driver.device_class), grace_seconds=1)
    scenario.wait(consumer, running())

    with crashed(driver, scenario.node):
        scenario.client.delete(consumer)
        scenario.wait(consumer, terminating() & ended(), timeout=NEXT_LOOK)
        scenario.barrier.kubelet(scenario.node)
        assert terminating()(scenario.get(consumer))
    driver.registered()

    scenario.waiter.wait_gone(consumer, timeout=NEXT_LOOK)
    driver.unprepared(held)
