"""Talking to the driver's Pods through the API server's proxy: it is there on every cluster, wherever its nodes are."""

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Protocol

from fake_driver.agent import Order
from fake_driver.wire import TOKEN_HEADER, Data, arguments_to, error_from
from harness.drivers.manifests import NAMESPACE
from harness.errors import InfrastructureError
from harness.kube import ApiError, Client
from harness.kube.polling import PollTimeout, poll
from harness.kube.transport import Query, Transport, connect

#: Seconds that a Pod may be away: its successor has to be there by then.
AWAY = 60.0

#: What the API server says when it has not reached the Pod's port, so that the request was not carried out.
_NOT_REACHED = ("connection refused", "no route to host", "i/o timeout", "context deadline exceeded")


class Steering:
    """Requests to the Pods of one part of the driver. Safe to use from many threads."""

    def __init__(self, client: Client, token: str) -> None:
        self._client = client.in_namespace(NAMESPACE)
        self._transport = Transport(connect(client.kubeconfig), {TOKEN_HEADER: token})

    def part(self, part: str, port: int, node: str | None = None) -> "Part":
        """The Pod of a part: of the plugin on a node, or the only one."""
        fields = f"spec.nodeName={node}" if node else None

        def find() -> str | None:
            pods, _ = self._client.list("Pod", label_selector=f"app=fake-driver,part={part}", field_selector=fields)
            there = [pod["metadata"] for pod in pods if "deletionTimestamp" not in pod["metadata"]]
            return max(there, key=lambda meta: str(meta["creationTimestamp"]))["name"] if there else None

        return Part(self._transport, f"{part} on {node}" if node else part, port, find)


class Requests(Protocol):
    """The API server, as a `Part` needs it."""

    def request(
        self, method: str, path: str, query: Query | None = None, body: Any = None, *, timeout: float
    ) -> Any:  # fmt: skip
        """The decoded JSON of the answer. Raises ApiError, InfrastructureError."""


class Part:
    """One Pod, or the one that took its place, as whoever steers it sees it."""

    def __init__(self, transport: Requests, title: str, port: int, find: Callable[[], str | None]) -> None:
        self._transport = transport
        self._title = title
        self._port = port
        self._find = find
        self._pod: str | None = None

    def serve(self, driver: str, order: Order) -> None:
        """Serve a driver. Raises ConfigError, the driver's ApiError, and InfrastructureError without a Pod."""
        self._ask("PUT", f"drivers/{driver}", asdict(order))

    def set_pools(self, driver: str, pools: list[Data]) -> None:
        """Publish the pools that are this part's. Raises as `serve`."""
        self._ask("PUT", f"drivers/{driver}/pools", pools)

    def act(self, driver: str, action: str, *, wait: float = 0.0, **arguments: Any) -> None:
        """What `fake_driver.control.Driver` calls so; it may take `wait` seconds more. Raises as the driver does."""
        self._ask("POST", f"drivers/{driver}/{action}", arguments_to(arguments), wait=wait)

    def calls(self, driver: str, seen: int, wait: float) -> Data:
        """The log of calls, at once or when it has another version than the one seen."""
        answer: Data = self._ask("GET", f"drivers/{driver}/calls?seen={seen}&wait={wait:g}", wait=wait)
        return answer

    def written(self, driver: str) -> list[Data]:
        """What the plays have written."""
        answer: list[Data] = self._ask("GET", f"drivers/{driver}/written")
        return answer

    def withdraw(self, driver: str) -> None:
        """Leave nothing of a driver."""
        self._ask("DELETE", f"drivers/{driver}")

    def _ask(self, method: str, path: str, body: Any = None, wait: float = 0.0) -> Any:
        """The answer of the Pod that is there, or of the next one where it has just gone."""
        started = time.monotonic()
        while True:
            pod = self._pod or self._await_pod()
            target = f"/api/v1/namespaces/{NAMESPACE}/pods/{pod}:{self._port}/proxy/{path}"
            try:
                answer = self._transport.request(method, target, None, body, timeout=wait + AWAY)
                break
            except ApiError as error:
                # Anything else may have been carried out: not a thing to do twice.
                if not (error.not_found or any(text in error.message for text in _NOT_REACHED)):
                    raise InfrastructureError(f"the driver's {self._title} cannot be steered: {error}") from error
                if time.monotonic() - started > AWAY:
                    raise InfrastructureError(f"the driver's {self._title} does not answer: {error}") from error
                self._pod = None
        if "error" in answer:
            raise error_from(answer["error"])
        return answer["result"]

    def _await_pod(self) -> str:
        try:
            self._pod = poll(self._find, bool, f"a Pod of the driver's {self._title}", timeout=AWAY, interval=0.2)
        except PollTimeout as error:
            raise InfrastructureError(str(error)) from error
        assert self._pod
        return self._pod
