"""Resources of the whole Pod must cover what its containers ask for and what its claims bring (NA-06 to NA-08)."""

from typing import Any

import pytest

from fake_driver.inventory import Pool
from fake_driver.profiles import cpu_sockets, hugepages, memory_blocks
from harness.kube.builders import container
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.node_allocatable.arrange import (
    Consumer,
    allocatable,
    amount,
    bound,
    consumed,
    consumer,
    demand,
    driver_on,
    footprint,
    large_node,
    left_out,
    requested,
    room_is,
)

pytestmark = pytest.mark.needs("bare-nodes")
limits_known = pytest.mark.feature("ResourceSlice.spec.devices.nodeAllocatableResources")

PAGES = "hugepages-2Mi"

#: Of a Pod with some resources for the whole, the API server fills in the request for those that only containers have.
FILLED_IN = pytest.mark.feature("Pod.spec.resources.requests.filled-in-for-what-containers-request")

#: A pool, its resource, and a unit of it.
RESOURCES = [
    pytest.param(cpu_sockets(1), "cpu", "", id="cpu"),
    pytest.param(memory_blocks(1), "memory", "Gi", id="memory"),
]

REQUEST_TOO_SMALL = (
    "pod level request for {} is insufficient to cover the aggregated container and node-allocatable DRA requests"
)
LIMIT_TOO_SMALL = "pod level limit for {} is insufficient to cover the limit and DRA overhead for container {}"


def drawing(scenario: Scenario, pool: Pool, wanted: str, **options: Any) -> Consumer:
    """A Pod with a claim for so much of the pool's devices, on a node of its own."""
    node = large_node(scenario, more={PAGES: "1Gi"})
    (capacity,) = pool.devices[0].capacity
    return consumer(scenario, driver_on(scenario, node, pool), node, capacity={capacity: wanted}, **options)


def whole(resource: str, request: str, limit: str | None = None) -> dict[str, Any]:
    """Resources of the whole Pod."""
    return {"requests": {resource: request}} | ({"limits": {resource: limit}} if limit else {})


@pytest.mark.statement("NA-06", "NA-07")
@pytest.mark.parametrize(("pool", "resource", "unit"), RESOURCES)
def test_sum_of_containers_and_claims_is_above_the_request_of_the_pod(
    scenario: Scenario, difference: Difference, pool: Pool, resource: str, unit: str
) -> None:
    covers = difference("the Pod requests the sum")

    made = drawing(
        scenario,
        pool,
        f"3{unit}",
        pod_resources=whole(resource, f"{5 if covers else 4}{unit}"),
        requests={resource: f"2{unit}"},
    )

    left_out(scenario, made.pod, REQUEST_TOO_SMALL.format(resource))


@pytest.mark.control("NA-07")
@pytest.mark.parametrize(("pool", "resource", "unit"), RESOURCES)
def test_request_of_the_pod_that_is_the_very_sum_is_enough(
    scenario: Scenario, pool: Pool, resource: str, unit: str
) -> None:
    made = bound(
        scenario,
        drawing(
            scenario,
            pool,
            f"3{unit}",
            pod_resources=whole(resource, f"5{unit}"),
            requests={resource: f"2{unit}"},
        ),
    )

    request = amount(made.pod["spec"]["resources"]["requests"][resource])
    assert request == requested(made.pod)[resource] + consumed(made.claim, resource)
    # The Pod's request is all that it is charged: what the claim brings is within it.
    node = made.pod["spec"]["nodeName"]
    room_is(scenario, node, resource, allocatable(scenario, node, resource) - request)


