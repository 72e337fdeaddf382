"""Serving the services of cri.proto by plain objects: the RPC `StopContainer` is the method `stop_container`.

A method the object lacks answers UNIMPLEMENTED, as does an RPC that cri.proto lacks.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias

import grpc
import grpc.aio
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from harness.clusters.local.cri import cri_pb2
from harness.clusters.local.cri.errors import CallError

#: A string, because grpcio's classes are generic in their stubs only.
_Context: TypeAlias = "grpc.aio.ServicerContext[Message, Message]"


def handler(service: str, implementation: object) -> grpc.GenericRpcHandler:
    """Serve `service`, a name in cri.proto, by `implementation`."""
    descriptor = cri_pb2.DESCRIPTOR.services_by_name[service]
    handlers = {
        method.name: _method_handler(method, function)
        for method in descriptor.methods
        if (function := getattr(implementation, python_name(method.name), None))
    }
    return grpc.method_handlers_generic_handler(descriptor.full_name, handlers)


def python_name(rpc: str) -> str:
    """The method's name for an RPC's."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", rpc).lower()


def _method_handler(
    method: MethodDescriptor, function: Callable[[Any], Any]
) -> "grpc.RpcMethodHandler[Message, Message]":
    request = GetMessageClass(method.input_type)
    response = GetMessageClass(method.output_type)
    make = grpc.unary_stream_rpc_method_handler if method.server_streaming else grpc.unary_unary_rpc_method_handler
    behavior = _stream(function) if method.server_streaming else _unary(function)
    return make(behavior, request_deserializer=request.FromString, response_serializer=response.SerializeToString)


def _unary(function: Callable[[Message], Awaitable[Message]]) -> Callable[[Message, _Context], Awaitable[Message]]:
    async def answer(request: Message, context: _Context) -> Message:
        try:
            return await function(request)
        except CallError as error:
            await context.abort(error.code, str(error))

    return answer


def _stream(
    function: Callable[[Message], AsyncIterator[Message]],
) -> Callable[[Message, _Context], AsyncIterator[Message]]:
    # grpc.aio tells a stream by the function itself, not by what it returns.
    async def answer(request: Message, _context: _Context) -> AsyncIterator[Message]:
        async for message in function(request):
            yield message

    return answer
