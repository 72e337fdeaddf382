"""The server as a kubelet meets it: a process behind sockets."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from google.protobuf.json_format import Parse
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from harness.clusters.local.cri import cri_pb2 as cri

SERVER = (sys.executable, "-m", "harness.clusters.local.cri")


class Runtime:
    """Calls of the CRI by name."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._channel = channel

    def __call__(self, call: str, request: Message) -> Message:
        service = "ImageService" if "Image" in call else "RuntimeService"
        method = cri.DESCRIPTOR.services_by_name[service].methods_by_name[call]
        invoke = self._channel.unary_unary(
            f"/runtime.v1.{service}/{call}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=GetMessageClass(method.output_type).FromString,
        )
        answer = invoke(request, timeout=5)
        assert isinstance(answer, Message)
        return answer


@pytest.fixture
def sockets(tmp_path: Path) -> list[Path]:
    return [tmp_path / "a.sock", tmp_path / "b.sock"]


@pytest.fixture
def server(tmp_path: Path, sockets: list[Path]) -> Iterator[subprocess.Popen[str]]:
    arguments = [f"--{name}={path}" for at in sockets for name, path in (("socket", at), ("state", at.with_suffix("")))]
    with subprocess.Popen([*SERVER, *arguments], text=True) as process:
        deadline = time.monotonic() + 10
        while not all(socket.exists() for socket in sockets):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        yield process
        process.kill()


def test_a_container_from_sandbox_to_exit(server: subprocess.Popen[str], sockets: list[Path]) -> None:
    with grpc.insecure_channel(f"unix:{sockets[0]}") as channel:
        call = Runtime(channel)
        sandbox = call("RunPodSandbox", cri.RunPodSandboxRequest())
        assert isinstance(sandbox, cri.RunPodSandboxResponse)
        config = cri.ContainerConfig(
            command=["sleep", "infinity"],
            image=cri.ImageSpec(image="busybox"),
            envs=[cri.KeyValue(key="A", value=b"1")],
            CDI_devices=[cri.CDIDevice(name="vendor.example/gpu=0")],
        )
        created = call(
            "CreateContainer", cri.CreateContainerRequest(pod_sandbox_id=sandbox.pod_sandbox_id, config=config)
        )
        assert isinstance(created, cri.CreateContainerResponse)
        call("StartContainer", cri.StartContainerRequest(container_id=created.container_id))

        answer = call("ContainerStatus", cri.ContainerStatusRequest(container_id=created.container_id, verbose=True))
        assert isinstance(answer, cri.ContainerStatusResponse)
        assert answer.status.state == cri.CONTAINER_RUNNING
        assert Parse(answer.info["config"], cri.ContainerConfig()) == config

        executed = call("ExecSync", cri.ExecSyncRequest(container_id=created.container_id, cmd=["sh", "-c", "echo $A"]))
        assert isinstance(executed, cri.ExecSyncResponse)
        assert (executed.stdout, executed.exit_code) == (b"1\n", 0)
        with pytest.raises(grpc.RpcError, match="UNIMPLEMENTED"):
            call("ExecSync", cri.ExecSyncRequest(container_id=created.container_id, cmd=["nvidia-smi"]))

        call("StopContainer", cri.StopContainerRequest(container_id=created.container_id, timeout=30))
        answer = call("ContainerStatus", cri.ContainerStatusRequest(container_id=created.container_id))
        assert isinstance(answer, cri.ContainerStatusResponse)
        assert (answer.status.state, answer.status.exit_code) == (cri.CONTAINER_EXITED, 143)


def test_nodes_are_apart_but_share_no_address(server: subprocess.Popen[str], sockets: list[Path]) -> None:
    addresses = []
    for socket in sockets:
        with grpc.insecure_channel(f"unix:{socket}") as channel:
            call = Runtime(channel)
            sandbox = call("RunPodSandbox", cri.RunPodSandboxRequest())
            assert isinstance(sandbox, cri.RunPodSandboxResponse)
            listed = call("ListPodSandbox", cri.ListPodSandboxRequest())
            assert isinstance(listed, cri.ListPodSandboxResponse)
            assert [item.id for item in listed.items] == [sandbox.pod_sandbox_id]
            status = call("PodSandboxStatus", cri.PodSandboxStatusRequest(pod_sandbox_id=sandbox.pod_sandbox_id))
            assert isinstance(status, cri.PodSandboxStatusResponse)
            addresses.append(status.status.network.ip)
    assert len(set(addresses)) == 2


def test_what_is_not_there_is_not_found(server: subprocess.Popen[str], sockets: list[Path]) -> None:
    with grpc.insecure_channel(f"unix:{sockets[0]}") as channel:
        call = Runtime(channel)
        with pytest.raises(grpc.RpcError, match="NOT_FOUND"):
            call("ContainerStatus", cri.ContainerStatusRequest(container_id="none"))
        with pytest.raises(grpc.RpcError, match="no such host"):
            call("PullImage", cri.PullImageRequest(image=cri.ImageSpec(image="registry.invalid/x:1")))
        status = call("ImageStatus", cri.ImageStatusRequest(image=cri.ImageSpec(image="busybox")))
        assert isinstance(status, cri.ImageStatusResponse)
        assert status.image.id
        assert status.image.size


def test_sigterm_ends_it_with_its_sockets(server: subprocess.Popen[str], sockets: list[Path]) -> None:
    server.send_signal(signal.SIGTERM)
    assert server.wait(timeout=5) == 0
    assert not any(socket.exists() for socket in sockets)


@pytest.mark.parametrize(
    ("arguments", "exit_code", "line"),
    [
        (["--socket=/tmp/a.sock", "--socket=/tmp/b.sock", "--state={}"], 4, "2 --socket and 1 --state"),
        (["--socket=/" + "x" * 110, "--state={}"], 4, "longer than"),
        (["--socket={}/none/a.sock", "--state={}"], 4, "is no directory"),
        (["--socket={}/a.sock", "--state=/proc/none"], 3, "no state can be kept in /proc/none"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, arguments: list[str], exit_code: int, line: str) -> None:
    run = subprocess.run(
        [*SERVER, *(argument.format(tmp_path) for argument in arguments)],
        capture_output=True,
        text=True,
        timeout=10,
        check=False,
    )
    assert (run.returncode, "Traceback" in run.stderr) == (exit_code, False)
    assert line in run.stderr
    assert len(run.stderr.splitlines()) == 1
