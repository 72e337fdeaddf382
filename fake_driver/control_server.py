"""Steering the drivers of an agent over HTTP, for those who have its token.

| request | body | does |
|---|---|---|
| GET /healthz | | says that the agent serves; needs no token |
| PUT /drivers/NAME | an Order | serves the driver |
| PUT /drivers/NAME/pools | a list of pools | publishes them in place of the ones before |
| POST /drivers/NAME/ACTION | arguments | what `control.Driver` calls so |
| GET /drivers/NAME/calls?seen=N&wait=S | | all calls, at once or when the log has another version than N |
| GET /drivers/NAME/written | | what the plays have written |
| DELETE /drivers/NAME | | leaves nothing of it |

An answer is `{"result": …}`, or `{"error": {"error": TYPE, "message": …}}` for what the driver raises: both with status
200, so that whatever else comes is from somebody on the way.
"""

import hmac
import json
import logging
import re
import secrets
import socket
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from fake_driver.agent import Agent, Order
from fake_driver.api import ApiError
from fake_driver.errors import ConfigError
from fake_driver.wire import TOKEN_HEADER, arguments_from, error_to

_log = logging.getLogger(__name__)

#: What a POST may ask for, and whether the plugin runs afterwards where that changes.
_ACTIONS: dict[str, bool | None] = {
    "attach": None,
    "clear_faults": None,
    "crash": False,
    "delay_prepare": None,
    "delay_unprepare": None,
    "drop_connection": None,
    "fail_prepare": None,
    "fail_unprepare": None,
    "report": None,
    "restart": True,
    "set_health": None,
    "start": True,
    "stop": False,
    "wait_registered": None,
}

_PATH = re.compile(r"/drivers/(?P<name>[a-z0-9.-]{1,63})(?:/(?P<part>[a-z_]+))?")
_MAX_BODY = 16 << 20


class ControlServer(ThreadingHTTPServer):
    """Answers at `address` in threads of its own, from `serve_forever` on until `shutdown`."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], agent: Agent, token: str | None) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.agent = agent
        self.token = token
        #: Tells this process from its predecessors: the log of calls begins anew with each.
        self.instance = secrets.token_hex(8)
        super().__init__(address, _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: ControlServer
    protocol_version = "HTTP/1.1"
    # Longer than API servers keep an idle connection: one that is closed just when it is used again loses a request.
    timeout = 300
    # Small answers must not wait for the acknowledgement of the headers before them.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._handle()

    def do_PUT(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def do_DELETE(self) -> None:
        self._handle()

    def log_message(self, format: str, *args: Any) -> None:
        _log.debug(format, *args)

    def _handle(self) -> None:
        body = self._body()
        if self.path == "/healthz":
            self._answer(200, "ok")
        elif not self._may_steer():
            self._answer(401, {"message": f"steering needs the token in {TOKEN_HEADER}"})
        else:
            try:
                self._answer(200, {"result": answer(self.server, self.command, self.path, body)})
            except (ConfigError, ApiError, TimeoutError) as error:
                self._answer(200, {"error": error_to(error)})
            except (TypeError, ValueError, KeyError) as error:
                self._answer(200, {"error": error_to(ConfigError(f"{self.command} {self.path}: {error!r}"))})

    def _may_steer(self) -> bool:
        shown = self.headers.get(TOKEN_HEADER, "")
        return bool(self.server.token) and hmac.compare_digest(shown, self.server.token or "")

    def _body(self) -> bytes:
        length = int(self.headers.get("Content-Length") or 0)
        self.close_connection |= length > _MAX_BODY  # the rest is not read
        return self.rfile.read(min(length, _MAX_BODY))

    def _answer(self, status: int, content: Any) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def answer(server: ControlServer, method: str, target: str, body: bytes) -> Any:
    """What a request comes to. Raises ConfigError for none of the above, and what the driver raises."""
    url = urlsplit(target)
    found = _PATH.fullmatch(url.path)
    if found is None:
        raise ConfigError(f"no such path: {url.path}")
    agent, name, part = server.agent, found["name"], found["part"]
    content: Any = json.loads(body) if body else {}
    match method, part:
        case "PUT", None:
            agent.serve(name, Order(**content))
        case "DELETE", None:
            agent.withdraw(name)
        case "PUT", "pools":
            agent.set_pools(name, content)
        case "GET", "calls":
            query = parse_qs(url.query)
            version, calls = agent.driver(name).log.news(int(query["seen"][0]), float(query["wait"][0]))
            return {"instance": server.instance, "version": version, "calls": [asdict(call) for call in calls]}
        case "GET", "written":
            return [asdict(written) for written in agent.driver(name).written]
        case "POST", str(action) if action in _ACTIONS:
            getattr(agent.driver(name), action)(**arguments_from(content))
            running = _ACTIONS[action]
            if running is not None:
                agent.set_running(name, running)
        case _:
            raise ConfigError(f"no such request: {method} {url.path}")
    return {}
