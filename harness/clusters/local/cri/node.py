"""The life of the sandboxes and containers of one node."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from functools import partial

from harness.clusters.local.cri import commands, logs
from harness.clusters.local.cri import cri_pb2 as cri
from harness.clusters.local.cri.addresses import Addresses
from harness.clusters.local.cri.commands import Program
from harness.clusters.local.cri.errors import CallError, NotFoundError
from harness.clusters.local.cri.state import Container, Sandbox, Store

#: What containerd reports of a container that could not be started.
START_ERROR = 128

#: Seconds after which a sandbox's stop is told, as runtimes tell it asynchronously. A kubelet that listens looks at the
#: Pod again then; told before the kubelet is done with the stop, the news would be wasted and a second lost.
_STOP_NEWS = 0.02

#: What happened, the id of the container or sandbox that it happened to, and the sandbox.
Event = tuple["cri.ContainerEventType.ValueType", str, Sandbox]


class Node:
    """What one kubelet's runtime holds. All methods run in one event loop, which therefore is the only lock."""

    def __init__(self, store: Store, addresses: Addresses) -> None:
        self._store = store
        self._addresses = addresses
        sandboxes, containers = store.load()
        self.sandboxes = {sandbox.id: sandbox for sandbox in sandboxes}
        self.containers = {container.id: container for container in containers}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._listeners: set[asyncio.Queue[Event]] = set()
        for sandbox in sandboxes:
            addresses.claim(sandbox.ip)

    def resume(self) -> None:
        """Let containers that ran when the server ended go on, as if it had been there all the time."""
        for container in self.containers.values():
            if container.state == cri.CONTAINER_RUNNING:
                log = logs.path(self.sandbox(container.sandbox_id), container)
                program = _program(container).without_lines(logs.lines(log) if log else 0)
                self._play(container, program, container.started_at / 1e9)

    def sandbox(self, sandbox_id: str) -> Sandbox:
        """The sandbox. Raises NotFoundError."""
        try:
            return self.sandboxes[sandbox_id]
        except KeyError:
            raise NotFoundError(f"sandbox {sandbox_id!r} not found") from None

    def container(self, container_id: str) -> Container:
        """The container. Raises NotFoundError."""
        try:
            return self.containers[container_id]
        except KeyError:
            raise NotFoundError(f"container {container_id!r} not found") from None

    def containers_of(self, sandbox_id: str) -> list[Container]:
        """The sandbox's containers, oldest first."""
        return [container for container in self.containers.values() if container.sandbox_id == sandbox_id]

    def run_sandbox(self, config: cri.PodSandboxConfig, runtime_handler: str) -> Sandbox:
        """A new sandbox, ready at once."""
        on_host = config.linux.security_context.namespace_options.network == cri.NODE
        address = "" if on_host else self._addresses.take()
        sandbox = Sandbox(secrets.token_hex(32), config, runtime_handler, address, time.time_ns())
        self.sandboxes[sandbox.id] = sandbox
        self._store.save(sandbox)
        return sandbox

    async def stop_sandbox(self, sandbox_id: str) -> None:
        """Kill what runs in it and take its address. A sandbox that is not there is stopped already."""
        sandbox = self.sandboxes.get(sandbox_id)
        if sandbox is None or not sandbox.ready:
            return
        for container in self.containers_of(sandbox_id):
            await self.stop(container.id, grace=0)
        sandbox.ready = False
        self._addresses.release(sandbox.ip)
        self._store.save(sandbox)
        asyncio.get_running_loop().call_later(_STOP_NEWS, self._tell, cri.CONTAINER_STOPPED_EVENT, sandbox_id, sandbox)

    async def remove_sandbox(self, sandbox_id: str) -> None:
        """Remove it and its containers, if it is there."""
        await self.stop_sandbox(sandbox_id)
        for container in self.containers_of(sandbox_id):
            await self.remove(container.id)
        if sandbox := self.sandboxes.pop(sandbox_id, None):
            self._store.remove(sandbox)

    def create(self, sandbox_id: str, config: cri.ContainerConfig) -> Container:
        """A container that is not started. Raises NotFoundError without its sandbox."""
        self.sandbox(sandbox_id)
        container = Container(secrets.token_hex(32), sandbox_id, config, time.time_ns())
        self.containers[container.id] = container
        self._changed(container, cri.CONTAINER_CREATED_EVENT)
        return container

    def start(self, container_id: str) -> None:
        """Start it. Raises CallError when its program does not exist; the container has then exited."""
        container = self.container(container_id)
        container.started_at = time.time_ns()
        try:
            program = _program(container)
        except commands.StartError as problem:
            message = f"failed to create containerd task: {problem}"
            self._finish(container, START_ERROR, "StartError", message)
            raise CallError(message) from problem
        if log := logs.path(self.sandbox(container.sandbox_id), container):
            logs.create(log)
        self._changed(container, cri.CONTAINER_STARTED_EVENT)
        self._play(container, program, container.started_at / 1e9)

    async def stop(self, container_id: str, grace: float) -> None:
        """End it as SIGTERM does, after `grace` seconds as SIGKILL does. One that is gone is stopped already."""
        container = self.containers.get(container_id)
        if container is None or (task := self._running.get(container_id)) is None:
            return
        handler = _program(container).on_term
        if grace > 0 and handler:
            task.cancel()
            await asyncio.wait([self._play(container, handler, time.time())], timeout=grace)
        if container.state == cri.CONTAINER_RUNNING:
            self._finish(container, commands.KILLED if grace <= 0 or handler else commands.TERMINATED)

    async def remove(self, container_id: str) -> None:
        """Stop and forget it, if it is there."""
        await self.stop(container_id, grace=0)
        if container := self.containers.pop(container_id, None):
            self._store.remove(container)
            self._tell(cri.CONTAINER_DELETED_EVENT, container.id, self.sandbox(container.sandbox_id))

    def update(self, record: Sandbox | Container) -> None:
        """Keep a change that was made to the record's configuration."""
        self._store.save(record)

    async def events(self) -> AsyncIterator[Event]:
        """What happens to containers from now on, for ever."""
        queue: asyncio.Queue[Event] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            while True:
                yield await queue.get()
        finally:
            self._listeners.discard(queue)

    def _play(self, container: Container, program: Program, since: float) -> asyncio.Task[None]:
        """Run the program as if it had begun at `since`, in seconds since the epoch."""
        task = asyncio.create_task(self._follow(container, program, since))
        self._running[container.id] = task
        return task

    async def _follow(self, container: Container, program: Program, since: float) -> None:
        log = logs.path(self.sandbox(container.sandbox_id), container)
        await program.play(since, partial(logs.write, log) if log else lambda _line: None)
        self._finish(container, program.exit_code)

    def _finish(self, container: Container, exit_code: int, reason: str = "", message: str = "") -> None:
        container.finished_at = time.time_ns()
        container.exit_code, container.message = exit_code, message
        container.reason = reason or ("Completed" if exit_code == 0 else "Error")
        task = self._running.pop(container.id, None)
        if task is not None and task is not asyncio.current_task():
            task.cancel()
        self._changed(container, cri.CONTAINER_STOPPED_EVENT)

    def _changed(self, container: Container, event: cri.ContainerEventType.ValueType) -> None:
        self._store.save(container)
        self._tell(event, container.id, self.sandbox(container.sandbox_id))

    def _tell(self, *event: *Event) -> None:
        for listener in self._listeners:
            listener.put_nowait(event)


def environment(container: Container) -> dict[str, str]:
    """The variables that the kubelet set."""
    return {pair.key: pair.value.decode(errors="replace") for pair in container.config.envs}


def _program(container: Container) -> Program:
    return commands.parse([*container.config.command, *container.config.args], environment(container))
