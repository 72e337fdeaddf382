"""Components are killed while something is to be done (XD-87 to XD-89)."""

import pytest

from fake_driver.profiles import gpus
from harness.kube.builders import claim, claim_template, pod, request
from harness.kube.predicates import allocated, running, scheduled, unallocated, unschedulable
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario

pytestmark = [pytest.mark.exclusive("cluster"), pytest.mark.needs("kubelet", "restart")]

KILLED = "controller-manager-killed"

#: A kubelet looks every minute for prepared claims whose Pods are gone.
RECONCILED = 90


def user_of_a_gpu(scenario: Scenario, device_class: str, name: str) -> tuple[Object, Object]:
    """A Pod that runs, and its claim, allocated."""
    wanted = scenario.create(claim(name, request(device_class)))
    user = scenario.create(pod(name, claims={"gpu": wanted}))
    scenario.wait(user, running())
    return user, scenario.wait(wanted, allocated())


@pytest.mark.statement("XD-87")
def test_claim_whose_last_pod_goes_while_nobody_controls_is_freed_later(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(gpus(1))
    user, held = user_of_a_gpu(scenario, driver.device_class, "first")

    with scenario.fault(KILLED):
        if not difference("the Pod stays"):
            scenario.delete(user)
            assert allocated()(scenario.get(held))

    scenario.wait(held, unallocated(), timeout=15)
    driver.unprepared(held)


@pytest.mark.control("XD-87")
def test_claim_whose_pod_stays_is_kept_by_a_new_controller_manager(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2))
    kept_by, kept = user_of_a_gpu(scenario, driver.device_class, "kept")
    user, freed = user_of_a_gpu(scenario, driver.device_class, "freed")

    with scenario.fault(KILLED):
        scenario.delete(user)

    scenario.wait(freed, unallocated())  # the new controller-manager has looked at claims
    assert scenario.get(kept)["status"] == kept["status"]
    assert running()(scenario.get(kept_by))


@pytest.mark.statement("XD-88")
def test_pods_go_on_and_new_ones_get_their_devices_after_etcd_was_killed(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(gpus(2))
    before, held = user_of_a_gpu(scenario, driver.device_class, "before")
    scenario.create(claim_template("one-gpu", request(driver.device_class)))

    with scenario.fault("etcd-killed"):
        pass
    if difference("another Pod has taken the other device"):
        user_of_a_gpu(scenario, driver.device_class, "other")

    after = scenario.create(pod("after", templates={"gpu": "one-gpu"}))
    scenario.wait(after, scheduled(), timeout=20)
    scenario.wait(after, running())
    assert scenario.get(held)["status"] == held["status"]
    assert running()(scenario.get(before))


@pytest.mark.control("XD-88")
def test_device_of_a_pod_that_went_on_is_not_given_again_after_etcd_was_killed(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    _, held = user_of_a_gpu(scenario, driver.device_class, "before")

    with scenario.fault("etcd-killed"):
        pass

    wanted = scenario.create(claim("wanted", request(driver.device_class)))
    waiter = scenario.create(pod("waiter", claims={"gpu": wanted}))
    scenario.wait(waiter, unschedulable("cannot allocate all claims"))
    assert scenario.get(held)["status"] == held["status"]


@pytest.mark.statement("XD-89")
@pytest.mark.slow
def test_claim_of_a_pod_deleted_while_its_kubelet_was_dead_is_unprepared_later(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(gpus(1))
    user, held = user_of_a_gpu(scenario, driver.device_class, "first")

    with scenario.fault("kubelet-killed"):
        if not difference("the Pod stays"):
            scenario.delete(user)
        scenario.wait(held, unallocated(), timeout=15)
        wanted = scenario.create(claim("next", request(driver.device_class)))
        next_user = scenario.create(pod("next", claims={"gpu": wanted}))
        scenario.wait(next_user, scheduled())

    prepared = driver.prepared(wanted, RECONCILED)
    unprepared = driver.unprepared(held, RECONCILED)
    scenario.wait(next_user, running())
    scenario.note(f"the device was prepared for the next claim {unprepared.time - prepared.time:.0f} s before that")


@pytest.mark.control("XD-89")
def test_claim_of_a_pod_deleted_under_its_kubelet_is_unprepared_at_once(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    user, held = user_of_a_gpu(scenario, driver.device_class, "first")

    scenario.delete(user)

    driver.unprepared(held, timeout=15)
