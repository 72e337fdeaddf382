"""A site on loopback that offers what it is told to."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harness.programs.supply import Supply


class Site:
    """Serves `files` by path and keeps the paths it was asked for."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.announced_length: dict[str, int] = {}
        self.asked: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                body = site.files.get(self.path)
                if body is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(site.announced_length.get(self.path, len(body))))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, args=(0.02,))
    thread.start()
    yield site
    site.server.shutdown()
    thread.join()
    site.server.server_close()


@pytest.fixture
def supply(site: Site, tmp_path: Path) -> Supply:
    return Supply(tmp_path / "cache", site.url)


@pytest.fixture(autouse=True)
def no_go(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let no test build a real program by accident: module downloads are off unless a test has its own proxy."""
    monkeypatch.setenv("GOPROXY", "off")
    monkeypatch.setenv("GOFLAGS", "-modcacherw")
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "modules"))
    monkeypatch.setenv("GONOSUMDB", "*")
    monkeypatch.setenv("GONOPROXY", "none")
