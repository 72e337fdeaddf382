"""Which taints a toleration covers: key, operator, value and effect (TO-04), and the empty one (TO-05)."""

from typing import NamedTuple

import pytest

from fake_driver.inventory import Taint
from fake_driver.profiles import gpus
from harness.kube.builders import device_toleration
from harness.kube.predicates import running
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.taint.arrange import BROKEN, LOST, consumer, tainted
from scenarios.taint.outcomes import device_of, evicted, goes_on, is_placed, kept_off, was_placed
from scenarios.taint.seen import slices_seen

KEY, VALUE = BROKEN.key, BROKEN.value
OTHER = Taint("example.com/reserved", "NoSchedule", "team-a")


def tolerating(taint: Taint) -> Object:
    """Exactly what the taint says."""
    return device_toleration(taint.key, value=taint.value, effect="NoSchedule")


@pytest.mark.statement("TO-04")
def test_each_taint_of_a_device_needs_its_own_toleration(scenario: Scenario, difference: Difference) -> None:
    both = difference("the device has one of the two taints only")
    driver = scenario.driver(tainted(gpus(1), "gpu-0", *((BROKEN,) if both else (BROKEN, OTHER))), plugin=False)
    slices_seen(scenario)

    kept_off(scenario, consumer(scenario, driver, "one", tolerations=[tolerating(BROKEN)]).pod)

    user = consumer(scenario, driver, "both", tolerations=[tolerating(BROKEN), tolerating(OTHER)])
    assert device_of(scenario, user) == "gpu-0"


class Case(NamedTuple):
    """A toleration, and whether it covers the taint BROKEN."""

    name: str
    toleration: Object
    covers: bool


CASES = (
    Case("all-equal", device_toleration(KEY, value=VALUE, effect="NoSchedule"), True),
    Case("operator-defaults-to-equal", {"key": KEY, "value": VALUE}, True),
    Case("any-value", device_toleration(KEY, effect="NoSchedule"), True),
    Case("any-effect", device_toleration(KEY, value=VALUE), True),
    Case("any-value-and-effect", device_toleration(KEY), True),
    Case("any-key", device_toleration(effect="NoSchedule"), True),
    Case("seconds-do-not-matter", device_toleration(KEY, effect="NoSchedule", seconds=0), True),
    Case("other-value", device_toleration(KEY, value="dust"), False),
    Case("no-value", device_toleration(KEY, operator="Equal"), False),
    Case("other-key", device_toleration("example.com/reserved"), False),
    Case("shorter-key", device_toleration("example.com/brok"), False),
    Case("effect-noexecute", device_toleration(KEY, effect="NoExecute"), False),
)
EFFECT_NONE = Case("effect-none", device_toleration(KEY, effect="None"), False)


@pytest.mark.statement("TO-04")
def test_key_operator_value_and_effect_must_all_match(scenario: Scenario, difference: Difference) -> None:
    cases = (*CASES, EFFECT_NONE) if scenario.release.has("DeviceTaint.effect.None") else CASES
    pool = gpus(len(cases))
    if not difference("no device is tainted"):
        for device in pool.devices:
            pool = tainted(pool, device.name, BROKEN)
    driver = scenario.driver(pool, plugin=False)
    slices_seen(scenario)

    users = [
        (case, consumer(scenario, driver, case.name, gpu=index, tolerations=[case.toleration]))
        for index, case in enumerate(cases)
    ]

    for case, user in users:
        (is_placed if case.covers else kept_off)(scenario, user.pod)


@pytest.mark.control("TO-04")
def test_right_key_with_another_value_does_not_help(scenario: Scenario) -> None:
    driver = scenario.driver(tainted(gpus(1), "gpu-0", BROKEN), plugin=False)
    slices_seen(scenario)

    kept_off(scenario, consumer(scenario, driver, "user", tolerations=[device_toleration(KEY, value="dust")]).pod)


@pytest.mark.statement("TO-05")
@pytest.mark.deviates(
    "TO-05", "{} means operator Equal: it covers every key and effect, but only taints without a value"
)
def test_literally_empty_toleration_does_not_cover_a_taint_with_a_value(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(tainted(gpus(1), "gpu-0", BROKEN, OTHER), plugin=False)
    slices_seen(scenario)

    empty = device_toleration() if difference("the toleration says operator Exists") else {}
    user = consumer(scenario, driver, "user", tolerations=[empty])

    assert user.claim["spec"]["devices"]["requests"][0]["exactly"]["tolerations"] == [{"operator": "Equal"}]
    kept_off(scenario, user.pod)


@pytest.mark.statement("TO-05")
def test_literally_empty_toleration_covers_taints_without_value(scenario: Scenario, difference: Difference) -> None:
    taints = [Taint("example.com/broken", "NoSchedule"), Taint("example.com/lost", "NoExecute")]
    driver = scenario.driver(tainted(gpus(1), "gpu-0", *taints), plugin=False)
    slices_seen(scenario)

    empty: list[Object] = [] if difference("there is no toleration") else [{}]
    was_placed(scenario, consumer(scenario, driver, "user", tolerations=empty).pod)


@pytest.mark.statement("TO-05")
@pytest.mark.deviates(
    "TO-05", "without effect a toleration counts for the scheduler and not for the eviction controller"
)
def test_pod_that_tolerates_every_effect_is_placed_and_then_evicted(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(tainted(gpus(1), "gpu-0", BROKEN, LOST), plugin=False)
    slices_seen(scenario)

    everything = device_toleration(effect="NoSchedule" if difference("the effect is NoSchedule") else None)
    user = consumer(scenario, driver, "user", tolerations=[everything])

    was_placed(scenario, user.pod)
    evicted(scenario, user.pod)


@pytest.mark.control("TO-05")
def test_without_a_toleration_the_device_is_not_given_out(scenario: Scenario) -> None:
    driver = scenario.driver(tainted(gpus(1), "gpu-0", BROKEN, LOST), plugin=False)
    slices_seen(scenario)

    kept_off(scenario, consumer(scenario, driver, "user").pod)


@pytest.mark.control("TO-05")
@pytest.mark.needs("kubelet")
@pytest.mark.feature("ResourceClaim.status.allocation.devices.results.tolerations")
def test_tolerations_with_each_effect_place_and_keep_the_pod(scenario: Scenario) -> None:
    driver = scenario.driver(tainted(tainted(gpus(2), "gpu-0", BROKEN, LOST), "gpu-1", LOST))
    each = [device_toleration(effect="NoSchedule"), device_toleration(effect="NoExecute")]
    runner = consumer(scenario, driver, "runner", gpu=0, tolerations=each)
    started = scenario.wait(runner.pod, running())

    # The controller has been told of the claim of a later Pod, so of the runner's.
    witness = consumer(scenario, driver, "witness", gpu=1, tolerations=[device_toleration()])
    evicted(scenario, witness.pod)
    goes_on(scenario, started)
