"""What the kernel is told of demand through claims, and what comes of it (NA-31, NA-32)."""

from decimal import Decimal

import pytest

from fake_driver.inventory import Device, Pool, by_capacity, overhead
from harness.drivers import Driver
from harness.kube.builders import claim, container, pod, request
from harness.kube.predicates import failed, running, succeeded
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.node_allocatable.arrange import FEATURE, amount, footprint, without_footprint
from scenarios.node_allocatable.cgroups import weights
from scenarios.node_allocatable.observer import Observer, oom_score_adj
from scenarios.node_allocatable.published import selecting

pytestmark = [
    pytest.mark.needs("kubelet", "container", "cgroup"),
    pytest.mark.feature("ResourceSlice.spec.devices.nodeAllocatableResources"),
]

#: What a container asks for itself, and what the Pod has through its claim.
REQUESTS = {"cpu": "100m", "memory": "64Mi"}
LIMITS = {"cpu": "200m", "memory": "64Mi"}
DRAWN = {"cores": "300m", "bytes": "192Mi"}


def host_part() -> Pool:
    """A device that claims draw CPUs and memory from, and that costs memory besides."""
    device = Device(
        "part",
        capacity={"cores": "2", "bytes": "2Gi"},
        allow_multiple_allocations=True,
        node_allocatable_resources={
            "cpu": by_capacity("cores"),
            "memory": by_capacity("bytes") | overhead("16Mi", "8Mi"),
        },
    )
    return Pool(devices=[device])


def driver_of(scenario: Scenario, *, counted: bool = True) -> Driver:
    """A driver of such a device, which takes nothing of the node unless `counted`."""
    return scenario.driver(host_part() if counted else without_footprint(host_part()))


def runs(scenario: Scenario, driver: Driver, *containers: Object, name: str = "user") -> Object:
    """A running Pod with a claim, called `device`, for a part of the host."""
    wanted = scenario.create(claim(name, request(driver.device_class, capacity=DRAWN)))
    made = pod(name, claims={"device": wanted}, on=scenario.node, containers=containers)
    return scenario.wait(scenario.create(made), running())


def part(of: Object, resource: str) -> tuple[Decimal, Decimal, Decimal]:
    """What the one claim of a Pod brings of a resource: mapped, per Pod, per container, as its status says."""
    (entry,) = footprint(of) or [{}]
    mapped = sum((amount(own["quantity"]) for own in entry.get("mapping", ()) if own["name"] == resource), Decimal(0))
    costs = [cost for cost in entry.get("overhead", ()) if cost["name"] == resource] or [{}]
    return mapped, amount(costs[0].get("perPod", "0")), amount(costs[0].get("perContainer", "0"))


@pytest.mark.statement("NA-31")
def test_control_groups_have_what_the_claim_brings(scenario: Scenario, difference: Difference) -> None:
    driver = driver_of(scenario, counted=not difference("the devices take nothing of the node"))
    limited = [container(name, claims=["device"], requests=REQUESTS, limits=LIMITS) for name in ("one", "two")]

    made = runs(scenario, driver, *limited)

    observer = Observer.on(scenario, made["spec"]["nodeName"])
    (cpus, *_), (memory, per_pod, per_container) = part(made, "cpu"), part(made, "memory")
    assert cpus == amount(DRAWN["cores"])
    assert (memory, per_pod, per_container) == (amount("192Mi"), amount("16Mi"), amount("8Mi"))
    for name in ("one", "two"):
        group = observer.of_container(made, name)
        assert group.cpus == amount(LIMITS["cpu"]) + cpus
        assert group.memory == amount(LIMITS["memory"]) + memory + per_pod + per_container
        assert group.weight in weights(amount(REQUESTS["cpu"]), group.version)
    whole = observer.of_pod(made)
    assert whole.cpus == 2 * amount(LIMITS["cpu"]) + cpus
    assert whole.memory == 2 * amount(LIMITS["memory"]) + memory + per_pod + 2 * per_container
    assert whole.weight in weights(2 * amount(REQUESTS["cpu"]) + cpus, whole.version)
    scenario.note(f"control groups of version {whole.version}")


@pytest.mark.control("NA-31")
def test_container_without_a_limit_gets_none_from_its_claim(scenario: Scenario) -> None:
    made = runs(scenario, driver_of(scenario), container("main", claims=["device"], requests=REQUESTS))

    group = Observer.on(scenario, made["spec"]["nodeName"]).of_container(made)

    assert (group.cpus, group.memory) == (None, None)


