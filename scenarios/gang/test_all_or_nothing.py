"""All or nothing on devices, and several gangs for the same ones (XD-20, XD-21)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from fake_driver.inventory import Pool
from fake_driver.profiles import gpus
from harness.drivers import Driver
from harness.kube.builders import claim, claim_template, gang, pod, pod_group, request
from harness.kube.predicates import (
    all_of,
    count_of,
    scheduled,
    unallocated,
    unreserved,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.gang.arrange import JOB, Gang, bound, holds_of, member, none_placed, says_placed, short_of_room, told
from scenarios.taint.arrange import BROKEN, tainted
from scenarios.taint.seen import slices_seen

pytestmark = pytest.mark.needs("kubelet")

TAINTED = tainted(gpus(4), "gpu-3", BROKEN)


def with_gpus(scenario: Scenario, driver: Driver, group: Object, count: int) -> Gang:
    """Pods of the group with a GPU each."""
    name = group["metadata"]["name"]
    template = scenario.create(claim_template(name, request(driver.device_class)))
    pods = [member(scenario, name, number, group=group, templates={"gpu": template}) for number in range(count)]
    return Gang(group, pods)


def new_slice(_: Scenario, driver: Driver) -> None:
    """The driver publishes a fourth GPU."""
    (pool,) = driver.control.pools
    driver.control.add_device(pool.name, gpus(4).devices[3])


def no_taint(_: Scenario, driver: Driver) -> None:
    """The driver takes the taint off the fourth GPU."""
    (pool,) = driver.control.pools
    driver.control.update_device(pool.name, "gpu-3", taints=())


def other_gone(scenario: Scenario, _: Driver) -> None:
    """The Pod that has the fourth GPU leaves it, and its claim is free."""
    scenario.delete({"kind": "Pod", "metadata": {"name": "other"}})
    scenario.wait({"kind": "ResourceClaim", "metadata": {"name": "other"}}, unallocated())


@pytest.mark.parametrize(
    ("pool", "appears"),
    [(gpus(3), new_slice), (TAINTED, no_taint), (gpus(4), other_gone)],
    ids=["published", "taint-removed", "left-by-another-pod"],
)
@pytest.mark.statement("XD-20")
def test_gang_holds_no_device_until_there_is_one_for_each(
    scenario: Scenario, difference: Difference, pool: Pool, appears: Callable[[Scenario, Driver], None]
) -> None:
    """AI conformance, negative and positive: no device for a gang that is not placed, one each for one that is."""
    driver = scenario.driver(pool, plugin=False)
    slices_seen(scenario)
    if appears is other_gone:
        own = scenario.create(claim("other", request(driver.device_class)))
        scenario.wait(scenario.create(pod("other", claims={"gpu": own})), scheduled())
    if difference("the fourth GPU is there from the start"):
        appears(scenario, driver)
        slices_seen(scenario)
    group = scenario.create(pod_group("workers", gang(4)))

    made = with_gpus(scenario, driver, group, 4)

    none_placed(scenario, made, could=3, of=4)
    own_claims, _ = scenario.client.list("ResourceClaim")
    of_gang = [each for each in own_claims if each["metadata"]["name"].startswith("workers-")]
    assert all_of(unallocated() & unreserved(), 4)(of_gang)

    appears(scenario, driver)

    says_placed(scenario, group)
    bound(scenario, "workers", 4)
    scenario.waiter.wait_any("ResourceClaim", count_of(holds_of(driver), 4))


@pytest.mark.control("XD-20")
def test_gang_holds_all_devices_when_there_is_one_for_each(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(4), plugin=False)
    slices_seen(scenario)
    group = scenario.create(pod_group("workers", gang(4)))

    with_gpus(scenario, driver, group, 4)

    says_placed(scenario, group)
    bound(scenario, "workers", 4)
    scenario.waiter.wait_any("ResourceClaim", count_of(holds_of(driver), 4))


def race(scenario: Scenario, driver: Driver, gangs: int, size: int, *, grouped: bool = True) -> dict[str, Object]:
    """So many gangs, whose Pods are created at the same time: all first ones, then all second ones, …"""
    groups = {name: scenario.create(pod_group(name, gang(size))) for name in (f"gang-{at}" for at in range(gangs))}
    template = scenario.create(claim_template("gpu", request(driver.device_class)))
    bodies = [(name, number) for number in range(size) for name in groups]
    with ThreadPoolExecutor(4) as threads:

        def create(each: tuple[str, int]) -> Object:
            name, number = each
            group = groups[name] if grouped else None
            return member(scenario, name, number, group=group, templates={"gpu": template})

        list(threads.map(create, bodies))
    return groups


def whole(scenario: Scenario, size: int) -> set[str]:
    """The jobs that are bound; all of them are so with all their Pods."""
    found, _ = scenario.client.list("Pod", label_selector=JOB)
    jobs = [each["metadata"]["labels"][JOB] for each in found if scheduled()(each)]
    parts = {job: jobs.count(job) for job in jobs if jobs.count(job) != size}
    assert not parts, f"jobs that are placed in part: {parts}"
    return set(jobs)


def enough_for(scenario: Scenario, driver: Driver, gangs: int, size: int) -> set[str]:
    """The gangs that won once as many have as there are GPUs for."""
    scenario.waiter.wait_any("Pod", count_of(scheduled(), gangs * size), label_selector=JOB)
    winners = whole(scenario, size)
    scenario.waiter.wait_any("ResourceClaim", count_of(holds_of(driver), gangs * size))
    assert len(winners) == gangs
    return winners


@pytest.mark.parametrize(("gangs", "enough"), [(2, 1), (10, 3)], ids=["two-for-one", "ten-for-three"])
@pytest.mark.statement("XD-21")
@pytest.mark.feature("scheduler.groups-in-one-turn")
def test_racing_gangs_win_whole_and_make_way_for_the_next(
    scenario: Scenario, difference: Difference, gangs: int, enough: int
) -> None:
    """AI conformance, clean-up: what a gang held is there for the next one when its Pods are gone."""
    size = 4 if gangs == 2 else 2
    driver = scenario.driver(gpus(enough * size), plugin=False)
    slices_seen(scenario)
    groups = race(scenario, driver, gangs, size, grouped=not difference("the Pods belong to no groups"))

    winners = enough_for(scenario, driver, enough, size)

    for name, group in groups.items():
        if name not in winners:
            scenario.wait(group, short_of_room(scenario, could=0, of=size))
            scenario.held(name, "resources", told(scenario, group))
    leaver = sorted(winners)[0]
    scenario.client.delete_collection("Pod", label_selector=f"{JOB}={leaver}")
    scenario.waiter.wait_any("Pod", all_of(scheduled(), 0), label_selector=f"{JOB}={leaver}")
    later = enough_for(scenario, driver, enough, size)
    assert len(later - winners) == 1
    assert winners - later == {leaver}


@pytest.mark.control("XD-21")
@pytest.mark.feature("scheduler.groups-in-one-turn")
def test_racing_jobs_without_gangs_are_placed_in_part(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(4), plugin=False)
    slices_seen(scenario)

    claims = [scenario.create(claim(f"claim-{at}", request(driver.device_class))) for at in range(8)]
    for at, own in enumerate(claims):
        member(scenario, f"job-{at % 2}", at // 2, claims={"gpu": own})

    for job in ("job-0", "job-1"):
        bound(scenario, job, 2)


@pytest.mark.control("XD-21")
@pytest.mark.feature("scheduler.groups-in-one-turn")
def test_racing_gangs_are_all_placed_where_there_is_enough(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(4), plugin=False)
    groups = race(scenario, driver, 2, 2)

    for group in groups.values():
        says_placed(scenario, group)
    assert enough_for(scenario, driver, 2, 2) == set(groups)
