"""The API over HTTP, against a server on loopback."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from fake_driver.api import ApiError
from fake_driver.errors import ConfigError
from fake_driver.http import HttpApi, read_kubeconfig


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    requests: list[tuple[str, str, str | None]]
    more = threading.Event()

    def do_GET(self) -> None:
        self.requests.append((self.command, self.path, self.headers["Authorization"]))
        if "watch=true" in self.path:
            self._watch()
        elif self.path == "/broken":
            self._answer(502, b"bad gateway")
        elif self.path == "/missing":
            self._answer(404, json.dumps({"kind": "Status", "reason": "NotFound", "message": "no such thing"}).encode())
        else:
            self._answer(200, b'{"kind": "Thing"}')

    do_POST = do_PUT = do_DELETE = do_PATCH = do_GET  # noqa: N815 (the names of http.server)

    def _answer(self, status: int, body: bytes) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _watch(self) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        # One event in two pieces, then two in one.
        for piece in (b'{"type": "ADDED", "obj', b'ect": {"n": 1}}\n', b'{"type": "ADDED", "object": {"n": 2}}\n' * 2):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if "expired" in self.path:
            error = b'{"type": "ERROR", "object": {"code": 410, "reason": "Expired", "message": "too old"}}\n'
            self.wfile.write(b"%x\r\n%s\r\n" % (len(error), error))
        self.more.wait(10)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    Handler.requests, Handler.more = [], threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    path = tmp_path / "kubeconfig"
    path.write_text(
        yaml.safe_dump(
            {
                "current-context": "c",
                "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
                "clusters": [{"name": "k", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
                "users": [{"name": "u", "user": {"token": "t0"}}],
            }
        )
    )
    yield path
    Handler.more.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def api(kubeconfig: Path) -> HttpApi:
    return HttpApi.from_kubeconfig(kubeconfig)


def test_every_write_asks_for_strict_validation_and_says_who_we_are(api: HttpApi) -> None:
    api.create("/things", {})
    api.replace("/things/a", {})
    api.apply("/things/a", {}, "me", force=True)
    api.delete("/things/a")
    assert api.list("/things", {"fieldSelector": "a=b"}) == {"kind": "Thing"}
    assert Handler.requests == [
        ("POST", "/things?fieldValidation=Strict", "Bearer t0"),
        ("PUT", "/things/a?fieldValidation=Strict", "Bearer t0"),
        ("PATCH", "/things/a?fieldValidation=Strict&fieldManager=me&force=true", "Bearer t0"),
        ("DELETE", "/things/a", "Bearer t0"),
        ("GET", "/things?fieldSelector=a%3Db", "Bearer t0"),
    ]


def test_errors_say_what_the_server_said(api: HttpApi) -> None:
    with pytest.raises(ApiError, match="no such thing") as missing:
        api.get("/missing")
    assert (missing.value.status, missing.value.reason) == (404, "NotFound")
    with pytest.raises(ApiError, match="bad gateway"):
        api.get("/broken")


def test_no_server_is_unreachable(tmp_path: Path, kubeconfig: Path) -> None:
    config = yaml.safe_load(kubeconfig.read_text())
    config["clusters"][0]["cluster"]["server"] = "http://127.0.0.1:1"
    kubeconfig.write_text(yaml.safe_dump(config))
    with pytest.raises(ApiError, match="GET /x") as error:
        HttpApi.from_kubeconfig(kubeconfig).get("/x")
    assert (error.value.status, error.value.reason) == (0, "Unreachable")


def test_a_watch_yields_events_as_they_come_and_ends_when_it_is_closed(api: HttpApi) -> None:
    watch = api.watch("/things", {}, "5", 60)
    seen: list[int] = []
    third = threading.Event()

    def follow() -> None:
        for event in watch:
            seen.append(event["object"]["n"])
            if len(seen) == 3:
                third.set()

    follower = threading.Thread(target=follow)
    follower.start()
    assert third.wait(5)
    watch.close()
    follower.join(5)
    assert not follower.is_alive()
    assert seen == [1, 2, 2]


def test_an_error_event_is_an_error(api: HttpApi) -> None:
    with pytest.raises(ApiError, match="too old") as error:
        list(api.watch("/expired", {}, "1", 60))
    assert error.value.status == 410


def test_embedded_keys_are_only_for_us(kubeconfig: Path, tmp_path: Path) -> None:
    config = yaml.safe_load(kubeconfig.read_text())
    config["users"][0]["user"] = {"client-certificate": "user.crt", "client-key-data": "a2V5"}
    kubeconfig.write_text(yaml.safe_dump(config))
    credentials = read_kubeconfig(kubeconfig, tmp_path)
    assert credentials.certificate == tmp_path / "user.crt"
    assert credentials.key is not None
    assert credentials.key.read_text() == "key"
    assert credentials.key.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["[1", "a: 1", "current-context: x\ncontexts: []"])
def test_a_kubeconfig_that_says_nothing_is_one_clear_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad"
    path.write_text(text)
    with pytest.raises(ConfigError, match="kubeconfig") as error:
        HttpApi.from_kubeconfig(path)
    assert "\n" not in str(error.value)


def test_outside_of_a_pod_there_is_no_service_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(ConfigError, match="name a kubeconfig"):
        HttpApi.in_cluster()
