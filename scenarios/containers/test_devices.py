"""What a container sees of the devices of a claim, and what is left when it is gone (XD-80 to XD-82)."""

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import pod
from harness.kube.predicates import gone, running
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.containers.arrange import NOTHING, cdi_files, cdi_observer, due, gpu_claim, held_by, seen, user

pytestmark = pytest.mark.needs("kubelet", "container")


@pytest.mark.statement("XD-80")
def test_container_sees_just_the_devices_of_its_claim(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(4))
    wanted = gpu_claim(scenario, driver, "two", count=2)
    uses = ["other"] if difference("the container does not use the claim") else ["main", "other"]

    made = user(scenario, wanted, uses=uses)

    held = held_by(scenario, wanted)
    shown = seen(scenario, made)
    assert shown == due(scenario, driver, made, held)
    assert len(shown.devices) == len(shown.uuids) == len(shown.files) == 2


@pytest.mark.control("XD-80")
def test_container_that_does_not_use_the_claim_sees_nothing(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(4))

    made = user(scenario, gpu_claim(scenario, driver, "two", count=2), uses=["other"])

    assert seen(scenario, made) == NOTHING


@pytest.mark.statement("XD-81")
def test_all_containers_that_share_a_claim_see_the_same_device(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    shared = gpu_claim(scenario, driver, "shared")
    second = gpu_claim(scenario, driver, "second") if difference("each Pod has a claim of its own") else shared

    one = user(scenario, shared, "one", uses=["main", "other"])
    two = user(scenario, second, "two", uses=["main"])

    shown = [seen(scenario, one), seen(scenario, one, "other"), seen(scenario, two)]
    assert shown == [due(scenario, driver, one, held_by(scenario, shared))] * 3
    assert len(shown[0].devices) == 1


@pytest.mark.control("XD-81")
def test_pods_with_claims_of_their_own_see_different_devices(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2))

    pods = [user(scenario, gpu_claim(scenario, driver, name), name) for name in ("one", "two")]

    one, two = (seen(scenario, each) for each in pods)
    assert len(one.devices) == len(two.devices) == 1
    assert not any(mine & yours for mine, yours in zip(one, two, strict=True)), f"{one} and {two} overlap"


@pytest.mark.statement("XD-82")
def test_nothing_of_a_claim_stays_on_the_node_after_its_last_pod(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    observer = cdi_observer(scenario)
    wanted = gpu_claim(scenario, driver, "shared")
    made = user(scenario, wanted, grace_seconds=1)
    if difference("another Pod on the node goes on using the claim"):
        user(scenario, wanted, "other")
    assert len(cdi_files(scenario, observer, wanted)) == 1

    scenario.client.delete(made)

    scenario.wait(made, gone())
    driver.unprepared(wanted, timeout=15)
    scenario.waiter.poll(
        lambda: cdi_files(scenario, observer, wanted), lambda files: not files, "the claim has no CDI file", timeout=15
    )


@pytest.mark.control("XD-82")
def test_claim_stays_prepared_for_the_other_pod(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    observer = cdi_observer(scenario)
    wanted = gpu_claim(scenario, driver, "shared")
    made, other = user(scenario, wanted, grace_seconds=1), user(scenario, wanted, "other")
    held = held_by(scenario, wanted)

    scenario.client.delete(made)
    scenario.wait(made, gone())

    # A Pod that comes later, and whose claim was unprepared after its end, shows that the kubelet got that far.
    later = gpu_claim(scenario, later_driver := scenario.driver(gpus(1)), "later")
    passing = scenario.create(pod("passing", claims={"gpu": later}, on=scenario.node, grace_seconds=1))
    scenario.wait(passing, running())
    scenario.client.delete(passing)
    later_driver.unprepared(later)
    assert driver.calls("NodeUnprepareResources", held) == []
    assert len(cdi_files(scenario, observer, held)) == 1
    assert seen(scenario, other) == due(scenario, driver, other, held)
