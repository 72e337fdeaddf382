"""Effect None as a dry run: what is counted, and how it is said (TR-13, TR-14)."""

from collections.abc import Callable

import pytest

from fake_driver.inventory import Pool
from fake_driver.profiles import gpus, shareable
from harness.drivers import Driver
from harness.kube.builders import claim, namespace, pod, request
from harness.kube.builders.devices import Effect
from harness.kube.predicates import running, scheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.eviction.arrange import tolerating
from scenarios.taint.arrange import Consumer, consumer
from scenarios.taint.outcomes import evicted, goes_on
from scenarios.taint.rules import FINAL, controller_knows, create_rule, message, user, verdict

Arrangement = Callable[[Scenario, Driver], None]


def placed(scenario: Scenario, new: Consumer) -> Object:
    """The Pod, once it is bound to a node."""
    return scenario.wait(new.pod, scheduled())


@pytest.mark.statement("TR-13")
@pytest.mark.needs("kubelet")
@pytest.mark.feature("DeviceTaintRule.status")
def test_effect_none_evicts_nobody_and_tells_the_extent(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    runners = [scenario.wait(consumer(scenario, driver, f"runner-{i}", gpu=i).pod, running()) for i in range(2)]
    controller_knows(scenario)

    effect: Effect = "NoExecute" if difference("the effect is NoExecute") else "None"
    rule = create_rule(scenario, effect, driver=driver.name)

    told = verdict(scenario, rule)
    assert (told["status"], told["reason"]) == ("False", "NoEffect")
    assert told["message"].startswith(
        "2 published devices selected. 2 allocated devices selected. 2 pods would be evicted in 1 namespace"
    )
    controller_knows(scenario)
    for runner in runners:
        goes_on(scenario, runner)


@pytest.mark.control("TR-13")
@pytest.mark.needs("kubelet")
def test_effect_noexecute_evicts_the_pods_that_were_counted(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2))
    runners = [scenario.wait(consumer(scenario, driver, f"runner-{i}", gpu=i).pod, running()) for i in range(2)]

    create_rule(scenario, "NoExecute", driver=driver.name)

    for runner in runners:
        evicted(scenario, runner)


def elsewhere(scenario: Scenario, number: int) -> str:
    """A further namespace of the scenario."""
    name = f"{scenario.namespace}-{number}"
    scenario.create(namespace(name))
    return name


def spread(scenario: Scenario, driver: Driver, pods: int, namespaces: int) -> None:
    """So many Pods with a device each, in so many namespaces."""
    homes = [None, *(elsewhere(scenario, number) for number in range(1, namespaces))]
    for number in range(pods):
        placed(scenario, user(scenario, driver, f"user-{number}", namespace=homes[number % namespaces]))


#: What is said of so many devices, Pods with one each, and namespaces of these.
EXTENTS = {
    (0, 0, 1): "0 published devices selected. 0 allocated devices selected. "
    "0 pods would be evicted in 0 different namespaces",
    (1, 0, 1): "1 published device selected. 0 allocated devices selected. "
    "0 pods would be evicted in 0 different namespaces",
    (1, 1, 1): "1 published device selected. 1 allocated device selected. 1 pod would be evicted in 1 namespace",
    (3, 1, 1): "3 published devices selected. 1 allocated device selected. 1 pod would be evicted in 1 namespace",
    (3, 2, 1): "3 published devices selected. 2 allocated devices selected. 2 pods would be evicted in 1 namespace",
    (4, 3, 2): "4 published devices selected. 3 allocated devices selected. "
    "3 pods would be evicted in 2 different namespaces",
}


@pytest.mark.statement("TR-14")
@pytest.mark.parametrize(("devices", "pods", "namespaces"), EXTENTS)
@pytest.mark.feature("DeviceTaintRule.status")
def test_message_has_the_numbers_of_devices_pods_and_namespaces(
    scenario: Scenario, difference: Difference, devices: int, pods: int, namespaces: int
) -> None:
    more = 1 if difference("one more device is published") else 0
    driver = scenario.driver(gpus(devices + more), plugin=False)
    spread(scenario, driver, pods, namespaces)
    controller_knows(scenario)

    rule = create_rule(scenario, "None", driver=driver.name)

    extent = EXTENTS[devices, pods, namespaces]
    assert message(scenario, rule) == f"{extent} if the effect was NoExecute. {FINAL}"


@pytest.mark.control("TR-14")
@pytest.mark.feature("DeviceTaintRule.status")
def test_devices_of_others_and_pods_that_tolerate_for_ever_do_not_count(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1, name="upper"), gpus(2, name="lower"), plugin=False)
    placed(scenario, user(scenario, driver, "lower-0"))
    placed(scenario, user(scenario, driver, "lower-1", tolerations=tolerating(None)))
    placed(scenario, user(scenario, driver, "upper"))
    controller_knows(scenario)

    rule = create_rule(scenario, "None", driver=driver.name, pool=f"{scenario.node}/lower")

    assert message(scenario, rule).startswith(
        "2 published devices selected. 2 allocated devices selected. 1 pod would be evicted in 1 namespace if"
    )


def pod_with_two_devices(scenario: Scenario, driver: Driver) -> None:
    """One Pod with two claims, of two devices and of one."""
    own = {
        name: scenario.create(claim(name, request(driver.device_class, count=count)))
        for name, count in (("two", 2), ("one", 1))
    }
    scenario.wait(scenario.create(pod("user", claims=own)), scheduled())


def pods_with_a_claim_in_common(scenario: Scenario, driver: Driver) -> None:
    """Two Pods that share the claim of one device."""
    shared = scenario.create(claim("shared", request(driver.device_class)))
    for name in ("first", "second"):
        scenario.wait(scenario.create(pod(name, claims={"gpu": shared})), scheduled())


def pods_with_a_share_each(scenario: Scenario, driver: Driver) -> None:
    """Two Pods whose claims have a share each of one device."""
    spread(scenario, driver, pods=2, namespaces=1)


@pytest.mark.statement("TR-14")
@pytest.mark.parametrize(
    ("arrange", "pool", "text"),
    [
        (pod_with_two_devices, gpus(3), "3 published devices selected. 3 allocated devices selected. 1 pod"),
        (pods_with_a_claim_in_common, gpus(1), "1 published device selected. 1 allocated device selected. 2 pods"),
        (pods_with_a_share_each, shareable(1), "1 published device selected. 2 allocated devices selected. 2 pods"),
    ],
    ids=["two-claims-of-a-pod", "a-claim-of-two-pods", "two-shares-of-a-device"],
)
@pytest.mark.feature("DeviceTaintRule.status")
def test_pods_count_once_and_allocated_devices_once_for_each_claim(
    scenario: Scenario, difference: Difference, arrange: Arrangement, pool: Pool, text: str
) -> None:
    driver = scenario.driver(pool, plugin=False)
    if not difference("no Pod has a device"):
        arrange(scenario, driver)
    controller_knows(scenario)

    rule = create_rule(scenario, "None", driver=driver.name)

    assert message(scenario, rule).startswith(f"{text} would be evicted in 1 namespace if the effect was NoExecute.")
