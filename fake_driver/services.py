"""The gRPC services of a kubelet plugin: registration, DRA and health, in all versions that kubelets ask for."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import grpc

from fake_driver.calls import OK, CallLog, ClaimRef
from fake_driver.faults import Faults, Operation
from fake_driver.health import Health, HealthBoard
from fake_driver.preparation import Preparation, PreparationError
from fake_driver.protos import dra_v1_pb2, dra_v1beta1_pb2, health_v1_pb2, health_v1alpha1_pb2, registration_pb2

#: In the order in which the driver would like them to be used.
_DRA_VERSIONS = ("v1.DRAPlugin", "v1beta1.DRAPlugin")
_HEALTH_VERSIONS = ("v1.DRAResourceHealth", "v1alpha1.DRAResourceHealth")

#: Seconds between reports when nothing changes; kubelets forget a device's health after 30 s of silence.
_HEALTH_INTERVAL = 10.0

_DRA = {"v1": dra_v1_pb2, "v1beta1": dra_v1beta1_pb2}
_HEALTH = {"v1": health_v1_pb2, "v1alpha1": health_v1alpha1_pb2}

_Behaviour = Callable[[Any, grpc.ServicerContext], Any]


@dataclass(frozen=True)
class Backing:
    """What the services of one driver on one node work with. `devices()` names the node's (pool, device) pairs.

    A driver with `health` None offers no health service.
    """

    driver: str
    node: str
    preparation: Preparation
    faults: Faults
    calls: CallLog
    health: HealthBoard | None
    devices: Callable[[], Iterable[tuple[str, str]]]


def registration_service(backing: Backing, endpoint: Path) -> grpc.GenericRpcHandler:
    """Tells the kubelet where the driver serves DRA."""
    versions = _DRA_VERSIONS if backing.health is None else (*_DRA_VERSIONS, *_HEALTH_VERSIONS)

    def get_info(_: object, __: grpc.ServicerContext) -> registration_pb2.PluginInfo:
        with backing.calls.record(backing.node, "GetInfo"):
            return registration_pb2.PluginInfo(
                type="DRAPlugin", name=backing.driver, endpoint=str(endpoint), supported_versions=versions
            )

    def notify(
        status: registration_pb2.RegistrationStatus, _: grpc.ServicerContext
    ) -> registration_pb2.RegistrationStatusResponse:
        with backing.calls.record(backing.node, "NotifyRegistrationStatus") as outcome:
            outcome.result = OK if status.plugin_registered else status.error or "refused"
            return registration_pb2.RegistrationStatusResponse()

    methods = {
        "GetInfo": _unary(get_info, registration_pb2.InfoRequest),
        "NotifyRegistrationStatus": _unary(notify, registration_pb2.RegistrationStatus),
    }
    return grpc.method_handlers_generic_handler("pluginregistration.Registration", methods)


def dra_services(backing: Backing) -> list[grpc.GenericRpcHandler]:
    """Preparing and unpreparing, and health where the driver reports it, in every version."""
    dra = [
        _service(
            messages,
            "DRAPlugin",
            {
                "NodePrepareResources": _unary(_prepare(backing, version), messages.NodePrepareResourcesRequest),
                "NodeUnprepareResources": _unary(_unprepare(backing, version), messages.NodeUnprepareResourcesRequest),
            },
        )
        for version, messages in _DRA.items()
    ]
    health = [
        _service(
            messages,
            "DRAResourceHealth",
            {
                "NodeWatchResources": _stream(
                    _watch(backing, backing.health, version), messages.NodeWatchResourcesRequest
                )
            },
        )
        for version, messages in _HEALTH.items()
        if backing.health is not None
    ]
    return dra + health


def _prepare(backing: Backing, version: str) -> _Behaviour:
    messages: ModuleType = _DRA[version]

    def prepare_one(claim: ClaimRef) -> Any:
        try:
            prepared = backing.preparation.prepare(claim)
        except (PreparationError, OSError) as error:
            return messages.NodePrepareResourceResponse(error=str(error))
        answer = messages.NodePrepareResourceResponse()
        for device in prepared.devices:
            message = answer.devices.add(
                request_names=[device.request],
                pool_name=device.pool,
                device_name=device.device,
                cdi_device_ids=[backing.preparation.cdi_id(prepared, device)],
            )
            if device.share_id and version == "v1":
                message.share_id = device.share_id
        return answer

    def prepare(request: dra_v1_pb2.NodePrepareResourcesRequest, context: grpc.ServicerContext) -> object:
        response = messages.NodePrepareResourcesResponse()
        for claim in map(_claim, request.claims):
            with backing.calls.record(backing.node, "NodePrepareResources", version, claim) as outcome:
                failure = _meet(backing, "NodePrepareResources", context)
                answer = messages.NodePrepareResourceResponse(error=failure) if failure else prepare_one(claim)
                outcome.result = answer.error or OK
                response.claims[claim.uid].CopyFrom(answer)
        return response

    return prepare


def _unprepare(backing: Backing, version: str) -> _Behaviour:
    messages: ModuleType = _DRA[version]

    def unprepare_one(claim: ClaimRef) -> str:
        try:
            backing.preparation.unprepare(claim.uid)
        except OSError as error:
            return str(error)
        return ""

    def unprepare(request: dra_v1_pb2.NodeUnprepareResourcesRequest, context: grpc.ServicerContext) -> object:
        response = messages.NodeUnprepareResourcesResponse()
        for claim in map(_claim, request.claims):
            with backing.calls.record(backing.node, "NodeUnprepareResources", version, claim) as outcome:
                error = _meet(backing, "NodeUnprepareResources", context) or unprepare_one(claim)
                outcome.result = error or OK
                response.claims[claim.uid].error = error
        return response

    return unprepare


def _watch(backing: Backing, board: HealthBoard, version: str) -> _Behaviour:
    messages: ModuleType = _HEALTH[version]

    def report(pool: str, device: str, health: Health) -> object:
        return messages.DeviceHealth(
            device=messages.DeviceIdentifier(pool_name=pool, device_name=device),
            health=health.status.value,
            last_updated_time=int(time.time()),
            health_check_timeout_seconds=health.timeout,
            message=health.message,
        )

    def watch(_: object, context: grpc.ServicerContext) -> Iterator[object]:
        # Runs when the stream ends, whoever ends it: the thread below must not sleep on.
        context.add_callback(board.wake)
        with backing.calls.record(backing.node, "NodeWatchResources", version):
            while context.is_active():
                seen = board.version
                reports = [report(pool, device, board.get(pool, device)) for pool, device in backing.devices()]
                yield messages.NodeWatchResourcesResponse(devices=reports)
                board.wait(seen, lambda: not context.is_active(), _HEALTH_INTERVAL)

    return watch


def _meet(backing: Backing, operation: Operation, context: grpc.ServicerContext) -> str:
    """The error to answer with, if any; a call that ended while it was delayed must do nothing any more."""
    failure = backing.faults.meet(operation, backing.node)
    return failure or ("" if context.is_active() else "the call was broken off")


def _claim(message: dra_v1_pb2.Claim) -> ClaimRef:
    return ClaimRef(message.namespace, message.name, message.uid)


def _service(
    messages: ModuleType, name: str, methods: "Mapping[str, grpc.RpcMethodHandler[Any, Any]]"
) -> grpc.GenericRpcHandler:
    return grpc.method_handlers_generic_handler(messages.DESCRIPTOR.services_by_name[name].full_name, dict(methods))


def _unary(behaviour: _Behaviour, request: type[Any]) -> "grpc.RpcMethodHandler[Any, Any]":
    return grpc.unary_unary_rpc_method_handler(
        behaviour, request_deserializer=request.FromString, response_serializer=_serialize
    )


def _stream(behaviour: _Behaviour, request: type[Any]) -> "grpc.RpcMethodHandler[Any, Any]":
    return grpc.unary_stream_rpc_method_handler(
        behaviour, request_deserializer=request.FromString, response_serializer=_serialize
    )


def _serialize(message: Any) -> bytes:
    data: bytes = message.SerializeToString()
    return data
