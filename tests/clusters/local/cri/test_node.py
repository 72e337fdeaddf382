import asyncio
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from harness.clusters.local.cri import cri_pb2 as cri
from harness.clusters.local.cri.addresses import Addresses
from harness.clusters.local.cri.errors import CallError, NotFoundError
from harness.clusters.local.cri.node import Node
from harness.clusters.local.cri.state import Container, Store
from harness.errors import InfrastructureError


class Bench:
    """A node in a directory, which can be restarted."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.restart()

    def restart(self) -> None:
        self.node = Node(Store(self._directory / "state"), Addresses(IPv4Network("10.0.0.0/24")))

    def create(self, *command: str) -> Container:
        sandbox = self.node.run_sandbox(cri.PodSandboxConfig(log_directory=str(self._directory)), "")
        devices = [cri.CDIDevice(name="vendor.example/gpu=0")]
        config = cri.ContainerConfig(command=command, log_path="c/0.log", CDI_devices=devices)
        return self.node.create(sandbox.id, config)

    def start(self, *command: str) -> Container:
        container = self.create(*command)
        self.node.start(container.id)
        return container

    async def stopped(self, container: Container) -> None:
        async with asyncio.timeout(5):
            async for kind, subject, _ in self.node.events():
                if (kind, subject) == (cri.CONTAINER_STOPPED_EVENT, container.id):
                    return

    def log(self) -> list[str]:
        return [line.split(" ", 3)[3] for line in (self._directory / "c" / "0.log").read_text().splitlines()]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_container_lives_as_its_command_says(bench: Bench) -> None:
    async def body() -> None:
        container = bench.create("sh", "-c", "echo hello; exit 3")
        assert container.state == cri.CONTAINER_CREATED
        bench.node.start(container.id)
        assert container.state == cri.CONTAINER_RUNNING
        await bench.stopped(container)
        assert (container.state, container.exit_code, container.reason) == (cri.CONTAINER_EXITED, 3, "Error")
        assert bench.log() == ["hello"]

    asyncio.run(body())


def test_a_missing_program_fails_the_start_and_leaves_an_exited_container(bench: Bench) -> None:
    async def body() -> None:
        container = bench.create("/nonexistent/x")
        with pytest.raises(CallError, match="no such file or directory"):
            bench.node.start(container.id)
        assert (container.exit_code, container.reason) == (128, "StartError")

    asyncio.run(body())


@pytest.mark.parametrize(
    ("script", "grace", "exit_code"),
    [
        ("sleep infinity", 30, 143),
        ("sleep infinity", 0, 137),
        ("trap 'echo bye; exit 7' TERM; sleep infinity & wait", 30, 7),
        ("trap 'exit 7' TERM; sleep infinity & wait", 0, 137),
        ("trap '' TERM; sleep infinity", 0.05, 137),
    ],
)
def test_stop_ends_a_container_as_the_signals_do(bench: Bench, script: str, grace: float, exit_code: int) -> None:
    async def body() -> None:
        container = bench.start("sh", "-c", script)
        async with asyncio.timeout(5):
            await bench.node.stop(container.id, grace)
        assert (container.state, container.exit_code) == (cri.CONTAINER_EXITED, exit_code)
        assert bench.log() == (["bye"] if "bye" in script else [])

    asyncio.run(body())


def test_a_sandbox_takes_its_containers_along(bench: Bench) -> None:
    async def body() -> None:
        container = bench.start("sleep", "infinity")
        await bench.node.stop_sandbox(container.sandbox_id)
        assert container.exit_code == 137
        await bench.node.remove_sandbox(container.sandbox_id)
        with pytest.raises(NotFoundError):
            bench.node.container(container.id)
        await bench.node.remove_sandbox(container.sandbox_id)
        bench.restart()
        assert (bench.node.sandboxes, bench.node.containers) == ({}, {})

    asyncio.run(body())


def test_a_restarted_server_finds_containers_running_and_repeats_no_line(bench: Bench) -> None:
    async def body() -> None:
        endless, timed = bench.start("sleep", "infinity"), bench.create("sh", "-c", "echo one; sleep 0.2; echo two")
        bench.node.start(timed.id)
        await asyncio.sleep(0)  # one turn of the loop, in which the container says its first line
        former = bench.node
        bench.restart()
        await former.stop(timed.id, grace=0)
        bench.node.resume()
        resumed = bench.node.container(timed.id)
        await bench.stopped(resumed)
        assert (resumed.exit_code, bench.log()) == (0, ["one", "two"])
        assert bench.node.container(endless.id).state == cri.CONTAINER_RUNNING
        assert bench.node.container(endless.id).config == endless.config
        assert bench.node.run_sandbox(cri.PodSandboxConfig(), "").ip == "10.0.0.3"

    asyncio.run(body())


def test_a_broken_record_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "container-x.json").write_text('{"id": "x"}')
    with pytest.raises(InfrastructureError, match=r"container-x\.json is no record of a container"):
        Store(tmp_path).load()
