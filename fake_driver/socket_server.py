"""A gRPC server on a Unix socket that can end as cleanly or as badly as a test wants."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc

from fake_driver.errors import ConfigError
from fake_driver.node import bound_path

#: Calls at a time; threads start only when they are needed. Health streams and delayed calls hold one each.
_MAX_CALLS = 32


class SocketServer:
    """Serves handlers at `path`.

    gRPC listens at a hidden path and removes that itself when it ends. `path` is a hard link to it: it appears only
    when the server answers, and it can stay behind, with nobody listening, as it does when a process is killed.
    """

    def __init__(self, path: Path, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        self._path = path
        self._handlers = handlers
        self._server: grpc.Server | None = None

    def start(self) -> None:
        """Listen; a socket file that is there already is replaced. Raises ConfigError when that is impossible."""
        bound = bound_path(self._path)
        fresh = self._path.with_name(f".{self._path.name[:8]}.new")
        server = grpc.server(ThreadPoolExecutor(_MAX_CALLS), handlers=list(self._handlers))
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o750)
            server.add_insecure_port(f"unix:{bound}")
            server.start()
            fresh.unlink(missing_ok=True)
            os.link(bound, fresh)
            os.replace(fresh, self._path)
        except (OSError, RuntimeError) as error:
            server.stop(None).wait()
            raise ConfigError(f"cannot serve at {self._path}: {error}") from error
        self._server = server

    def stop(self) -> None:
        """Remove the socket and break off what is running."""
        self._path.unlink(missing_ok=True)
        self.crash()

    def crash(self) -> None:
        """Break off everything and leave the socket file behind."""
        if self._server:
            self._server.stop(None).wait()
            self._server = None
