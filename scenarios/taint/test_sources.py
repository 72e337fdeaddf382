"""Who sets the mark, the driver or the administrator, and on whose GPUs (TA-05, TA-08, TA-09)."""

from collections.abc import Callable

import pytest

from fake_driver import diagnosis
from fake_driver.diagnosis import ECC_LIMIT, HOT, Readings
from fake_driver.profiles import gpus
from harness.drivers import Driver
from harness.kube.builders import device_taint, device_taint_rule, pod
from harness.kube.predicates import running, unallocated
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.taint.arrange import LOST, consumer
from scenarios.taint.outcomes import device_of, evicted, goes_on, is_placed, kept_off
from scenarios.taint.seen import RulesSeen, slices_seen

Mark = Callable[[Scenario, Driver], None]

IN_GOOD_ORDER = Readings()


def by_driver(scenario: Scenario, driver: Driver) -> None:
    """The driver taints its first GPU; the scheduler knows when this returns."""
    driver.control.update_device(scenario.node, "gpu-0", taints=[LOST])
    slices_seen(scenario)


def by_rule(scenario: Scenario, driver: Driver) -> None:
    """A rule taints the driver's first GPU; the scheduler knows when this returns."""
    seen = RulesSeen(scenario)
    taint = device_taint(LOST.key, "NoExecute", LOST.value)
    scenario.create(device_taint_rule(scenario.namespace, taint, driver=driver.name, device="gpu-0"))
    seen()


@pytest.mark.statement("TA-08")
@pytest.mark.needs("kubelet")
@pytest.mark.parametrize("mark", [by_driver, by_rule])
def test_mark_evicts_and_keeps_off_whoever_sets_it(scenario: Scenario, difference: Difference, mark: Mark) -> None:
    driver = scenario.driver(gpus(2))
    runner = scenario.wait(consumer(scenario, driver, "runner", gpu=0).pod, running())

    if not difference("nobody sets the mark"):
        mark(scenario, driver)

    evicted(scenario, runner, timeout=10)
    kept_off(scenario, consumer(scenario, driver, "new", gpu=0).pod)
    assert device_of(scenario, consumer(scenario, driver, "elsewhere")) == "gpu-1"


@pytest.mark.control("TA-08", "TA-09")
@pytest.mark.needs("kubelet")
def test_device_that_nobody_marks_is_given_out_and_kept(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    diagnosis.report(driver.control, scenario.node, "gpu-0", Readings(ecc_errors=ECC_LIMIT - 1, celsius=HOT - 1))
    slices_seen(scenario)

    runner = consumer(scenario, driver, "runner")

    assert device_of(scenario, runner) == "gpu-0"
    goes_on(scenario, scenario.wait(runner.pod, running()))


@pytest.mark.statement("TA-09")
@pytest.mark.parametrize(
    "fault",
    [Readings(ecc_errors=ECC_LIMIT), Readings(celsius=HOT), Readings(on_bus=False), Readings(maintenance="announced")],
    ids=["ecc-errors", "over-temperature", "off-the-bus", "maintenance-announced"],
)
def test_device_is_avoided_as_long_as_the_driver_sees_the_fault(
    scenario: Scenario, difference: Difference, fault: Readings
) -> None:
    driver = scenario.driver(gpus(1), plugin=False)
    bad = IN_GOOD_ORDER if difference("the driver publishes no taint for the bad device") else fault
    diagnosis.report(driver.control, scenario.node, "gpu-0", bad)
    slices_seen(scenario)
    new = consumer(scenario, driver, "new")
    kept_off(scenario, new.pod)
    scenario.wait(new.claim, unallocated())

    diagnosis.report(driver.control, scenario.node, "gpu-0", IN_GOOD_ORDER)

    assert device_of(scenario, new) == "gpu-0"


@pytest.mark.statement("TA-09")
@pytest.mark.needs("kubelet")
@pytest.mark.parametrize(
    "fault", [Readings(on_bus=False), Readings(maintenance="begun")], ids=["off-the-bus", "maintenance"]
)
def test_pod_is_evicted_when_the_driver_sees_a_grave_fault(
    scenario: Scenario, difference: Difference, fault: Readings
) -> None:
    driver = scenario.driver(gpus(1))
    runner = scenario.wait(consumer(scenario, driver, "runner").pod, running())

    minor = Readings(celsius=HOT)
    diagnosis.report(driver.control, scenario.node, "gpu-0", minor if difference("the fault is a minor one") else fault)

    evicted(scenario, runner, timeout=10)


def plugin_gpus(scenario: Scenario, count: int) -> str:
    """The name of an extended resource that a node advertises as a device plugin makes it: a bare number."""
    name = f"{scenario.namespace}.example.com/gpu"
    node = {"kind": "Node", "metadata": {"name": scenario.node}}

    def advertise(amount: str | None) -> None:
        amounts = {"capacity": {name: amount}, "allocatable": {name: amount}}
        scenario.client.patch(node, {"status": amounts}, subresource="status")

    advertise(str(count))
    scenario.on_exit(lambda: advertise(None))
    return name


def rule_for_everything(scenario: Scenario) -> Object:
    """A rule that selects every device there is."""
    return device_taint_rule(scenario.namespace, device_taint(LOST.key, "NoExecute"))


@pytest.mark.statement("TA-05")
@pytest.mark.needs("kubelet")
@pytest.mark.exclusive("cluster")
def test_pods_with_gpus_of_a_device_plugin_are_beyond_a_rule_for_all_devices(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(gpus(3))
    resource = plugin_gpus(scenario, 2)
    managed = difference("the GPUs are managed by a DRA driver")

    def user(name: str) -> Object:
        if managed:
            return consumer(scenario, driver, name).pod
        return scenario.create(pod(name, limits={resource: 1}))

    runner, witness = user("runner"), consumer(scenario, driver, "witness").pod
    runner, witness = scenario.wait(runner, running()), scenario.wait(witness, running())
    scenario.create(rule_for_everything(scenario))
    evicted(scenario, witness)
    kept_off(scenario, consumer(scenario, driver, "one-more").pod)

    new = user("new")
    is_placed(scenario, new)
    scenario.wait(new, running())
    goes_on(scenario, runner)


@pytest.mark.control("TA-05")
@pytest.mark.needs("kubelet")
@pytest.mark.exclusive("cluster")
def test_pods_with_a_claim_are_evicted_and_kept_off_by_a_rule_for_all_devices(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2))
    runner = scenario.wait(consumer(scenario, driver, "runner").pod, running())
    scenario.create(rule_for_everything(scenario))

    evicted(scenario, runner)
    kept_off(scenario, consumer(scenario, driver, "new").pod)
