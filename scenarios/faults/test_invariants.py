"""The invariant checker tells of a broken cluster, on a real one (HS-67)."""

import pytest

from fake_driver.profiles import gpus
from harness import faults
from harness.faults import Violation
from harness.kube.builders import claim, pod, request
from harness.kube.predicates import allocated, running
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario


def violations(scenario: Scenario) -> list[Violation]:
    """Those about this scenario's objects: others may be on their way on the same cluster."""
    found = faults.check(faults.read(scenario.client))
    return [each for each in found if scenario.namespace in f"{each.sentence} {each.evidence}"]


def allocate_by_hand(scenario: Scenario, wanted: Object, allocation: Object) -> Object:
    """Write an allocation as only the scheduler should."""
    written = {"status": {"allocation": allocation}}
    return scenario.client.patch(wanted, written, subresource="status")


def used(scenario: Scenario, device_class: str) -> Object:
    """A claim with a device, used by a Pod that runs."""
    held = scenario.create(claim("held", request(device_class)))
    scenario.wait(scenario.create(pod("holder", claims={"gpu": held})), running())
    return scenario.wait(held, allocated())


@pytest.mark.statement("HS-67")
@pytest.mark.needs("kubelet")
def test_device_that_is_given_twice_is_found(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    held = used(scenario, driver.device_class)
    twice = scenario.create(claim("twice", request(driver.device_class)))
    allocation = held["status"]["allocation"]
    (result,) = allocation["devices"]["results"]
    if difference("it has the other device"):
        other = "gpu-1" if result["device"] == "gpu-0" else "gpu-0"
        allocation = {**allocation, "devices": {"results": [{**result, "device": other}]}}

    allocate_by_hand(scenario, twice, allocation)

    found = {each.invariant: each for each in violations(scenario)}
    # The second one is nobody's, too.
    assert set(found) == {"given once", "released"}
    device = "/".join((driver.name, result["pool"], result["device"]))
    assert found["given once"].sentence == f"device {device} is allocated 2 times"
    assert [claim in str(found["given once"].evidence) for claim in ("/held,", "/twice,")] == [True, True]


@pytest.mark.control("HS-67")
@pytest.mark.needs("kubelet")
def test_sound_cluster_has_no_violation(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2))
    used(scenario, driver.device_class)
    scenario.create(claim("unused", request(driver.device_class)))

    assert violations(scenario) == []


@pytest.mark.statement("HS-67")
@pytest.mark.needs("kubelet")
def test_pod_whose_claim_is_taken_away_is_found(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    held = used(scenario, driver.device_class)

    if not difference("nobody takes it away"):
        scenario.client.patch(held, {"status": {"reservedFor": None, "allocation": None}}, subresource="status")

    assert [each.sentence for each in violations(scenario)] == [
        f"Pod {scenario.namespace}/holder runs, but ResourceClaim {scenario.namespace}/held is not allocated"
    ]
