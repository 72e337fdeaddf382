"""Claims on a node whose machine loses its power (XD-85, XD-86)."""

import pytest

from fake_driver.profiles import gpus
from harness.clusters.machines import Machines
from harness.drivers import PREPARE, Driver
from harness.kube.predicates import Predicate, all_of, failed, gone, ready, running, unallocated
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.containers.arrange import due, gpu_claim, held_by, seen, started_again, user

pytestmark = [
    pytest.mark.needs("kubelet", "container", "power"),
    pytest.mark.exclusive("cluster"),
    pytest.mark.slow,
]

#: Seconds that a machine has to come back, with its kubelet, its network and the driver's Pod.
BOOT = 180

#: The controller that removes Pods of a Node that is no more waits for forty seconds, and looks every twenty.
ORPHANED = 90


def machines(scenario: Scenario) -> Machines:
    """The cluster, whose machines can be switched."""
    cluster = scenario.cluster
    assert isinstance(cluster, Machines)
    return cluster


def node_of(scenario: Scenario) -> Object:
    """The Node of the scenario as it is now."""
    return scenario.client.get("Node", scenario.node)


def power_off(scenario: Scenario) -> None:
    """The machine of the scenario's node is off; whatever comes, it is on again at the end."""
    scenario.on_exit(lambda: machines(scenario).power_on(scenario.node))
    machines(scenario).power_off(scenario.node)


def slice_of(scenario: Scenario, driver: Driver) -> Object:
    """The driver's one slice."""
    (published,) = scenario.client.list("ResourceSlice", field_selector=f"spec.driver={driver.name}")[0]
    return published


def published_anew(scenario: Scenario, driver: Driver, old: Object) -> None:
    """The driver has one slice, and it is another one than before."""
    uid = old["metadata"]["uid"]
    another = Predicate[Object](f"not the slice {uid}", lambda found: found["metadata"]["uid"] != uid)
    scenario.waiter.wait_any("ResourceSlice", all_of(another, 1), BOOT, field_selector=f"spec.driver={driver.name}")


@pytest.mark.statement("XD-85")
def test_pod_has_its_device_again_after_the_node_lost_its_power(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2))
    wanted = gpu_claim(scenario, driver, "kept")
    policy = "Never" if difference("the Pod's containers are not to be started again") else "Always"
    made = user(scenario, wanted, restart_policy=policy)
    held = held_by(scenario, wanted)
    before = len(driver.control.calls)

    power_off(scenario)
    machines(scenario).power_on(scenario.node)

    again = scenario.wait(made, started_again(made) & running(), timeout=BOOT)
    driver.control.wait_for_call(lambda call: (call.method, call.result) == (PREPARE, "ok"), timeout=BOOT, after=before)
    assert scenario.get(held)["status"] == held["status"]
    assert seen(scenario, again) == due(scenario, driver, again, held)


@pytest.mark.control("XD-85")
def test_pod_that_is_not_to_be_started_again_gives_its_device_back(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2))
    wanted = gpu_claim(scenario, driver, "kept")
    made = user(scenario, wanted, restart_policy="Never")

    power_off(scenario)
    machines(scenario).power_on(scenario.node)

    scenario.wait(made, failed(), timeout=BOOT)
    scenario.wait(wanted, unallocated(), timeout=BOOT)


@pytest.mark.statement("XD-86")
def test_node_that_registers_anew_has_its_devices_again(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    wanted = gpu_claim(scenario, driver, "wanted")
    made = user(scenario, wanted)
    old, published = node_of(scenario), slice_of(scenario, driver)

    power_off(scenario)
    if not difference("the Node is not deleted"):
        scenario.client.delete(old)
        scenario.wait(made, gone(), timeout=ORPHANED)
        scenario.wait(wanted, unallocated())
    machines(scenario).power_on(scenario.node)

    new = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": scenario.node}}
    node = scenario.wait(new, ready(), timeout=BOOT)
    assert node["metadata"]["uid"] != old["metadata"]["uid"]
    published_anew(scenario, driver, published)
    later = gpu_claim(scenario, driver, "later")
    # The slice is there before the new kubelet has taken the driver.
    user_of_later = user(scenario, later, "later", timeout=BOOT)
    assert seen(scenario, user_of_later) == due(scenario, driver, user_of_later, held_by(scenario, later))


@pytest.mark.control("XD-86")
def test_node_that_stays_keeps_its_pods_and_their_claims(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    wanted = gpu_claim(scenario, driver, "wanted")
    made = user(scenario, wanted, restart_policy="Always")
    held, old = held_by(scenario, wanted), node_of(scenario)

    power_off(scenario)
    machines(scenario).power_on(scenario.node)

    scenario.wait(made, started_again(made), timeout=BOOT)
    assert node_of(scenario)["metadata"]["uid"] == old["metadata"]["uid"]
    assert scenario.get(held)["status"] == held["status"]
