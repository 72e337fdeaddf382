"""What a mark takes out of use: a whole node, or one device (TA-01 to TA-04)."""

import pytest

from fake_driver.inventory import Pool
from fake_driver.profiles import gpus
from harness.clusters.protocol import BareNode
from harness.drivers import Driver
from harness.kube.builders import claim_template, device_toleration, request
from harness.kube.predicates import allocated_devices, scheduled, unschedulable
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.gang.arrange import Gang, gang_of, none_placed, placed
from scenarios.taint.arrange import BROKEN, consumer, tainted
from scenarios.taint.outcomes import device_of, kept_off
from scenarios.taint.seen import slices_seen

NODE_TAINT = {"key": "example.com/broken-gpu", "effect": "NoSchedule"}
GPUS = 8


def driver_on_bare_node(scenario: Scenario, pool: Pool, *node_taints: dict[str, str]) -> Driver:
    """A driver with a pool on a node that only this scenario uses, and that has these taints."""
    (node,) = scenario.bare_nodes(BareNode("gpus", taints=node_taints))
    return scenario.driver(pool, nodes=[node], plugin=False)


@pytest.mark.statement("TA-01")
@pytest.mark.needs("bare-nodes")
def test_node_taint_takes_the_healthy_gpus_out_as_well(scenario: Scenario, difference: Difference) -> None:
    if difference("the broken GPU is tainted in place of the node"):
        driver = driver_on_bare_node(scenario, tainted(gpus(GPUS), "gpu-3", BROKEN))
    else:
        driver = driver_on_bare_node(scenario, gpus(GPUS), NODE_TAINT)

    waiter = consumer(scenario, driver, "waiter", gpu=0).pod

    outcome = scenario.wait(waiter, unschedulable("untolerated taint") | scheduled())
    assert not scheduled()(outcome), "the Pod was placed in spite of the node's taint"


@pytest.mark.control("TA-01")
@pytest.mark.control("TA-02")
@pytest.mark.needs("bare-nodes")
def test_device_taint_leaves_the_healthy_gpus(scenario: Scenario) -> None:
    driver = driver_on_bare_node(scenario, tainted(gpus(GPUS), "gpu-3", BROKEN))
    healthy = [consumer(scenario, driver, f"user-{index}") for index in range(GPUS - 1)]
    assert "gpu-3" not in {device_of(scenario, user) for user in healthy}
    last = consumer(scenario, driver, "last")
    kept_off(scenario, last.pod)

    driver.control.update_device(driver.control.pools[0].name, "gpu-3", taints=())

    assert device_of(scenario, last) == "gpu-3"


@pytest.mark.statement("TA-02")
@pytest.mark.needs("bare-nodes")
def test_all_gpus_but_the_tainted_one_are_given_out(scenario: Scenario, difference: Difference) -> None:
    taints = () if difference("the taint is removed") else (BROKEN,)
    driver = driver_on_bare_node(scenario, tainted(gpus(GPUS), "gpu-3", *taints))

    users = [consumer(scenario, driver, f"user-{index}") for index in range(GPUS - 1)]

    assert {device_of(scenario, user) for user in users} == {f"gpu-{index}" for index in range(GPUS) if index != 3}
    kept_off(scenario, consumer(scenario, driver, "one-too-many").pod)


def training(scenario: Scenario, driver: Driver, minimum: int) -> Gang:
    """A group of as many Pods as there are GPUs, each wanting one, with that minCount."""
    template = scenario.create(claim_template("gpu", request(driver.device_class)))
    return gang_of(scenario, "training", min_count=minimum, count=GPUS, templates={"gpu": template})


@pytest.mark.statement("TA-03")
@pytest.mark.needs("bare-nodes")
def test_taint_chooses_the_gpus_and_the_gang_how_many_pods_go_up(scenario: Scenario, difference: Difference) -> None:
    taints = () if difference("no GPU is tainted") else (BROKEN,)
    driver = driver_on_bare_node(scenario, tainted(gpus(GPUS), "gpu-3", *taints))
    slices_seen(scenario)

    made = training(scenario, driver, minimum=GPUS)

    none_placed(scenario, made, could=GPUS - 1, of=GPUS)


@pytest.mark.statement("TA-03")
@pytest.mark.needs("bare-nodes")
def test_gang_that_needs_one_less_goes_up_without_the_tainted_gpu(scenario: Scenario, difference: Difference) -> None:
    minimum = GPUS if difference("the gang needs all GPUs") else GPUS - 1
    driver = driver_on_bare_node(scenario, tainted(gpus(GPUS), "gpu-3", BROKEN))
    slices_seen(scenario)

    placed(scenario, training(scenario, driver, minimum), GPUS - 1)

    claims, _ = scenario.client.list("ResourceClaim")
    given = {gpu.device for each in claims for gpu in allocated_devices(each) if gpu.driver == driver.name}
    assert given == {f"gpu-{index}" for index in range(GPUS) if index != 3}


@pytest.mark.control("TA-03")
@pytest.mark.needs("bare-nodes")
def test_whole_gang_goes_up_when_no_gpu_is_tainted(scenario: Scenario) -> None:
    driver = driver_on_bare_node(scenario, gpus(GPUS))

    placed(scenario, training(scenario, driver, minimum=GPUS))


@pytest.mark.statement("TA-04")
def test_only_the_claim_that_tolerates_the_taint_gets_the_device(scenario: Scenario, difference: Difference) -> None:
    taints = () if difference("the device has no taint") else (BROKEN,)
    driver = scenario.driver(tainted(gpus(1), "gpu-0", *taints), plugin=False)
    slices_seen(scenario)

    kept_off(scenario, consumer(scenario, driver, "plain").pod)
    tolerating = [device_toleration(BROKEN.key, value=BROKEN.value, effect="NoSchedule")]
    assert device_of(scenario, consumer(scenario, driver, "tolerating", tolerations=tolerating)) == "gpu-0"


@pytest.mark.control("TA-04")
def test_both_claims_get_a_device_when_none_is_tainted(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2), plugin=False)
    tolerating = [device_toleration(BROKEN.key, value=BROKEN.value, effect="NoSchedule")]

    users = [
        consumer(scenario, driver, "plain"),
        consumer(scenario, driver, "tolerating", tolerations=tolerating),
    ]

    assert {device_of(scenario, user) for user in users} == {"gpu-0", "gpu-1"}
