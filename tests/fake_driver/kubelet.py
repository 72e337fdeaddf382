"""A kubelet's side of the plugin protocol, by hand: raw method names and messages, over real sockets."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import grpc

from fake_driver.node import Node
from fake_driver.protos import dra_v1_pb2, dra_v1beta1_pb2, health_v1_pb2, health_v1alpha1_pb2, registration_pb2

_DRA: dict[str, ModuleType] = {"v1": dra_v1_pb2, "v1beta1": dra_v1beta1_pb2}
_HEALTH: dict[str, ModuleType] = {"v1": health_v1_pb2, "v1alpha1": health_v1alpha1_pb2}

TIMEOUT = 10


@contextmanager
def _channel(socket: Path) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(f"unix:{socket}") as channel:
        yield channel


def _call(socket: Path, method: str, request: Any, answer: type[Any]) -> Any:
    with _channel(socket) as channel:
        call = channel.unary_unary(
            method, request_serializer=type(request).SerializeToString, response_deserializer=answer.FromString
        )
        return call(request, timeout=TIMEOUT)


class Kubelet:
    """The kubelet of a node."""

    def __init__(self, node: Node) -> None:
        self.node = node

    def register(self, driver: str, error: str = "") -> registration_pb2.PluginInfo:
        """Ask who the plugin is, and tell it that it is registered, or why it is not."""
        socket = self.node.kubelet_root / "plugins_registry" / f"{driver}-reg.sock"
        service = "/pluginregistration.Registration"
        info = _call(socket, f"{service}/GetInfo", registration_pb2.InfoRequest(), registration_pb2.PluginInfo)
        status = registration_pb2.RegistrationStatus(plugin_registered=not error, error=error)
        _call(socket, f"{service}/NotifyRegistrationStatus", status, registration_pb2.RegistrationStatusResponse)
        return info  # type: ignore[no-any-return]

    def prepare(self, driver: str, claim: dict[str, Any], version: str = "v1") -> Any:
        """The answer for the one claim."""
        return self._claims(driver, claim, version, "NodePrepareResources").claims[claim["metadata"]["uid"]]

    def unprepare(self, driver: str, claim: dict[str, Any], version: str = "v1") -> str:
        """The error for the one claim."""
        answer = self._claims(driver, claim, version, "NodeUnprepareResources")
        error: str = answer.claims[claim["metadata"]["uid"]].error
        return error

    @contextmanager
    def health(self, driver: str, version: str = "v1") -> Iterator[Iterator[dict[str, tuple[int, str]]]]:
        """Watch health: device to status and message, one per report."""
        messages = _HEALTH[version]
        with _channel(self._endpoint(driver)) as channel:
            stream = channel.unary_stream(
                f"/{version}.DRAResourceHealth/NodeWatchResources",
                request_serializer=messages.NodeWatchResourcesRequest.SerializeToString,
                response_deserializer=messages.NodeWatchResourcesResponse.FromString,
            )(messages.NodeWatchResourcesRequest(), timeout=TIMEOUT)
            yield (
                {report.device.device_name: (report.health, report.message) for report in answer.devices}
                for answer in stream
            )

    def _claims(self, driver: str, claim: dict[str, Any], version: str, method: str) -> Any:
        messages = _DRA[version]
        metadata = claim["metadata"]
        message = messages.Claim(namespace=metadata["namespace"], name=metadata["name"], uid=metadata["uid"])
        request = getattr(messages, f"{method}Request")(claims=[message])
        answer: type[Any] = getattr(messages, f"{method}Response")
        return _call(
            self._endpoint(driver), f"/k8s.io.kubelet.pkg.apis.dra.{version}.DRAPlugin/{method}", request, answer
        )

    def _endpoint(self, driver: str) -> Path:
        return self.node.kubelet_root / "plugins" / driver / "dra.sock"
