"""What a kubelet sees of the plugin."""

import json
import stat
from pathlib import Path
from typing import Any

import grpc
import pytest

from fake_driver.api import claim_path
from fake_driver.errors import ConfigError
from fake_driver.health import Health, Status
from fake_driver.host import DriverHost
from fake_driver.local_driver import LocalDriver
from fake_driver.node import Node
from fake_driver.profiles import gpus
from tests.fake_driver.conftest import DRIVER, allocated
from tests.fake_driver.kubelet import Kubelet
from tests.fake_driver.memory_api import MemoryApi


def spec_files(node: Node) -> list[Path]:
    return sorted(node.cdi_dir.glob("*")) if node.cdi_dir.exists() else []


def test_registers_with_all_versions(driver: LocalDriver, kubelet: Kubelet) -> None:
    info = kubelet.register(DRIVER)
    assert (info.type, info.name) == ("DRAPlugin", DRIVER)
    assert info.endpoint == str(kubelet.node.kubelet_root / "plugins" / DRIVER / "dra.sock")
    assert list(info.supported_versions) == [
        "v1.DRAPlugin",
        "v1beta1.DRAPlugin",
        "v1.DRAResourceHealth",
        "v1alpha1.DRAResourceHealth",
    ]


def test_a_refused_registration_is_no_registration(host: DriverHost, kubelet: Kubelet) -> None:
    driver = host.serve(DRIVER, nodes=["n1"])
    kubelet.register(DRIVER, error="unknown version")
    assert driver.calls[-1].result == "unknown version"
    with pytest.raises(TimeoutError, match="unknown version"):
        driver.wait_registered(0.05)
    kubelet.register(DRIVER)
    driver.wait_registered(5)


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_prepares_the_allocated_devices(driver: LocalDriver, kubelet: Kubelet, api: MemoryApi, version: str) -> None:
    claim = allocated(
        api,
        "c1",
        {"request": "list/second", "device": "gpu-0"},
        {"request": "shared", "pool": "net", "device": "nic", "shareID": "s1"},
        {"request": "other", "driver": "other.example.com", "device": "x"},
    )
    answer = kubelet.prepare(DRIVER, claim, version)
    assert answer.error == ""
    first, second = answer.devices
    assert (list(first.request_names), first.pool_name, first.device_name) == (["list"], "n1", "gpu-0")
    assert (list(second.request_names), second.pool_name, second.device_name) == (["shared"], "net", "nic")
    assert getattr(second, "share_id", "s1") == "s1"
    spec = json.loads(spec_files(kubelet.node)[0].read_text())
    assert [f"{spec['kind']}={device['name']}" for device in spec["devices"]] == [
        *first.cdi_device_ids,
        *second.cdi_device_ids,
    ]
    gpu = driver.pools[0].device("gpu-0")
    assert gpu is not None
    assert f"DRA_E2E_GPU_LIST={gpu.uuid}" in spec["devices"][0]["containerEdits"]["env"]


def test_several_devices_of_a_request_have_numbered_variables(
    driver: LocalDriver, kubelet: Kubelet, api: MemoryApi
) -> None:
    claim = allocated(api, "c1", *({"request": "gpu", "device": f"gpu-{i}"} for i in range(2)))
    kubelet.prepare(DRIVER, claim)
    devices = json.loads(spec_files(kubelet.node)[0].read_text())["devices"]
    variables = [variable.partition("=")[0] for device in devices for variable in device["containerEdits"]["env"]]
    assert {"DRA_E2E_GPU_GPU_0", "DRA_E2E_GPU_GPU_1"} <= set(variables)
    assert len(variables) == len(set(variables))


def test_preparing_and_unpreparing_are_idempotent(
    driver: LocalDriver, kubelet: Kubelet, api: MemoryApi, claim: dict[str, Any]
) -> None:
    first = kubelet.prepare(DRIVER, claim)
    api.delete(claim_path("ns", "c1"))
    assert kubelet.prepare(DRIVER, claim) == first
    assert len(spec_files(kubelet.node)) == 1
    assert [kubelet.unprepare(DRIVER, claim) for _ in range(2)] == ["", ""]
    assert spec_files(kubelet.node) == []


def test_refuses_a_claim_of_another_uid(driver: LocalDriver, kubelet: Kubelet, claim: dict[str, Any]) -> None:
    claim["metadata"]["uid"] = "old"
    assert "it was replaced" in kubelet.prepare(DRIVER, claim).error


