"""What a Pod gets of any driver, again and again (XD-71, XD-72, XD-73, XD-75, XD-76)."""

import re

import pytest

from harness.clusters.protocol import NotObservable
from harness.kube.builders import claim, container, pod, request, runs_for
from harness.kube.predicates import Predicate, allocated, failed, running, unallocated
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.beyond.consumers import ask, left_out
from scenarios.driver.arrange import STARTS, devices_of, running_user, under_test, user

pytestmark = pytest.mark.needs("kubelet")

#: A selector that no device meets.
NONE = "device.driver == 'nobody.example.com'"

#: `vendor/class=name`, as the Container Device Interface has it.
CDI_NAME = re.compile(
    r"[A-Za-z]([\w.-]*[A-Za-z0-9])?/[A-Za-z]([\w-]*[A-Za-z0-9])?=[A-Za-z0-9]([\w.:-]*[A-Za-z0-9])?", re.A
)


def restarts(pod_: Object) -> int:
    """How often the Pod's only container was started again."""
    (status,) = (pod_.get("status") or {}).get("containerStatuses") or [{}]
    return int(status.get("restartCount", 0))


def restarted() -> Predicate[Object]:
    """The Pod's container was started again."""
    return Predicate("container started again", lambda found: restarts(found) > 0)


def troubles(scenario: Scenario, consumer: Object) -> list[str]:
    """What the kubelet says of devices that could not be prepared."""
    events = scenario.client.events(consumer)
    return [each["message"] for each in events if each["reason"] == "FailedPrepareDynamicResources"]


def cdi_devices(scenario: Scenario, consumer: Object, name: str) -> tuple[str, ...]:
    """What the runtime was handed for a container, as its node tells, or else the Pod's status."""
    try:
        return scenario.cluster.cdi_devices(consumer, name)
    except NotObservable:
        told = {status["name"]: handed(status) for status in consumer["status"]["containerStatuses"]}
        if not any(told.values()):
            raise
        return told[name]


def handed(status: Object) -> tuple[str, ...]:
    """The devices in a container's status, which the kubelet fills in for drivers that report health."""
    return tuple(
        found["resourceID"] for each in status.get("allocatedResourcesStatus", ()) for found in each["resources"]
    )


@pytest.mark.statement("XD-71")
def test_claim_is_allocated_from_the_driver_and_its_pod_runs(scenario: Scenario, difference: Difference) -> None:
    driver = under_test(scenario)
    selectors = [NONE] if difference("no device meets the claim's selector") else []

    consumer, own = ask(scenario, "consumer", request(driver.device_class, selectors=selectors))

    given = devices_of(scenario.wait(own, allocated()))
    assert [each[0] for each in given] == [driver.name]
    scenario.wait(consumer, running(), STARTS)


@pytest.mark.control("XD-71")
def test_pod_whose_claim_no_device_meets_waits(scenario: Scenario) -> None:
    driver = under_test(scenario)
    left_out(scenario, *ask(scenario, "consumer", request(driver.device_class, selectors=[NONE])))


@pytest.mark.statement("XD-72")
def test_container_that_starts_again_keeps_its_device(scenario: Scenario, difference: Difference) -> None:
    driver = under_test(scenario)
    policy = "Never" if difference("the container is not to be started again") else "Always"
    consumer, own = user(scenario, "consumer", driver, command=runs_for(2, exit_code=1), restart_policy=policy)
    given = devices_of(scenario.wait(own, allocated()))

    scenario.wait(consumer, restarted(), STARTS)

    assert devices_of(scenario.get(own)) == given
    assert scenario.get(consumer)["metadata"]["uid"] == consumer["metadata"]["uid"]


@pytest.mark.control("XD-72")
def test_container_that_is_not_to_be_started_again_ends(scenario: Scenario) -> None:
    driver = under_test(scenario)
    consumer, _ = user(scenario, "consumer", driver, command=runs_for(2, exit_code=1), restart_policy="Never")

    assert restarts(scenario.wait(consumer, failed(), STARTS)) == 0


@pytest.mark.statement("XD-73")
def test_claim_serves_one_pod_after_another_on_a_node(scenario: Scenario, difference: Difference) -> None:
    driver = under_test(scenario)
    first, own = running_user(scenario, "first", driver)

    if not difference("the first Pod stays"):
        scenario.delete(first)

    scenario.wait(own, unallocated())
    second = scenario.create(pod("second", claims={"gpu": own}, on=first["spec"]["nodeName"]))
    scenario.wait(second, running(), STARTS)


@pytest.mark.control("XD-73")
def test_claim_of_a_pod_that_runs_stays_while_others_come_and_go(scenario: Scenario) -> None:
    driver = under_test(scenario)
    _, own = running_user(scenario, "stays", driver)
    other, others = running_user(scenario, "goes", driver)

    scenario.delete(other)

    scenario.wait(others, unallocated())
    assert devices_of(scenario.get(own)) == devices_of(own)


@pytest.mark.statement("XD-75")
def test_container_is_handed_devices_of_valid_cdi_names(scenario: Scenario, difference: Difference) -> None:
    consumer = user_and_neighbour(scenario)
    name = "neighbour" if difference("the container does not name the claim of its Pod") else "user"

    found = cdi_devices(scenario, consumer, name)

    assert found, "the runtime was handed no device"
    assert [each for each in found if not CDI_NAME.fullmatch(each)] == []


@pytest.mark.control("XD-75")
def test_container_that_does_not_name_the_claim_is_handed_nothing(scenario: Scenario) -> None:
    assert cdi_devices(scenario, user_and_neighbour(scenario), "neighbour") == ()


def user_and_neighbour(scenario: Scenario) -> Object:
    """A running Pod with a claim that one of its two containers names."""
    own = scenario.create(claim("one", request(under_test(scenario).device_class)))
    containers = [container("user", claims=["gpu"]), container("neighbour")]
    return scenario.wait(scenario.create(pod("both", claims={"gpu": own}, containers=containers)), running(), STARTS)


@pytest.mark.statement("XD-76")
def test_two_claims_at_a_time_have_different_devices(scenario: Scenario, difference: Difference) -> None:
    driver = under_test(scenario)
    _, first = running_user(scenario, "first", driver)
    if difference("both Pods name the same claim"):
        second = first
        scenario.wait(scenario.create(pod("second", claims={"gpu": first})), running(), STARTS)
    else:
        _, second = running_user(scenario, "second", driver)

    assert not {*devices_of(scenario.get(first))} & {*devices_of(scenario.get(second))}


@pytest.mark.control("XD-76")
def test_two_pods_with_one_claim_run_with_the_same_device(scenario: Scenario) -> None:
    driver = under_test(scenario)
    first, own = running_user(scenario, "first", driver)

    second = scenario.wait(scenario.create(pod("second", claims={"gpu": own})), running(), STARTS)

    users = {each["uid"] for each in scenario.get(own)["status"]["reservedFor"]}
    assert users == {first["metadata"]["uid"], second["metadata"]["uid"]}
