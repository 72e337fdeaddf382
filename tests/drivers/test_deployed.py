"""A driver that Pods serve is steered as one in the process is."""

import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_driver.api import SLICES
from fake_driver.attachment import succeed
from fake_driver.control import Driver
from fake_driver.errors import ConfigError
from fake_driver.health import Health, Status
from fake_driver.inventory import Device, Pool, Taint
from fake_driver.node import Node
from fake_driver.profiles import fabric, gpus
from harness.drivers.deployed import DeployedDriver
from harness.errors import InfrastructureError
from harness.kube.polling import poll
from tests.drivers.pods import CONTROLLER, Pods
from tests.fake_driver.conftest import DRIVER, allocated
from tests.fake_driver.kubelet import Kubelet
from tests.fake_driver.memory_api import MemoryApi

ANYWHERE = Pool(name="net", all_nodes=True, devices=(Device("nic", attributes={"uuid": "NIC-1"}),))
BARE = gpus(1, name="bare", node="n3")


@pytest.fixture
def api() -> MemoryApi:
    return MemoryApi()


@pytest.fixture
def nodes() -> Iterator[list[Node]]:
    with tempfile.TemporaryDirectory(prefix="fd") as scratch:
        yield [Node(name, Path(scratch) / name, Path(scratch) / name / "cdi") for name in ("n1", "n2")]


@pytest.fixture
def pods(api: MemoryApi, nodes: list[Node], tmp_path: Path) -> Iterator[Pods]:
    pods = Pods(api, nodes, tmp_path)
    yield pods
    pods.close()


@pytest.fixture
def driver(pods: Pods) -> Iterator[DeployedDriver]:
    driver = DeployedDriver(DRIVER, {"n1": pods.part("n1"), "n2": pods.part("n2")}, pods.part(CONTROLLER))
    driver.serve([gpus(2), ANYWHERE, BARE], health=True)
    yield driver
    driver.withdraw()


@pytest.fixture
def kubelet(nodes: list[Node]) -> Kubelet:
    return Kubelet(nodes[0])


def slices(api: MemoryApi) -> dict[str, list[str]]:
    """The devices by pool, as they are published."""
    found = api.list(SLICES)["items"]
    return {s["spec"]["pool"]["name"]: [d["name"] for d in s["spec"]["devices"]] for s in found}


def test_each_pod_publishes_its_part_and_leaves_the_others(driver: DeployedDriver, api: MemoryApi) -> None:
    steered: Driver = driver
    assert steered.nodes == ("n1", "n2")
    assert slices(api) == {"n1": ["gpu-0", "gpu-1"], "n2": ["gpu-0", "gpu-1"], "net": ["nic"], "bare": ["gpu-0"]}
    api.forget_writes()
    driver.update_device("n2", "gpu-1", taints=[Taint("k", "NoSchedule")])
    assert [verb for verb, _ in api.writes] == ["replace"]
    driver.set_pools([gpus(1)])
    assert slices(api) == {"n1": ["gpu-0"], "n2": ["gpu-0"]}
    driver.withdraw()
    assert slices(api) == {}


def test_prepares_and_tells_of_calls_on_all_nodes(
    driver: DeployedDriver, api: MemoryApi, nodes: list[Node], kubelet: Kubelet
) -> None:
    claim = allocated(api, "c1", {"request": "gpu", "device": "nic", "pool": "net"})
    for node in nodes:
        Kubelet(node).register(DRIVER)
    driver.wait_registered(5)
    assert not kubelet.prepare(DRIVER, claim).error
    call = driver.wait_for_call(lambda call: call.method == "NodePrepareResources" and call.result == "ok", 5)
    assert (call.node, call.claim and call.claim.name) == ("n1", "c1")
    (spec,) = nodes[0].cdi_dir.glob("*.json")
    assert "NIC-1" in spec.read_text(), "the plugin knows the devices that the controller publishes, too"
    assert {call.node for call in driver.calls} == {"n1", "n2"}