def test_refuses_a_claim_that_is_not_there_or_not_allocated(
    driver: LocalDriver, kubelet: Kubelet, api: MemoryApi, claim: dict[str, Any]
) -> None:
    bare = api.create(claim_path("ns", "c2").rpartition("/")[0], {"metadata": {"namespace": "ns", "name": "c2"}})
    assert kubelet.prepare(DRIVER, bare).error == "ResourceClaim ns/c2 is not allocated"
    api.delete(claim_path("ns", "c1"))
    assert "cannot read ResourceClaim ns/c1: NotFound" in kubelet.prepare(DRIVER, claim).error
    assert spec_files(kubelet.node) == []


def test_a_restarted_driver_knows_what_is_prepared(
    driver: LocalDriver, kubelet: Kubelet, api: MemoryApi, claim: dict[str, Any]
) -> None:
    first = kubelet.prepare(DRIVER, claim)
    api.delete(claim_path("ns", "c1"))
    driver.restart("n1")
    assert kubelet.prepare(DRIVER, claim) == first
    assert kubelet.unprepare(DRIVER, claim) == ""
    assert spec_files(kubelet.node) == []


def test_another_process_takes_over_what_is_prepared(
    driver: LocalDriver, kubelet: Kubelet, host: DriverHost, api: MemoryApi, claim: dict[str, Any]
) -> None:
    first = kubelet.prepare(DRIVER, claim)
    host.close()
    api.delete(claim_path("ns", "c1"))
    host.serve(DRIVER, [gpus(2)])
    assert kubelet.prepare(DRIVER, claim) == first


def test_a_crash_leaves_its_sockets_behind_and_a_stop_does_not(driver: LocalDriver, kubelet: Kubelet) -> None:
    socket, registration = kubelet.node.dra_socket(DRIVER), kubelet.node.registration_socket(DRIVER)
    driver.crash("n1")
    assert stat.S_ISSOCK(socket.stat().st_mode)
    assert stat.S_ISSOCK(registration.stat().st_mode)
    with pytest.raises(grpc.RpcError):
        kubelet.register(DRIVER)
    driver.start("n1")
    kubelet.register(DRIVER)
    driver.stop("n1")
    assert not socket.exists()
    assert not registration.exists()


@pytest.mark.parametrize("version", ["v1", "v1alpha1"])
def test_health_is_reported_at_once_and_on_every_change(driver: LocalDriver, kubelet: Kubelet, version: str) -> None:
    with kubelet.health(DRIVER, version) as reports:
        assert next(reports) == {"gpu-0": (1, ""), "gpu-1": (1, "")}
        driver.set_health("n1", "gpu-1", Health(Status.UNHEALTHY, "too hot"))
        assert next(reports) == {"gpu-0": (1, ""), "gpu-1": (2, "too hot")}
        driver.remove_device("n1", "gpu-0")
        assert next(reports) == {"gpu-1": (2, "too hot")}
        driver.crash("n1")
        with pytest.raises(grpc.RpcError):
            next(reports)
    driver.wait_for_call(lambda call: call.method == "NodeWatchResources" and call.result is not None, 5)


def test_a_dropped_connection_ends_streams_and_the_plugin_goes_on(
    driver: LocalDriver, kubelet: Kubelet, claim: dict[str, Any]
) -> None:
    with kubelet.health(DRIVER) as reports:
        next(reports)
        driver.drop_connection("n1")
        with pytest.raises(grpc.RpcError):
            next(reports)
    assert kubelet.prepare(DRIVER, claim).error == ""


def test_a_path_too_long_for_a_socket_is_one_clear_error(host: DriverHost, nodes: list[Node]) -> None:
    name = "a" * 60 + ".example.com"
    with pytest.raises(ConfigError, match=r"too long \(\d+ bytes .* at most 107\): use a shorter"):
        Node("n", Path("/" + "x" * 30), Path("/cdi")).registration_socket(name)
    with pytest.raises(ConfigError, match="too long"):
        host.serve("b" * 100, [gpus(1)])
    assert not any((node.kubelet_root / "plugins").exists() for node in nodes)


def test_withdrawing_leaves_nothing(
    driver: LocalDriver, kubelet: Kubelet, host: DriverHost, api: MemoryApi, nodes: list[Node], claim: dict[str, Any]
) -> None:
    kubelet.prepare(DRIVER, claim)
    host.withdraw(DRIVER)
    assert [found["metadata"]["name"] for found in api.objects.values()] == ["c1"]
    left = [path for node in nodes for path in node.kubelet_root.rglob("*") if not path.is_dir()]
    assert left == []