@pytest.mark.statement("NA-07")
def test_huge_pages_of_containers_and_claims_are_above_those_of_the_pod(
    scenario: Scenario, difference: Difference
) -> None:
    covers = difference("the Pod has the sum")
    pages = {PAGES: "10Mi" if covers else "8Mi"}

    made = drawing(
        scenario,
        hugepages(),
        "6Mi",
        pod_resources={"requests": {"memory": "1Gi", **pages}, "limits": {"memory": "1Gi", **pages}},
        requests={"memory": "1Mi", PAGES: "4Mi"},
        limits={PAGES: "4Mi"},
    )

    left_out(scenario, made.pod, REQUEST_TOO_SMALL.format(PAGES))


@pytest.mark.statement("NA-07")
@pytest.mark.parametrize("given", ["only limits", pytest.param("only memory", marks=FILLED_IN)])
def test_request_that_the_api_filled_in_leaves_no_room_for_a_claim(
    scenario: Scenario, difference: Difference, given: str
) -> None:
    level = {"only limits": {"limits": {"cpu": "8"}}, "only memory": whole("memory", "1Gi")}[given]
    # Without a request of a container the API server fills in the limit of the Pod, or nothing at all.
    requests = None if difference("no container requests cpu") else {"cpu": "2"}

    made = drawing(scenario, cpu_sockets(1), "3", pod_resources=level, requests=requests)

    filled_in = made.pod["spec"]["resources"]["requests"].get("cpu")
    assert filled_in == "2", f"the Pod's own request is {filled_in}"
    left_out(scenario, made.pod, REQUEST_TOO_SMALL.format("cpu"))


@limits_known
@pytest.mark.statement("NA-06", "NA-08")
@pytest.mark.parametrize(("pool", "resource", "unit"), RESOURCES)
def test_limit_of_a_container_and_its_claim_are_above_the_limit_of_the_pod(
    scenario: Scenario, difference: Difference, pool: Pool, resource: str, unit: str
) -> None:
    limit = f"{1 if difference('the limit of the container leaves room for its claim') else 2}{unit}"

    made = drawing(
        scenario,
        pool,
        f"3{unit}",
        pod_resources=whole(resource, f"4{unit}", f"4{unit}"),
        requests={resource: f"1{unit}"},
        limits={resource: limit},
    )

    left_out(scenario, made.pod, LIMIT_TOO_SMALL.format(resource, "main"))


@limits_known
@pytest.mark.control("NA-08")
@pytest.mark.parametrize(
    "containers",
    [
        pytest.param([("1", True)], id="equal"),
        pytest.param([("1", True), ("1", True)], id="above-in-sum"),
        pytest.param([(None, True)], id="no-limit"),
        pytest.param([("2", False), ("1", True)], id="not-using"),
    ],
)
def test_each_container_by_itself_is_within_the_limit_of_the_pod(
    scenario: Scenario, containers: list[tuple[str | None, bool]]
) -> None:
    made = bound(
        scenario,
        drawing(
            scenario,
            cpu_sockets(1),
            "3",
            pod_resources=whole("cpu", "4", "4"),
            containers=[
                container(
                    f"c{at}",
                    claims=["device"] if uses else [],
                    requests={"cpu": "500m"},
                    limits={"cpu": limit} if limit else None,
                )
                for at, (limit, uses) in enumerate(containers)
            ],
        ),
    )

    assert demand(made.pod) == {"cpu": consumed(made.claim, "cpu")}
    assert len(footprint(made.pod)[0]["containers"]) == sum(uses for _, uses in containers)


@pytest.mark.control("NA-06")
@pytest.mark.parametrize(("pool", "resource", "unit"), RESOURCES)
def test_without_resources_of_the_pod_only_the_node_must_have_room(
    scenario: Scenario, pool: Pool, resource: str, unit: str
) -> None:
    made = bound(
        scenario,
        drawing(scenario, pool, f"3{unit}", requests={resource: f"2{unit}"}, limits={resource: f"2{unit}"}),
    )

    assert "resources" not in made.pod["spec"]
    node, need = made.pod["spec"]["nodeName"], requested(made.pod)[resource] + consumed(made.claim, resource)
    room_is(scenario, node, resource, allocatable(scenario, node, resource) - need)
