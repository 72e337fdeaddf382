"""One process, any number of nodes: a gRPC server on a Unix socket for each kubelet."""

import asyncio
import os
import signal
from collections.abc import Mapping
from ipaddress import IPv4Network
from pathlib import Path

import grpc.aio

from harness.clusters.local.cri.addresses import Addresses
from harness.clusters.local.cri.images import ImageService
from harness.clusters.local.cri.node import Node
from harness.clusters.local.cri.rpc import handler
from harness.clusters.local.cri.runtime import RuntimeService
from harness.clusters.local.cri.state import Store
from harness.errors import InfrastructureError, UsageError

#: sockaddr_un.sun_path less its final NUL.
LONGEST_SOCKET_PATH = 107


async def serve(nodes: Mapping[Path, Path], network: IPv4Network) -> None:
    """Serve each socket with the state of its directory until SIGTERM or SIGINT; a socket that exists answers.

    Pods get addresses of `network`. Raises UsageError for a socket path that cannot be, InfrastructureError for state
    that cannot be read or a socket that cannot be made.
    """
    os.umask(0o077)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    addresses = Addresses(network)
    servers = []
    try:
        for socket, state in nodes.items():
            servers.append(await _start(socket, state, addresses))
        await stop.wait()
    finally:
        await asyncio.gather(*(server.stop(grace=None) for server in servers))
        for socket in nodes:
            socket.unlink(missing_ok=True)


async def _start(socket: Path, state: Path, addresses: Addresses) -> grpc.aio.Server:
    if len(os.fsencode(socket)) > LONGEST_SOCKET_PATH:
        raise UsageError(
            f"{socket} is longer than the {LONGEST_SOCKET_PATH} bytes of a socket path: choose a shorter one"
        )
    if not socket.parent.is_dir():
        raise UsageError(f"{socket.parent} is no directory: make it before the server is started")
    node = Node(Store(state), addresses)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        (handler("RuntimeService", RuntimeService(node)), handler("ImageService", ImageService(state)))
    )
    try:
        server.add_insecure_port(f"unix:{socket}")
    except RuntimeError as problem:
        raise InfrastructureError(f"no socket can be made at {socket}: is its directory yours to write?") from problem
    await server.start()
    node.resume()
    return server
