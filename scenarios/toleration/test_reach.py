"""Where a toleration is declared and whom it helps (TO-01 to TO-03)."""

import pytest

from fake_driver.profiles import gpus
from harness.drivers import PREPARE
from harness.kube.builders import (
    claim,
    claim_template,
    device_toleration,
    first_available,
    job,
    pod,
    request,
    runs_for,
    subrequest,
    toleration,
)
from harness.kube.predicates import allocated, allocated_devices, any_of, condition, exists, scheduled
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.taint.arrange import BROKEN, consumer, only, tainted
from scenarios.taint.outcomes import device_of, is_placed, kept_off
from scenarios.taint.seen import slices_seen

TOLERATED = device_toleration(BROKEN.key, value=BROKEN.value, effect="NoSchedule")
#: The same for the taints of nodes.
TOLERATED_ON_NODES = toleration(BROKEN.key, value=BROKEN.value, effect="NoSchedule")


@pytest.mark.statement("TO-01")
def test_toleration_of_the_request_gets_the_tainted_device(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(tainted(gpus(1), "gpu-0", BROKEN), plugin=False)
    slices_seen(scenario)

    if difference("the toleration is the Pod's, in place of the claim's"):
        user = consumer(scenario, driver, "user", node_tolerations=[TOLERATED_ON_NODES])
    else:
        user = consumer(scenario, driver, "user", tolerations=[TOLERATED])

    is_placed(scenario, user.pod)
    assert device_of(scenario, user) == "gpu-0"


@pytest.mark.control("TO-01")
def test_toleration_of_the_pod_does_not_help(scenario: Scenario) -> None:
    driver = scenario.driver(tainted(gpus(1), "gpu-0", BROKEN), plugin=False)
    slices_seen(scenario)

    kept_off(scenario, consumer(scenario, driver, "user", node_tolerations=[TOLERATED_ON_NODES]).pod)


@pytest.mark.statement("TO-02")
def test_toleration_helps_only_the_pod_whose_claim_has_it(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(tainted(tainted(gpus(2), "gpu-0", BROKEN), "gpu-1", BROKEN), plugin=False)
    slices_seen(scenario)
    both = difference("the other Pod's claim tolerates the taint, too")

    tolerating = consumer(scenario, driver, "tolerating", tolerations=[TOLERATED])
    other = consumer(scenario, driver, "other", tolerations=[TOLERATED] if both else ())

    assert device_of(scenario, tolerating) == "gpu-0"
    kept_off(scenario, other.pod)


@pytest.mark.control("TO-02")
def test_both_pods_are_helped_when_both_claims_tolerate_the_taint(scenario: Scenario) -> None:
    driver = scenario.driver(tainted(tainted(gpus(2), "gpu-0", BROKEN), "gpu-1", BROKEN), plugin=False)

    users = [consumer(scenario, driver, name, tolerations=[TOLERATED]) for name in ("one", "other")]

    assert {device_of(scenario, user) for user in users} == {"gpu-0", "gpu-1"}


@pytest.mark.statement("TO-02")
def test_toleration_helps_only_the_request_of_a_claim_that_has_it(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(tainted(gpus(2), "gpu-0", BROKEN), plugin=False)
    slices_seen(scenario)
    everywhere = [TOLERATED] if difference("the other request tolerates the taint, too") else []

    wanted = scenario.create(
        claim(
            "wanted",
            request(driver.device_class, "careful", tolerations=everywhere),
            request(driver.device_class, "daring", tolerations=[TOLERATED]),
        )
    )
    scenario.wait(scenario.create(pod("user", claims={"gpus": wanted})), scheduled())

    given = scenario.get(wanted)
    assert [device.device for device in allocated_devices(given, "careful")] == ["gpu-1"]
    assert [device.device for device in allocated_devices(given, "daring")] == ["gpu-0"]


@pytest.mark.statement("TO-02")
def test_toleration_helps_only_the_alternative_that_has_it(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(tainted(gpus(1), "gpu-0", BROKEN), plugin=False)
    slices_seen(scenario)
    first = [TOLERATED] if difference("the first alternative tolerates the taint, too") else []

    alternatives = first_available(
        "gpu",
        subrequest(driver.device_class, "healthy", tolerations=first),
        subrequest(driver.device_class, "any", tolerations=[TOLERATED]),
    )
    wanted = scenario.create(claim("wanted", alternatives))
    scenario.wait(scenario.create(pod("user", claims={"gpu": wanted})), scheduled())

    given = scenario.get(wanted)
    assert allocated_devices(given, "gpu/healthy") == []
    assert [device.device for device in allocated_devices(given, "gpu/any")] == ["gpu-0"]


def diagnostic_job(scenario: Scenario, device_class: str, selector: str, *tolerations: Object) -> tuple[Object, Object]:
    """A Job that looks at one device for a moment, and its Pod."""
    wanted = request(device_class, selectors=[selector], tolerations=tolerations)
    template = scenario.create(claim_template("diagnosis", wanted, claim_labels={"app": "diagnosis"}))
    check = pod("any", templates={"gpu": template}, image=scenario.cluster.image, command=runs_for(0.3))
    created = scenario.create(job("diagnosis", check))
    (worker,) = scenario.waiter.wait_any(
        "Pod", any_of(exists()), namespace=scenario.namespace, label_selector="job-name=diagnosis"
    )
    return created, worker


@pytest.mark.statement("TO-03")
@pytest.mark.needs("kubelet")
def test_diagnostic_job_is_placed_on_the_broken_device_on_purpose(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(tainted(gpus(2), "gpu-1", BROKEN))
    assert device_of(scenario, consumer(scenario, driver, "normal")) == "gpu-0"
    kept_off(scenario, consumer(scenario, driver, "waiter").pod)

    tolerations = [] if difference("the Job does not tolerate the taint") else [TOLERATED]
    diagnosis, worker = diagnostic_job(scenario, driver.device_class, only(driver, 1), *tolerations)

    is_placed(scenario, worker)
    (generated,) = scenario.waiter.wait_any("ResourceClaim", any_of(allocated()), label_selector="app=diagnosis")
    assert [device.device for device in allocated_devices(generated)] == ["gpu-1"]
    scenario.wait(diagnosis, condition("Complete", "True"))
    assert driver.calls(PREPARE, generated)


@pytest.mark.control("TO-03")
def test_job_without_the_toleration_never_starts(scenario: Scenario) -> None:
    driver = scenario.driver(tainted(gpus(2), "gpu-1", BROKEN), plugin=False)
    slices_seen(scenario)

    _, worker = diagnostic_job(scenario, driver.device_class, only(driver, 1))

    kept_off(scenario, worker)
