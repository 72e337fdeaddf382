"""Claims of running and starting containers when kubelet or driver go away for a while (XD-83, XD-84)."""

import pytest

from fake_driver.profiles import gpus
from harness.drivers import PREPARE, Driver
from harness.drivers.manifests import NAMESPACE
from harness.kube.builders import pod
from harness.kube.predicates import Predicate, gone, running
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Object, Scenario
from scenarios.containers.arrange import (
    cdi_observer,
    due,
    end,
    gpu_claim,
    held_by,
    remove_cdi_files,
    seen,
    started_again,
    state_of,
    user,
)

pytestmark = [pytest.mark.needs("kubelet", "container", "restart"), pytest.mark.exclusive("cluster")]

#: Seconds that a Pod has to be back at work, a Pod of the driver or a restarted kubelet between.
BACK = 90


def cannot_start(text: str) -> Predicate[Object]:
    """The container `main` waits, with this in the message."""

    def test(consumer: Object) -> bool:
        return text in (state_of(consumer)["state"].get("waiting") or {}).get("message", "")

    return Predicate(f"container cannot start: {text}", test)


@pytest.mark.statement("XD-83")
def test_restarted_kubelet_gives_a_new_container_the_devices_that_are_prepared(
    scenario: Scenario, difference: Difference
) -> None:
    driver = scenario.driver(gpus(2))
    observer = cdi_observer(scenario)
    wanted = gpu_claim(scenario, driver, "kept")
    made = user(scenario, wanted, restart_policy="Always")
    held = held_by(scenario, wanted)
    expected = due(scenario, driver, made, held)

    scenario.cluster.restart("kubelet", scenario.node)
    # It is healthy before it has heard of its Pods.
    scenario.barrier.kubelet(scenario.node)

    assert state_of(scenario.get(made))["containerID"] == state_of(made)["containerID"]
    assert seen(scenario, made) == expected
    if difference("the claim's CDI file is lost"):
        remove_cdi_files(scenario, observer, held)
    end(scenario, made)
    again = scenario.wait(made, started_again(made), timeout=BACK)
    assert seen(scenario, again) == expected
    assert len(driver.calls(PREPARE, held)) == 1


@pytest.mark.control("XD-83")
def test_container_does_not_start_again_without_the_cdi_file_of_its_claim(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(2))
    observer = cdi_observer(scenario)
    wanted = gpu_claim(scenario, driver, "lost")
    made = user(scenario, wanted, restart_policy="Always")

    remove_cdi_files(scenario, observer, held_by(scenario, wanted))
    end(scenario, made)

    scenario.wait(made, cannot_start("unresolvable CDI devices"), timeout=BACK)


def being_prepared(scenario: Scenario, driver: Driver) -> tuple[Object, Object]:
    """A Pod and its claim; the driver was asked to prepare it, and does not answer."""
    driver.control.delay_prepare()
    scenario.on_exit(driver.control.clear_faults)
    wanted = gpu_claim(scenario, driver, "wanted")
    made = scenario.create(pod("user", claims={"gpu": wanted}, on=scenario.node))
    driver.asked(PREPARE, wanted)
    return made, wanted


def kill_driver(scenario: Scenario) -> None:
    """Delete the Pod of the driver on the scenario's node, without grace; its DaemonSet makes another one."""
    where = f"spec.nodeName={scenario.node}"
    pods, _ = scenario.client.list("Pod", NAMESPACE, label_selector="app=fake-driver,part=plugin", field_selector=where)
    (old,) = pods
    scenario.client.delete(old, grace_period_seconds=0)
    scenario.wait(old, gone())


@pytest.mark.statement("XD-84")
def test_driver_killed_while_it_prepares_is_asked_again(scenario: Scenario, difference: Difference) -> None:
    driver = scenario.driver(gpus(1))
    made, wanted = being_prepared(scenario, driver)

    if not difference("the driver lives on, and never answers"):
        kill_driver(scenario)

    started = scenario.wait(made, running(), timeout=BACK)
    held = held_by(scenario, wanted)
    assert seen(scenario, started) == due(scenario, driver, started, held)
    assert len(driver.calls(PREPARE, held)) > 1


@pytest.mark.control("XD-84")
def test_container_does_not_start_before_the_driver_has_answered(scenario: Scenario) -> None:
    driver = scenario.driver(gpus(1))
    made, wanted = being_prepared(scenario, driver)

    scenario.barrier.kubelet(scenario.node)

    assert "containerID" not in state_of(scenario.get(made))
    driver.control.clear_faults()
    started = scenario.wait(made, running(), timeout=BACK)
    assert seen(scenario, started) == due(scenario, driver, started, held_by(scenario, wanted))
