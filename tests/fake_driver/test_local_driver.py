"""Steering a driver."""

import threading
from typing import Any

import pytest

from fake_driver.api import SLICES
from fake_driver.control import Driver
from fake_driver.errors import ConfigError
from fake_driver.host import DriverHost
from fake_driver.inventory import Device, Taint
from fake_driver.local_driver import LocalDriver
from fake_driver.profiles import gpus
from tests.fake_driver.conftest import DRIVER
from tests.fake_driver.kubelet import Kubelet
from tests.fake_driver.memory_api import MemoryApi


def devices(api: MemoryApi, node: str) -> list[str]:
    return [device["name"] for device in api.get(f"{SLICES}/{node}-{DRIVER}-{node}-000")["spec"]["devices"]]


def test_is_what_a_test_steers(driver: LocalDriver) -> None:
    steered: Driver = driver
    assert (steered.name, steered.nodes) == (DRIVER, ("n1", "n2"))


def test_devices_come_change_and_go_on_one_node(driver: LocalDriver, api: MemoryApi) -> None:
    driver.add_device("n1", Device("new"))
    driver.remove_device("n1", "gpu-0")
    driver.update_device("n1", "gpu-1", taints=[Taint("k", "NoSchedule")])
    assert devices(api, "n1") == ["gpu-1", "new"]
    assert devices(api, "n2") == ["gpu-0", "gpu-1"]
    tainted = api.get(f"{SLICES}/n1-{DRIVER}-n1-000")["spec"]["devices"][0]
    assert tainted["taints"][0]["key"] == "k"
    assert "attributes" in tainted


def test_says_what_is_not_there(driver: LocalDriver, host: DriverHost) -> None:
    with pytest.raises(ConfigError, match="no pool 'x', only n1, n2"):
        driver.add_device("x", Device("d"))
    with pytest.raises(ConfigError, match="already"):
        driver.add_device("n1", Device("gpu-0"))
    with pytest.raises(ConfigError, match="no device 'x'"):
        driver.remove_device("n1", "x")
    with pytest.raises(ConfigError, match="no kubelet plugin on node 'x'"):
        driver.crash("x")
    with pytest.raises(ConfigError, match="unknown node 'x'"):
        host.serve("other.example.com", nodes=["x"])
    with pytest.raises(ConfigError, match="served already"):
        host.serve(DRIVER)


def test_fails_as_often_as_told_and_on_the_node_told(
    driver: LocalDriver, kubelet: Kubelet, claim: dict[str, Any]
) -> None:
    driver.fail_prepare("elsewhere", node="n2")
    driver.fail_prepare("no power", times=1)
    driver.fail_unprepare("stuck")
    assert [kubelet.prepare(DRIVER, claim).error for _ in range(2)] == ["no power", ""]
    assert [kubelet.unprepare(DRIVER, claim) for _ in range(2)] == ["stuck", "stuck"]
    driver.clear_faults()
    assert kubelet.unprepare(DRIVER, claim) == ""


def test_a_held_call_goes_on_when_faults_are_cleared(
    driver: LocalDriver, kubelet: Kubelet, claim: dict[str, Any]
) -> None:
    driver.delay_prepare()
    answers: list[Any] = []
    kubelet_thread = threading.Thread(target=lambda: answers.append(kubelet.prepare(DRIVER, claim)))
    kubelet_thread.start()
    held = driver.wait_for_call(lambda call: call.method == "NodePrepareResources", 5)
    assert held.result is None
    assert held.claim is not None
    assert (held.node, held.version, held.claim.name) == ("n1", "v1", "c1")
    assert answers == []
    driver.clear_faults()
    kubelet_thread.join(5)
    assert answers[0].error == ""
    assert driver.calls[-1].result == "ok"


def test_a_call_that_is_broken_off_while_held_does_nothing(
    driver: LocalDriver, kubelet: Kubelet, claim: dict[str, Any]
) -> None:
    driver.delay_prepare()
    failures: list[str] = []

    def ask() -> None:
        try:
            kubelet.prepare(DRIVER, claim)
        except Exception as error:
            failures.append(str(error))

    kubelet_thread = threading.Thread(target=ask)
    kubelet_thread.start()
    driver.wait_for_call(lambda call: call.method == "NodePrepareResources", 5)
    driver.crash("n1")
    kubelet_thread.join(5)
    assert len(failures) == 1
    driver.clear_faults()
    call = driver.wait_for_call(lambda call: call.method == "NodePrepareResources" and call.result is not None, 5)
    assert call.result == "the call was broken off"
    assert not kubelet.node.cdi_dir.exists()


def test_waiting_in_vain_tells_what_came_instead(driver: LocalDriver, kubelet: Kubelet) -> None:
    kubelet.register(DRIVER)
    with pytest.raises(TimeoutError, match=r"within 0\.01 s; .*NotifyRegistrationStatus on n1 \(ok\)"):
        driver.wait_for_call(lambda call: False, 0.01)
    with pytest.raises(TimeoutError, match="no such call"):
        driver.wait_for_call(lambda call: True, 0.01, after=len(driver.calls))


def test_many_drivers_share_the_nodes(host: DriverHost, kubelet: Kubelet) -> None:
    names = [f"d{i}.example.com" for i in range(5)]
    for name in names:
        host.serve(name, [gpus(1)])
    assert [kubelet.register(name).name for name in names] == names
    host.withdraw(names[0])
    assert kubelet.register(names[1]).name == names[1]


def test_a_driver_that_cannot_start_leaves_nothing(host: DriverHost, api: MemoryApi, kubelet: Kubelet) -> None:
    kubelet.node.kubelet_root.mkdir()
    (kubelet.node.kubelet_root / "plugins_registry").write_text("not a directory")
    with pytest.raises(ConfigError, match="cannot serve at"):
        host.serve(DRIVER, [gpus(1)])
    assert api.objects == {}
    assert not list(kubelet.node.kubelet_root.rglob("*.sock"))
