"""A driver on two nodes, over real sockets and an API server in memory."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fake_driver.api import claim_path
from fake_driver.host import DriverHost
from fake_driver.local_driver import LocalDriver
from fake_driver.node import Node
from fake_driver.profiles import gpus
from tests.fake_driver.kubelet import Kubelet
from tests.fake_driver.memory_api import MemoryApi

DRIVER = "gpu.example.com"


@pytest.fixture
def api() -> MemoryApi:
    return MemoryApi()


@pytest.fixture
def nodes() -> Iterator[list[Node]]:
    # pytest's own temporary directories have names too long for sockets.
    with tempfile.TemporaryDirectory(prefix="fd") as scratch:
        yield [Node(name, Path(scratch) / name, Path(scratch) / name / "cdi") for name in ("n1", "n2")]


@pytest.fixture
def host(api: MemoryApi, nodes: list[Node]) -> Iterator[DriverHost]:
    with DriverHost(api, nodes) as host:
        yield host


@pytest.fixture
def driver(host: DriverHost) -> LocalDriver:
    return host.serve(DRIVER, [gpus(2)])


@pytest.fixture
def kubelet(nodes: list[Node]) -> Kubelet:
    return Kubelet(nodes[0])


@pytest.fixture
def claim(api: MemoryApi) -> dict[str, Any]:
    return allocated(api, "c1", {"request": "gpu", "device": "gpu-0"})


def allocated(
    api: MemoryApi, name: str, *results: dict[str, Any], node_selector: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A claim in the API server with these results; driver and pool are the fixture's unless given."""
    path = claim_path("ns", name)
    where = {"nodeSelector": node_selector} if node_selector else {}
    devices = {"results": [{"driver": DRIVER, "pool": "n1", **result} for result in results]}
    found = {
        "metadata": {"namespace": "ns", "name": name},
        "status": {"allocation": {"devices": devices, **where}},
    }
    return api.create(path.rpartition("/")[0], found)
