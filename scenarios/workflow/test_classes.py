"""Who makes DeviceClasses, and what they bound (WF-02 to WF-04)."""

import pytest

from fake_driver.inventory import Pool
from fake_driver.profiles import gpus, small_gpus
from harness.kube import ApiError, Client
from harness.kube.builders import claim, device_class, pod, request
from harness.kube.predicates import AllocatedDevice, allocated, allocated_devices, unallocated, unschedulable
from harness.kube.rights import may
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario


def take(scenario: Scenario, device_class: str, name: str, count: int = 1) -> list[AllocatedDevice]:
    """The devices that a new Pod's claim for that many of the class is given."""
    wanted, _ = ask(scenario, device_class, name, count)
    return allocated_devices(scenario.wait(wanted, allocated(), timeout=10))


def ask(scenario: Scenario, device_class: str, name: str = "wanted", count: int = 1) -> tuple[Object, Object]:
    """A claim for that many devices of the class, and its Pod."""
    wanted = scenario.create(claim(name, request(device_class, count=count)))
    return wanted, scenario.create(pod(name, claims={"gpu": wanted}))


@pytest.mark.statement("WF-02")
def test_class_that_ships_with_a_driver_gives_its_devices_only(scenario: Scenario, difference: Difference) -> None:
    without = difference("the drivers ship no class, and nobody else makes one")
    drivers = [scenario.driver(gpus(1), plugin=False, device_class=not without) for _ in range(2)]

    for number, driver in enumerate(drivers):
        assert [taken.driver for taken in take(scenario, driver.device_class, f"claim-{number}")] == [driver.name]


@pytest.mark.control("WF-02")
def test_claim_waits_for_the_class_that_nobody_made(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1), plugin=False, device_class=False)
    wanted, waiter = ask(scenario, driver.device_class)

    scenario.wait(waiter, unschedulable(f"device class {driver.device_class} does not exist"))

    scenario.wait(wanted, unallocated())


@pytest.mark.statement("WF-03")
def test_administrator_can_make_a_class_for_an_installed_driver(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(2), plugin=False)
    administrator = scenario.client.as_user("administrator", group="system:masters")
    if difference("the identity has no rights beyond those of every user"):
        administrator = scenario.client.as_user("administrator")

    own = administrator.create(device_class(f"{scenario.namespace}-own", driver=driver.name))
    scenario.on_exit(lambda: scenario.client.delete(own, missing_ok=True))

    shipped = take(scenario, driver.device_class, "of-the-driver")
    made = take(scenario, own["metadata"]["name"], "of-the-administrator")
    assert {taken.driver for taken in shipped + made} == {driver.name}
    assert shipped != made


def may_create_claims(user: Client) -> bool:
    """Whether the API server lets the user create ResourceClaims in the client's namespace."""
    return may(user, "create", "resourceclaims", group="resource.k8s.io", namespace=user.namespace)


@pytest.mark.control("WF-03")
def test_owner_of_a_namespace_cannot_make_a_class(scenario: Scenario) -> None:
    group = "rbac.authorization.k8s.io"
    scenario.create(
        {
            "kind": "RoleBinding",
            "metadata": {"name": "owner"},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"apiGroup": group, "kind": "User", "name": "owner"}],
        }
    )
    owner = scenario.client.as_user("owner")
    scenario.waiter.poll(lambda: may_create_claims(owner), bool, "the owner may create claims in the namespace")
    owner.create(claim("own", request("any-class")))

    with pytest.raises(ApiError) as refused:
        owner.create(device_class(f"{scenario.namespace}-own", driver="gpu.example.com"))

    assert refused.value.status == 403


def two_models() -> Pool:
    """Two data-centre GPUs, then two small ones, in one pool."""
    return Pool(devices=(*gpus(2).devices, *small_gpus(2).devices))


def class_of_model(scenario: Scenario, driver: str, model: str) -> str:
    """The name of a new class of the driver's devices of one model."""
    name = f"{scenario.namespace}-{model.lower()}"
    scenario.create(device_class(name, driver, selectors=[f"device.attributes['{driver}'].model == '{model}'"]))
    return name


@pytest.mark.statement("WF-04")
def test_devices_of_a_claim_are_always_inside_its_class(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(two_models(), plugin=False)
    small = "No-such-model" if difference("no published device matches the class") else "Small-24G"

    inside_small = take(scenario, class_of_model(scenario, driver.name, small), "small", count=2)
    inside_large = take(scenario, class_of_model(scenario, driver.name, "DC-80G"), "large", count=2)

    assert [taken.device for taken in inside_small] == ["small-0", "small-1"]
    assert [taken.device for taken in inside_large] == ["gpu-0", "gpu-1"]


@pytest.mark.control("WF-04")
def test_class_that_matches_no_device_serves_no_claim(scenario: Scenario) -> None:
    driver = scenario.driver(two_models(), plugin=False)
    wanted, waiter = ask(scenario, class_of_model(scenario, driver.name, "No-such-model"))

    scenario.wait(waiter, unschedulable("cannot allocate all claims"))

    scenario.wait(wanted, unallocated())
