"""Device taints reach Pods with extended resources where DRA stands behind these, and only there (ER-04, ER-05)."""

from typing import Literal

import pytest

from fake_driver.inventory import Taint
from fake_driver.profiles import gpus
from harness.drivers import Driver
from harness.kube.builders import claim, device_taint, device_taint_rule, pod, request
from harness.kube.predicates import (
    allocated_devices,
    gone,
    running,
    scheduled,
    unschedulable,
    unscheduled,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.extended.counted import class_behind, generated_claim, node_with_plugin, own_resource, serve_by_dra
from scenarios.taint.rules import controller_knows
from scenarios.taint.seen import slices_seen

Effect = Literal["NoSchedule", "NoExecute"]

KEY = "example.com/unhealthy"


#: Whether a Pod that was given a device through an extended resource is evicted for the taint.
EVICTED = "DeviceTaint.evicts-users-of-extended-resources"


def gpus_behind(scenario: Scenario, resource: str, *, count: int = 1, plugin: bool = False) -> Driver:
    """A driver whose GPUs stand behind the resource."""
    driver = scenario.driver(gpus(count), plugin=plugin, device_class=False)
    serve_by_dra(scenario, driver, resource)
    return driver


def taint(driver: Driver, effect: Effect | None) -> None:
    """Publish the driver's GPUs with this taint, or without any."""
    (pool,) = driver.control.pools
    for device in pool.devices:
        driver.control.update_device(pool.name, device.name, taints=(Taint(KEY, effect),) if effect else ())


def claiming(scenario: Scenario, resource: str) -> Object:
    """A Pod that claims one of the devices behind the resource, instead of asking for the resource."""
    wanted = scenario.create(claim("claiming", request(class_behind(resource))))
    return scenario.create(pod("claiming", claims={"gpu": wanted}))


def goes_as_the_release_has_it(scenario: Scenario, consumer: Object) -> None:
    """The Pod with the extended resource is evicted, or stays where the controller knows nothing of such Pods."""
    if scenario.release.has(EVICTED):
        scenario.wait(consumer, gone(), timeout=15)
    else:
        controller_knows(scenario)
        assert running()(scenario.get(consumer))


def taint_by_rule(scenario: Scenario, effect: Effect, driver: Driver | None) -> None:
    """Let a rule taint the driver's devices, or every device of the cluster."""
    scenario.create(
        device_taint_rule(scenario.namespace, device_taint(KEY, effect), driver=driver.name if driver else None)
    )


@pytest.mark.statement("ER-04")
def test_pod_is_kept_from_a_gpu_that_the_driver_has_tainted(scenario: Scenario, difference: Difference) -> None:
    resource = own_resource(scenario)
    driver = gpus_behind(scenario, resource)
    taint(driver, None if difference("the device has no taint") else "NoSchedule")

    slices_seen(scenario)

    consumer = scenario.create(pod("consumer", limits={resource: 1}))

    outcome = scenario.wait(consumer, scheduled() | unschedulable("cannot allocate all claims"))
    assert unscheduled()(outcome), "the Pod got the tainted device"


@pytest.mark.control("ER-04")
def test_pod_gets_the_gpu_once_the_taint_is_gone(scenario: Scenario) -> None:
    resource = own_resource(scenario)
    driver = gpus_behind(scenario, resource)
    taint(driver, "NoSchedule")
    consumer = scenario.create(pod("consumer", limits={resource: 1}))
    scenario.wait(consumer, unschedulable("cannot allocate all claims"))

    taint(driver, None)

    scheduled_pod = scenario.wait(consumer, scheduled(scenario.node))
    assert allocated_devices(generated_claim(scenario, scheduled_pod)) == [(driver.name, scenario.node, "gpu-0")]


@pytest.mark.statement("ER-04")
@pytest.mark.deviates(
    "ER-04",
    "a taint does not end Pods that run already: the controller reads their claims only",
    where=("1.34", "1.35", "1.36"),
)
@pytest.mark.needs("kubelet")
def test_running_pod_is_deleted_when_its_gpu_gets_a_noexecute_taint(scenario: Scenario, difference: Difference) -> None:
    resource = own_resource(scenario)
    driver = gpus_behind(scenario, resource, count=2, plugin=True)
    consumer = scenario.create(pod("consumer", limits={resource: 1}))
    beside = claiming(scenario, resource)
    for each in (consumer, beside):
        scenario.wait(each, running())

    taint(driver, "NoSchedule" if difference("the taint has the effect NoSchedule") else "NoExecute")

    scenario.wait(beside, gone(), timeout=15)
    goes_as_the_release_has_it(scenario, consumer)


@pytest.mark.control("ER-04")
@pytest.mark.needs("kubelet")
def test_running_pod_stays_when_its_gpu_gets_a_noschedule_taint(scenario: Scenario) -> None:
    resource = own_resource(scenario)
    driver = gpus_behind(scenario, resource, plugin=True)
    consumer = scenario.create(pod("consumer", limits={resource: 1}))
    scenario.wait(consumer, running())

    taint(driver, "NoSchedule")

    next_one = scenario.create(pod("next", limits={resource: 1}))
    scenario.wait(next_one, unschedulable())
    assert running()(scenario.get(consumer))


@pytest.mark.statement("ER-05")
@pytest.mark.exclusive("cluster")
@pytest.mark.needs("kubelet", "bare-nodes")
def test_taints_of_every_device_do_not_reach_a_gpu_of_a_device_plugin(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(gpus(3), plugin=False, device_class=False)
    by_plugin, by_dra = own_resource(scenario), f"dra.{own_resource(scenario)}"
    serve_by_dra(scenario, driver, by_dra)
    if difference("the resource is backed by a DeviceClass"):
        serve_by_dra(scenario, driver, by_plugin)
    else:
        node_with_plugin(scenario, by_plugin, 2)
    on_plugin = scenario.create(pod("on-plugin", limits={by_plugin: 1}))
    on_dra = claiming(scenario, by_dra)
    for consumer in (on_plugin, on_dra):
        scenario.wait(consumer, scheduled())

    taint_by_rule(scenario, "NoExecute", driver=None)

    scenario.wait(on_dra, gone())
    later_on_dra = scenario.create(pod("later-on-dra", limits={by_dra: 1}))
    scenario.wait(later_on_dra, unschedulable("cannot allocate all claims"))
    later = scenario.create(pod("later", limits={by_plugin: 1}))
    outcome = scenario.wait(later, scheduled() | unschedulable())
    assert scheduled()(outcome), "the taint keeps the Pod away"
    scenario.wait(on_plugin, running(), timeout=15)


@pytest.mark.control("ER-05")
@pytest.mark.needs("kubelet")
def test_taint_of_a_rule_reaches_a_gpu_that_dra_manages(scenario: Scenario) -> None:
    resource = own_resource(scenario)
    driver = gpus_behind(scenario, resource, count=3, plugin=True)
    consumer = scenario.create(pod("consumer", limits={resource: 1}))
    beside = claiming(scenario, resource)
    for each in (consumer, beside):
        scenario.wait(each, running())

    taint_by_rule(scenario, "NoExecute", driver)

    scenario.wait(beside, gone())
    goes_as_the_release_has_it(scenario, consumer)
    later = scenario.create(pod("later", limits={resource: 1}))
    scenario.wait(later, unschedulable("cannot allocate all claims"))
