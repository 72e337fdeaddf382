"""For how long a toleration of NoExecute holds: from the time of the taint, and which of several counts (XD-17)."""

import time
from typing import NamedTuple

import pytest

from fake_driver.profiles import gpus
from harness.drivers import Driver
from harness.kube.builders import device_toleration
from harness.kube.predicates import gone, scheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.taint.arrange import HOUR, LOST, Consumer, consumer, lost_since, tainted
from scenarios.taint.outcomes import evicted
from scenarios.taint.seen import slices_seen

#: Seconds that the cluster may take for what it does at once.
SLACK = 10.0


def for_seconds(seconds: int | None) -> Object:
    """A toleration of it, for so many seconds from the time of the taint, or for ever."""
    return device_toleration(LOST.key, effect="NoExecute", seconds=seconds)


class Case(NamedTuple):
    """Tolerations for seconds from the taint's time, and when the Pod goes: after the hour, at once or never."""

    name: str
    seconds: tuple[int | None, ...]
    goes: str


CASES = (
    Case("an-hour", (HOUR,), "later"),
    Case("shortest-of-two", (2 * HOUR, HOUR), "later"),
    Case("none", (0,), "at once"),
    Case("negative", (-HOUR,), "at once"),
    Case("for-ever", (None,), "never"),
    Case("for-ever-and-an-hour", (HOUR, None), "never"),
)


def consumers(scenario: Scenario, driver: Driver) -> dict[str, list[Consumer]]:
    """A Pod on a device of its own for each case, by when it goes."""
    found: dict[str, list[Consumer]] = {}
    for index, case in enumerate(CASES):
        tolerations = [for_seconds(seconds) for seconds in case.seconds]
        user = consumer(scenario, driver, case.name, gpu=index, tolerations=tolerations)
        found.setdefault(case.goes, []).append(user)
    return found


@pytest.mark.statement("XD-17", "EV-09")
@pytest.mark.feature("ResourceClaim.status.allocation.devices.results.tolerations")
def test_seconds_count_from_the_taint_and_the_shortest_toleration_counts(
    scenario: Scenario, difference: Difference
) -> None:
    added = int(time.time()) - (60 if difference("the taint is younger by almost an hour") else HOUR - 3)
    pool = gpus(len(CASES))
    for device in pool.devices:
        pool = tainted(pool, device.name, lost_since(added))
    driver = scenario.driver(pool, plugin=False)
    slices_seen(scenario)

    by_end = consumers(scenario, driver)

    for user in by_end["at once"]:
        evicted(scenario, user.pod)
    for user in by_end["later"]:
        evicted(scenario, user.pod, timeout=3 + SLACK)
        assert time.time() >= added + HOUR, "the Pod was evicted before its time was over"
    for user in by_end["never"]:
        assert scheduled()(scenario.get(user.pod)), "the Pod is not there for ever"


@pytest.mark.control("XD-17")
@pytest.mark.feature("ResourceClaim.status.allocation.devices.results.tolerations")
def test_pods_stay_while_the_hour_after_the_taint_is_not_over(scenario: Scenario) -> None:
    pool = gpus(len(CASES))
    for device in pool.devices:
        pool = tainted(pool, device.name, lost_since(time.time() - 60))
    driver = scenario.driver(pool, plugin=False)
    slices_seen(scenario)

    by_end = consumers(scenario, driver)

    for user in by_end["later"]:
        scenario.wait(user.pod, scheduled())
    # Evicted after these were placed; what the controller has to do with them at once is done by then.
    for user in by_end["at once"]:
        scenario.wait(user.pod, gone())
    assert all(scheduled()(scenario.get(user.pod)) for user in by_end["later"])
