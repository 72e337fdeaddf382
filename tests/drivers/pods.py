"""A driver's Pods without a cluster: agents over real sockets and HTTP, and an API server's proxy that knows them."""

import re
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import urllib3

from fake_driver.agent import Agent
from fake_driver.control_server import ControlServer
from fake_driver.node import Node
from fake_driver.wire import TOKEN_HEADER
from harness.drivers.steering import Part
from harness.kube import ApiError
from tests.fake_driver.memory_api import MemoryApi

TOKEN = "secret"

CONTROLLER = "controller"


class Pods:
    """A Pod for each node and one for the controller. `replace` gives one a successor."""

    def __init__(self, api: MemoryApi, nodes: list[Node], directory: Path) -> None:
        self._api = api
        self._nodes: dict[str, Node | None] = {**{node.name: node for node in nodes}, CONTROLLER: None}
        self._directory = directory
        self._servers: dict[str, ControlServer] = {}
        self._names: dict[str, str] = {}
        self._count = 0
        for place in self._nodes:
            self.start(place)

    def part(self, place: str, token: str = TOKEN) -> Part:
        return Part(_Proxy(self._servers, token), place, 1, lambda: self._names.get(place))

    def start(self, place: str) -> None:
        agent = Agent(self._api, self._nodes[place], self._directory / place)
        agent.resume()
        server = ControlServer(("127.0.0.1", 0), agent, TOKEN)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self._count += 1
        name = self._names[place] = f"{place}-{self._count}"
        self._servers[name] = server

    def end(self, place: str) -> None:
        server = self._servers.pop(self._names.pop(place))
        server.shutdown()
        server.server_close()
        server.agent.close()

    def close(self) -> None:
        for place in list(self._names):
            self.end(place)


class _Proxy:
    def __init__(self, servers: Mapping[str, ControlServer], token: str) -> None:
        self._servers = servers
        self._token = token

    def request(self, method: str, path: str, query: Any = None, body: Any = None, *, timeout: float) -> Any:
        found = re.fullmatch(r"/api/v1/namespaces/dra-e2e-driver/pods/(?P<pod>[^:]+):1/proxy(?P<rest>/.*)", path)
        assert found
        server = self._servers.get(found["pod"])
        if server is None:
            raise ApiError(f"{method} {path}", 404, "NotFound", "no such Pod")
        url = f"http://127.0.0.1:{server.server_address[1]}{found['rest']}"
        answer = urllib3.request(method, url, json=body, headers={TOKEN_HEADER: self._token}, timeout=timeout)
        if answer.status >= 400:
            raise ApiError.from_body(f"{method} {path}", answer.status, answer.data)
        return answer.json()
