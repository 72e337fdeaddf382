"""On the node: kubelet and driver set the device up over gRPC, unless the driver says that this is not needed."""

import pytest

from fake_driver.profiles import gpus
from harness.drivers import PREPARE
from harness.kube.builders import claim, pod, request
from harness.kube.predicates import allocated_devices, pending, running, scheduled, unallocated, unschedulable
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario

PRINT_ENVIRONMENT = ("sh", "-c", "env; sleep infinity")


def environment(scenario: Scenario, consumer: Object) -> dict[str, str]:
    """The environment that the container of a running Pod sees, from its own output."""
    path = f"/api/v1/namespaces/{scenario.namespace}/pods/{consumer['metadata']['name']}/log"
    lines = scenario.client.raw("GET", path).splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


@pytest.mark.statement("WF-22")
@pytest.mark.needs("kubelet")
def test_driver_prepares_the_device_before_the_container_starts(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    if difference("the driver's plugin is not registered with the kubelet"):
        driver.control.stop()
    driver.control.delay_prepare()  # until the faults are cleared
    wanted = scenario.create(claim("wanted", request(driver.device_class)))
    consumer = scenario.create(pod("consumer", claims={"gpu": wanted}))

    driver.asked(PREPARE, wanted, timeout=10)
    assert pending()(scenario.get(consumer)), "the container started although its device is still being prepared"
    driver.control.clear_faults()
    driver.prepared(wanted)
    started = scenario.wait(consumer, running())

    device = allocated_devices(scenario.get(wanted))[0].device
    handed_over = scenario.cluster.cdi_devices(started)
    assert [name for name in handed_over if name.startswith(f"{driver.name}/") and device in name] == [*handed_over]
    assert len(handed_over) == 1

    scenario.delete(consumer)
    driver.unprepared(wanted)


@pytest.mark.control("WF-22")
@pytest.mark.needs("kubelet")
def test_container_waits_until_the_driver_is_registered(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    driver.control.stop()
    wanted = scenario.create(claim("wanted", request(driver.device_class)))
    consumer = scenario.create(pod("consumer", claims={"gpu": wanted}))

    # Until the kubelet has noticed that the socket is gone it cannot connect; then nothing is registered.
    scenario.wait_event(consumer, "FailedPrepareDynamicResources", driver.name)
    assert pending()(scenario.get(consumer))

    driver.control.start()
    scenario.wait(consumer, running(), timeout=60)
    driver.prepared(wanted)


@pytest.mark.statement("WF-22", "WF-26")
@pytest.mark.needs("kubelet", "container")
def test_container_sees_the_allocated_gpu_and_no_other(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    wanted = scenario.create(claim("wanted", request(driver.device_class)))
    claims = {} if difference("the Pod does not refer to the claim") else {"gpu": wanted}
    consumer = scenario.wait(
        scenario.create(pod("consumer", claims=claims, command=PRINT_ENVIRONMENT)), running(), timeout=60
    )

    seen = environment(scenario, consumer)

    chosen = {device.device for device in allocated_devices(scenario.get(wanted))}
    uuids = {d.uuid for pool in driver.control.pools for d in pool.devices if d.name in chosen}
    assert {value for name, value in seen.items() if name.startswith("DRA_E2E_GPU_")} == uuids
    assert uuids


@pytest.mark.statement("WF-23")
@pytest.mark.needs("kubelet")
def test_pod_runs_without_a_plugin_when_node_operations_are_optional(
    scenario: Scenario, difference: Difference
) -> None:
    optional = () if difference("the device does not declare its node operations optional") else ("*",)
    driver = scenario.driver(gpus(1, skip_node_operations=optional), plugin=False)
    wanted = scenario.create(claim("wanted", request(driver.device_class)))
    consumer = scenario.create(pod("consumer", claims={"gpu": wanted}))

    scenario.wait(consumer, running(), timeout=15)

    assert driver.calls(PREPARE) == []
    assert len(allocated_devices(scenario.get(wanted))) == 1


@pytest.mark.control("WF-23")
@pytest.mark.needs("kubelet")
def test_pod_hangs_without_a_plugin_when_node_operations_are_needed(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1), plugin=False)
    wanted = scenario.create(claim("wanted", request(driver.device_class)))
    consumer = scenario.create(pod("consumer", claims={"gpu": wanted}))

    scenario.wait_event(consumer, "FailedPrepareDynamicResources", f"DRA driver {driver.name} is not registered")
    assert pending()(scenario.wait(consumer, scheduled()))


@pytest.mark.statement("WF-26")
@pytest.mark.needs("kubelet")
def test_pod_that_hands_in_a_claim_gets_a_published_device_and_runs(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    if difference("the device is withdrawn from the slice before the Pod is created"):
        driver.control.remove_device(scenario.node, "gpu-0")
    wanted = scenario.create(claim("wanted", request(driver.device_class)))

    consumer = scenario.wait(scenario.create(pod("consumer", claims={"gpu": wanted})), running(), timeout=10)

    driver.prepared(wanted)
    assert [device.device for device in allocated_devices(scenario.get(wanted))] == ["gpu-0"]
    assert consumer["spec"]["nodeName"] == scenario.node


@pytest.mark.control("WF-26")
@pytest.mark.needs("kubelet")
def test_pod_waits_when_the_device_is_withdrawn_from_the_slice(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    driver.control.remove_device(scenario.node, "gpu-0")
    wanted = scenario.create(claim("wanted", request(driver.device_class)))
    consumer = scenario.create(pod("consumer", claims={"gpu": wanted}))

    scenario.wait(consumer, unschedulable("cannot allocate all claims"))
    scenario.wait(wanted, unallocated())
    assert driver.calls(PREPARE) == []
