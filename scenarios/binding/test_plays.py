"""Controllers that are late, do half of it, or change their mind (BC-07)."""

from datetime import datetime

import pytest

from fake_driver.attachment import flap, partly, succeed
from fake_driver.profiles import fabric
from harness.kube.predicates import allocated_devices, scheduled, unscheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from scenarios.binding.arrange import ATTACHED, BOUND, INITIALIZED, ONE_POLL, POLL, conditions, time_of, waiting


@pytest.mark.slow
@pytest.mark.needs("kubelet")
@pytest.mark.statement("BC-07")
def test_what_counts_is_what_stands_there_when_the_scheduler_looks(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(fabric(3, conditions=[ATTACHED, INITIALIZED]), plugin=False)
    steady = difference("the device is attached once and for all")
    # The scheduler looks at once, after 5 s and after 10 s: this one is lost at the second look and back at the third.
    driver.control.attach(succeed() if steady else flap(2.5, delay=0.5), device="gpu-0")
    driver.control.attach(succeed(delay=POLL + 1), device="gpu-1")
    driver.control.attach(partly(), device="gpu-2")

    flapping, late, half = (waiting(scenario, driver, name) for name in ("flapping", "late", "half"))

    for held in (flapping, late):
        scenario.wait(held.pod, scheduled(scenario.node), timeout=ONE_POLL)
        last = max(found["lastTransitionTime"] for found in conditions(scenario.get(held.claim)))
        assert time_of(scenario, held.pod, BOUND).latest > datetime.fromisoformat(last).timestamp()
    of_flapping = [done for done in driver.control.written if done.of.device == "gpu-0"]
    assert [done.statuses[ATTACHED] for done in of_flapping] == ["True", "False", "True"]
    # As many looks of the scheduler later the third still waits.
    assert [found.device for found in allocated_devices(half.claim)] == ["gpu-2"]
    assert unscheduled()(scenario.get(half.pod))
    assert [found["type"] for found in conditions(scenario.get(half.claim))] == [ATTACHED]