def test_faults_are_where_they_are_ordered(driver: DeployedDriver, api: MemoryApi, kubelet: Kubelet) -> None:
    claim = allocated(api, "c1", {"request": "gpu", "device": "gpu-0"})
    driver.fail_prepare("broken", times=1, node="n1")
    assert kubelet.prepare(DRIVER, claim).error == "broken"
    assert not kubelet.prepare(DRIVER, claim).error
    with pytest.raises(ConfigError, match="runs on 2 nodes"):
        driver.fail_prepare("broken", times=1)
    driver.delay_unprepare()
    held = threading.Thread(target=kubelet.unprepare, args=(DRIVER, claim))
    held.start()
    driver.wait_for_call(lambda call: call.method == "NodeUnprepareResources", 5)
    driver.clear_faults()
    held.join(5)
    assert not held.is_alive()


def test_health_reaches_the_kubelet(driver: DeployedDriver, kubelet: Kubelet) -> None:
    driver.set_health("n1", "gpu-0", Health(Status.UNHEALTHY, "too hot"))
    with kubelet.health(DRIVER) as reports:
        assert next(reports)["gpu-0"] == (Status.UNHEALTHY, "too hot")


def test_the_controller_plays_and_reports(driver: DeployedDriver, api: MemoryApi) -> None:
    driver.set_pools([fabric(1)])
    driver.attach(succeed())
    claim = allocated(api, "c1", {"device": "gpu-0", "request": "gpu", "bindingConditions": ["DeviceAttached"]})
    events = api.watch("/apis/resource.k8s.io/v1/resourceclaims", {}, "0", 10)
    next(e for e in events if e["object"]["status"].get("devices"))
    (written,) = poll(lambda: driver.written, bool, "the write is noted once it is done", timeout=5, interval=0.01)
    assert (written.of.device, written.of.binding_conditions) == ("gpu-0", ("DeviceAttached",))
    driver.report(claim, "n1", "gpu-0", {"Other": "True"})
    conditions = api.get("/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c1")["status"]["devices"][0]
    assert [c["type"] for c in conditions["conditions"]] == ["DeviceAttached", "Other"]


def test_a_new_pod_goes_on_with_what_is_served_and_prepared(
    driver: DeployedDriver, api: MemoryApi, pods: Pods, nodes: list[Node], kubelet: Kubelet
) -> None:
    claim = allocated(api, "c1", {"request": "gpu", "device": "gpu-0"})
    assert not kubelet.prepare(DRIVER, claim).error
    driver.stop("n2")
    before = driver.calls
    pods.end("n1")
    pods.end("n2")
    api.delete(f"{SLICES}/n1-{DRIVER}-n1-000")
    pods.start("n1")
    pods.start("n2")

    assert slices(api)["n1"] == ["gpu-0", "gpu-1"]
    kubelet.register(DRIVER)
    driver.wait_registered(5)
    assert driver.calls[: len(before)] == before
    assert not (nodes[1].kubelet_root / "plugins_registry" / f"{DRIVER}-reg.sock").exists(), "it was stopped"
    assert kubelet.unprepare(DRIVER, claim) == ""
    assert list(nodes[0].cdi_dir.glob("*.json")) == []


def test_withdrawing_needs_no_memory(driver: DeployedDriver, api: MemoryApi, pods: Pods, tmp_path: Path) -> None:
    pods.end(CONTROLLER)
    for file in (tmp_path / CONTROLLER).iterdir():
        file.unlink()
    pods.start(CONTROLLER)
    driver.withdraw()
    driver.withdraw()
    assert slices(api) == {}


def test_says_what_is_wrong(driver: DeployedDriver, pods: Pods) -> None:
    with pytest.raises(ConfigError, match="no kubelet plugin on node 'x'"):
        driver.crash("x")
    with pytest.raises(ConfigError, match="no pool 'x'"):
        driver.add_device("x", Device("d"))
    with pytest.raises(ConfigError, match="unknown play 'dance'"):
        pods.part(CONTROLLER).act(DRIVER, "attach", play={"name": "dance", "arguments": {}})
    with pytest.raises(InfrastructureError, match="steering needs the token"):
        pods.part("n1", token="wrong").withdraw(DRIVER)
    with pytest.raises(TimeoutError, match="no such call within"):
        driver.wait_for_call(lambda _: False, 0.01)
