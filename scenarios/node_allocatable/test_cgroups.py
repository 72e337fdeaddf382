"""What the kernel holds containers to that have resources through a claim, before and after a resize (NA-09, NA-12)."""

from decimal import Decimal

import pytest

from fake_driver.inventory import Device, Pool, by_capacity
from harness.drivers import Driver
from harness.kube.builders import claim, container, pod, request
from harness.kube.predicates import running
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.node_allocatable.arrange import amount, consumed, footprint
from scenarios.node_allocatable.cgroups import ControlGroup, weights
from scenarios.node_allocatable.observer import Observer

pytestmark = [
    pytest.mark.needs("kubelet", "container", "cgroup"),
    pytest.mark.feature("ResourceSlice.spec.devices.nodeAllocatableResources"),
]

#: A device that claims draw CPUs and memory from.
HOST_PART = Pool(
    devices=[
        Device(
            "part",
            capacity={"cores": "2", "bytes": "1Gi"},
            allow_multiple_allocations=True,
            node_allocatable_resources={"cpu": by_capacity("cores"), "memory": by_capacity("bytes")},
        )
    ]
)

LIMITS = {"cpu": "200m", "memory": "128Mi"}


def two_containers(scenario: Scenario, driver: Driver) -> tuple[Object, Object]:
    """A running Pod of which one container, `user`, uses the claim and the other, `plain`, does not; and the claim."""
    drawn = request(driver.device_class, capacity={"cores": "500m", "bytes": "256Mi"})
    wanted = scenario.create(claim("part", drawn))
    containers = [
        container(name, claims=uses, requests={"cpu": "100m", "memory": "64Mi"}, limits=LIMITS)
        for name, uses in (("user", ["device"]), ("plain", []))
    ]
    made = pod("consumer", claims={"device": wanted}, on=scenario.node, containers=containers)
    return scenario.wait(scenario.create(made), running()), scenario.get(wanted)


def limit(of: Object, container: str, resource: str) -> Decimal:
    """The limit of a container in the Pod's spec."""
    (found,) = [entry for entry in of["spec"]["containers"] if entry["name"] == container]
    return amount(found["resources"]["limits"][resource])


def has_limits(group: ControlGroup, cpus: Decimal, memory: Decimal) -> None:
    """The control group has just these limits."""
    assert (group.cpus, group.memory) == (cpus, int(memory))


@pytest.mark.statement("NA-09")
def test_container_may_use_its_limits_and_what_its_claim_brings(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(HOST_PART)
    made, held = two_containers(scenario, driver)
    observer = Observer.on(scenario, made["spec"]["nodeName"])

    name = "plain" if difference("the container does not use the claim") else "user"
    group = observer.of_container(made, name)

    scenario.note(f"control groups of version {group.version}")
    cpus, memory = consumed(held, "cores"), consumed(held, "bytes")
    has_limits(group, limit(made, name, "cpu") + cpus, limit(made, name, "memory") + memory)
    whole = [sum((limit(made, each, resource) for each in ("user", "plain")), Decimal(0)) for resource in LIMITS]
    pod_group = observer.of_pod(made)
    has_limits(pod_group, whole[0] + cpus, whole[1] + memory)
    assert pod_group.weight in weights(2 * Decimal("0.1") + cpus, pod_group.version)


@pytest.mark.control("NA-09")
def test_container_that_does_not_use_the_claim_has_only_its_own_limits(scenario: Scenario) -> None:
    made, _ = two_containers(scenario, scenario.driver(HOST_PART))
    observer = Observer.on(scenario, made["spec"]["nodeName"])

    group = observer.of_container(made, "plain")

    has_limits(group, limit(made, "plain", "cpu"), limit(made, "plain", "memory"))


@pytest.mark.statement("NA-12")
def test_resize_changes_the_limits_and_keeps_what_the_claim_brings(scenario: Scenario, difference: Difference) -> None:
    made, held = two_containers(scenario, scenario.driver(HOST_PART))
    observer = Observer.on(scenario, made["spec"]["nodeName"])
    resources = (
        made["spec"]["containers"][0]["resources"]["limits"]
        if difference("the limits stay as they are")
        else {
            "cpu": "300m",
            "memory": "192Mi",
        }
    )
    patch = {"spec": {"containers": [{"name": "user", "resources": {"limits": resources}}]}}

    scenario.client.patch(made, patch, type="strategic", subresource="resize")

    cpus, memory = amount("300m") + consumed(held, "cores"), amount("192Mi") + consumed(held, "bytes")
    scenario.waiter.poll(
        lambda: observer.of_container(made, "user"),
        lambda group: (group.cpus, group.memory) == (cpus, int(memory)),
        f"the container may use {cpus} CPUs and {memory} bytes",
    )
    now = scenario.get(made)
    (before, after) = ({found["name"]: found for found in each["status"]["containerStatuses"]} for each in (made, now))
    assert after["user"]["containerID"] == before["user"]["containerID"]
    assert scenario.get(held)["status"]["allocation"] == held["status"]["allocation"]
    assert footprint(now) == footprint(made) != []


@pytest.mark.control("NA-12")
def test_without_a_resize_the_limits_stay(scenario: Scenario) -> None:
    made, held = two_containers(scenario, scenario.driver(HOST_PART))
    observer = Observer.on(scenario, made["spec"]["nodeName"])

    group = observer.of_container(made, "user")

    cpus, memory = consumed(held, "cores"), consumed(held, "bytes")
    has_limits(group, limit(made, "user", "cpu") + cpus, limit(made, "user", "memory") + memory)
