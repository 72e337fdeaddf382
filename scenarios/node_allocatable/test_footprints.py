"""What admission and validation make of a device's footprint by itself (NA-03, NA-16, XD-42).

Nothing is stored, so a node with a kubelet serves, as others use it.
"""

from typing import Any

import pytest

from fake_driver.inventory import by_capacity, by_device, overhead
from harness.kube.builders import resource_slice
from harness.kube.refusals import refused
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario

pytestmark = [
    pytest.mark.needs("kubelet"),
    pytest.mark.feature("ResourceSlice.spec.devices.nodeAllocatableResources"),
]

#: The greatest number of 64 bits.
GREATEST = 2**63 - 1

MODEL = "spec.devices[0].nodeAllocatableResources[cpu]"


def written(scenario: Scenario, footprint: Object) -> Object:
    """The device as the API would store it: one with a capacity `cores` and this footprint."""
    device = {"name": "device", "capacity": {"cores": {"value": "8"}}, "nodeAllocatableResources": footprint}
    body = resource_slice(scenario.namespace, "limits.example.com", [device], node=scenario.node)
    (stored,) = scenario.client.create(body, dry_run=True)["spec"]["devices"]
    found: Object = stored
    return found


@pytest.mark.statement("NA-16")
@pytest.mark.parametrize("key", ["example.com/gpu", "ephemeral-storage", "pods"])
def test_only_cpu_memory_and_huge_pages_are_keys(scenario: Scenario, difference: Difference, key: str) -> None:
    used = "cpu" if difference("the key is cpu") else key

    refused(lambda: written(scenario, {used: by_device("1")}), f"spec.devices[0].nodeAllocatableResources[{key}]")


@pytest.mark.control("NA-16")
@pytest.mark.parametrize("key", ["cpu", "memory", "hugepages-1Gi"])
def test_each_node_allocatable_resource_is_a_key(scenario: Scenario, key: str) -> None:
    stored = written(scenario, {key: by_device("1Gi")})

    assert list(stored["nodeAllocatableResources"]) == [key]


@pytest.mark.control("NA-03")
def test_entry_without_a_model_is_refused(scenario: Scenario) -> None:
    refused(lambda: written(scenario, {"cpu": {}}), MODEL)


@pytest.mark.statement("XD-42")
@pytest.mark.parametrize(
    ("model", "field"),
    [
        pytest.param(by_device("0"), f"{MODEL}.mapping.deviceMultiplier", id="device multiplier zero"),
        pytest.param(by_device("-1"), f"{MODEL}.mapping.deviceMultiplier", id="device multiplier negative"),
        pytest.param(by_capacity("cores", "0"), f"{MODEL}.mapping.capacityMultiplier", id="multiplier zero"),
        pytest.param(by_capacity("cores", "-1m"), f"{MODEL}.mapping.capacityMultiplier", id="multiplier negative"),
        pytest.param(by_capacity("threads"), f"{MODEL}.mapping.capacityKey", id="unknown capacity"),
        pytest.param({"mapping": {"capacityMultiplier": "1"}}, f"{MODEL}.mapping.capacityKey", id="no capacity"),
        pytest.param(
            {"mapping": by_capacity("cores")["mapping"] | by_device("1")["mapping"]},
            f"{MODEL}.mapping",
            id="both multipliers",
        ),
        pytest.param({"mapping": {}}, f"{MODEL}.mapping", id="empty mapping"),
        pytest.param({"overhead": {}}, f"{MODEL}.overhead", id="empty overhead"),
        pytest.param(overhead(per_pod="-1"), f"{MODEL}.overhead.perPod", id="overhead negative"),
        pytest.param(overhead(per_container="-1m"), f"{MODEL}.overhead.perContainer", id="container overhead negative"),
    ],
)
def test_senseless_amounts_are_refused(
    scenario: Scenario, difference: Difference, model: dict[str, Any], field: str
) -> None:
    given = by_capacity("cores") if difference("the mapping makes sense") else model

    refused(lambda: written(scenario, {"cpu": given}), field)


@pytest.mark.control("XD-42")
def test_least_and_greatest_amounts_are_stored_as_written(scenario: Scenario) -> None:
    given = {
        "cpu": by_capacity("cores", "1n") | overhead("0", "0"),
        "memory": by_device(str(GREATEST)),
        "hugepages-2Mi": overhead("7Ei"),
    }

    stored = written(scenario, given)

    assert stored["nodeAllocatableResources"] == given
