"""What a job that is placed in part does to GPUs, and what a gang does not (GS-19, GS-20)."""

import pytest

from fake_driver.profiles import gpus
from harness.drivers import Driver
from harness.kube.builders import claim, claim_template, gang, pod, pod_group, request
from harness.kube.predicates import (
    all_of,
    count_of,
    running,
    scheduled,
    unallocated,
    unreserved,
    unschedulable,
)
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.gang.arrange import JOB, Gang, bound, has_a_word, holds_of, member, none_placed, says_placed
from scenarios.taint.seen import slices_seen

pytestmark = pytest.mark.needs("kubelet")


def workers(scenario: Scenario, driver: Driver, group: Object | None) -> list[Object]:
    """A job of eight with a GPU each, in a group or not."""
    template = scenario.create(claim_template("gpu", request(driver.device_class)))
    return [member(scenario, "workers", number, group=group, templates={"gpu": template}) for number in range(8)]


@pytest.mark.statement("GS-19")
def test_five_of_eight_workers_without_a_gang_hold_their_gpus(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(5))
    slices_seen(scenario)
    as_a_gang = difference("the eight are a gang")
    group = scenario.create(pod_group("workers", gang(8))) if as_a_gang else None

    workers(scenario, driver, group)

    found = bound(scenario, "workers", 5)
    scenario.waiter.wait_any("Pod", count_of(running(), 5), label_selector=f"{JOB}=workers")
    for each in found:
        if not scheduled()(each):
            scenario.wait(each, unschedulable("cannot allocate all claims"))
    scenario.waiter.wait_any("ResourceClaim", count_of(holds_of(driver), 5))
    # Nothing is left for anybody else.
    other = scenario.create(claim("other", request(driver.device_class)))
    scenario.wait(scenario.create(pod("other", claims={"gpu": other})), unschedulable("cannot allocate all claims"))


@pytest.mark.control("GS-19")
def test_a_gang_of_eight_leaves_all_five_gpus_to_others(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(5))
    group = scenario.create(pod_group("workers", gang(8)))

    pods = workers(scenario, driver, group)

    none_placed(scenario, Gang(group, pods), could=5, of=8)
    scenario.waiter.wait_any("ResourceClaim", all_of(unallocated() & unreserved(), 8))
    if has_a_word(scenario):  # else those that found a place wait there, and have no GPU yet that anybody could see
        all_five = scenario.create(claim("all-five", request(driver.device_class, count=5)))
        scenario.wait(scenario.create(pod("other", claims={"gpu": all_five})), running())


def two_jobs(scenario: Scenario, driver: Driver, *groups: Object | None) -> None:
    """Two jobs of four with a GPU each, whose Pods are created in turn: a-0, b-0, a-1, b-1, …"""
    names = [f"{job}-{number}" for number in range(4) for job in ("a", "b")]
    claims = {name: scenario.create(claim(name, request(driver.device_class))) for name in names}
    for number in range(4):
        for job, group in zip(("a", "b"), groups, strict=True):
            member(scenario, job, number, group=group, claims={"gpu": claims[f"{job}-{number}"]})


@pytest.mark.statement("GS-20")
@pytest.mark.feature("scheduler.groups-in-one-turn")
def test_one_of_two_gangs_gets_all_its_gpus_and_the_other_none(scenario: Scenario, difference: Difference) -> None:
    """AI conformance, negative: two jobs never share what only one of them can use."""
    driver = scenario.driver(gpus(4))
    slices_seen(scenario)
    apart = difference("the Pods belong to no groups")
    groups = [scenario.create(pod_group(name, gang(4))) for name in ("a", "b")]

    two_jobs(scenario, driver, *([None, None] if apart else groups))

    # Which of the two has its quorum first is decided by the order of creation.
    first, second = groups
    bound(scenario, "a", 4)
    says_placed(scenario, first)
    scenario.waiter.wait_any("Pod", all_of(running(), 4), label_selector=f"{JOB}=a")
    pods, _ = scenario.client.list("Pod", label_selector=f"{JOB}=b")
    none_placed(scenario, Gang(second, pods), could=0, of=4)
    scenario.waiter.wait_any("ResourceClaim", count_of(holds_of(driver), 4))


@pytest.mark.control("GS-20")
def test_two_jobs_without_gangs_take_half_of_the_gpus_each(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(4))
    slices_seen(scenario)

    two_jobs(scenario, driver, None, None)

    bound(scenario, "a", 2)
    bound(scenario, "b", 2)
    scenario.waiter.wait_any("ResourceClaim", count_of(holds_of(driver), 4))