def fills(scenario: Scenario, driver: Driver, size: str) -> Object:
    """A Pod, limited to 64Mi and with a claim, whose container holds so much memory at once and then ends."""
    # `tail` has to keep what could be the last line: all of it.
    command = ["sh", "-c", f"head -c {int(amount(size))} /dev/zero | tail > /dev/null"]
    wanted = scenario.create(claim("user", request(driver.device_class, capacity=DRAWN)))
    main = container(claims=["device"], requests=REQUESTS, limits=LIMITS, command=command)
    made = scenario.create(pod("user", claims={"device": wanted}, on=scenario.node, containers=[main]))
    return scenario.wait(made, succeeded() | failed(), timeout=60)


@pytest.mark.statement("NA-31")
def test_memory_of_the_claim_can_be_used(scenario: Scenario, difference: Difference) -> None:
    driver = driver_of(scenario, counted=not difference("the devices take nothing of the node"))

    ended = fills(scenario, driver, "160Mi")

    assert succeeded()(ended), f"the container did not live: {ended['status']['containerStatuses'][0]['state']}"


@pytest.mark.control("NA-31")
@pytest.mark.parametrize(("counted", "size"), [(True, "512Mi"), (False, "160Mi")], ids=["beyond", "uncounted"])
def test_container_that_goes_beyond_is_killed(scenario: Scenario, counted: bool, size: str) -> None:
    ended = fills(scenario, driver_of(scenario, counted=counted), size)

    (status,) = ended["status"]["containerStatuses"]
    assert failed()(ended)
    assert status["state"]["terminated"]["exitCode"] == 137


def computed(scenario: Scenario, of: Object, users: int) -> int:
    """`oom_score_adj` of a container that requests `REQUESTS` and is one of so many that use the claim."""
    mapped, per_pod, per_container = part(of, "memory")
    need = amount(REQUESTS["memory"]) + (mapped // users + per_pod // users + per_container if users else 0)
    node = scenario.client.get("Node", of["spec"]["nodeName"])
    score = 1000 - int(1000 * need // amount(node["status"]["capacity"]["memory"]))
    return min(max(score, 3), 999)  # a burstable Pod's place is between the others


@pytest.mark.statement("NA-32")
@pytest.mark.parametrize("users", [1, 2])
def test_memory_of_the_claim_counts_in_the_oom_score(scenario: Scenario, difference: Difference, users: int) -> None:
    driver = driver_of(scenario, counted=not difference("the devices take nothing of the node"))
    names = [f"user{index}" for index in range(users)]
    using = [container(name, claims=["device"], requests=REQUESTS) for name in names]

    made = runs(scenario, driver, *using, container("plain", requests=REQUESTS))

    assert footprint(made), "the Pod has nothing through its claim"
    assert [oom_score_adj(scenario, made, name) for name in names] == [computed(scenario, made, users)] * users
    assert oom_score_adj(scenario, made, "plain") == computed(scenario, made, 0)


@pytest.mark.control("NA-32")
def test_claim_for_devices_that_take_nothing_does_not_count_in_the_oom_score(scenario: Scenario) -> None:
    using = container("user", claims=["device"], requests=REQUESTS)

    made = runs(scenario, driver_of(scenario, counted=False), using, container("plain", requests=REQUESTS))

    scores = {oom_score_adj(scenario, made, name) for name in ("user", "plain")}
    assert scores == {computed(scenario, made, 0)}


@pytest.mark.control("NA-31", "NA-32")
@pytest.mark.exclusive("cluster")  # a kubelet is restarted
@pytest.mark.needs("restart")
def test_kubelet_with_the_gate_off_tells_the_kernel_nothing(scenario: Scenario) -> None:
    driver = scenario.driver(Pool(name="part", devices=host_part().devices, node_selector=selecting(scenario.node)))
    scenario.cluster.restart("kubelet", scenario.node, gates={FEATURE: False})
    driver.registered()

    made = runs(scenario, driver, container("main", claims=["device"], requests=REQUESTS, limits=LIMITS))

    assert footprint(made), "the scheduler has told nothing"
    group = Observer.on(scenario, made["spec"]["nodeName"]).of_container(made)
    assert group.cpus == amount(LIMITS["cpu"])
    assert group.memory == amount(LIMITS["memory"])
    assert oom_score_adj(scenario, made) == computed(scenario, made, 0)
