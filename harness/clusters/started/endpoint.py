"""The HTTPS endpoints of a cluster's components, as its administrator sees them."""

import json
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import urllib3

from harness.errors import InfrastructureError


class Endpoint:
    """An HTTPS server on loopback, reached with a client certificate."""

    def __init__(self, port: int, authority: Path, certificate: Path, key: Path) -> None:
        context = ssl.create_default_context(cafile=str(authority))
        context.load_cert_chain(certificate, key)
        self._base = f"https://127.0.0.1:{port}"
        self._pool = urllib3.PoolManager(ssl_context=context, maxsize=32, retries=False, timeout=10.0)

    def healthy(self, path: str = "/readyz") -> bool:
        """Whether it answers 200 right now; not listening yet is simply no."""
        try:
            return self._pool.request("GET", self._base + path).status == 200
        except urllib3.exceptions.HTTPError:
            return False

    def text(self, path: str) -> str:
        """What it answers to GET; InfrastructureError when it does not answer 200."""
        return self._send("GET", path, None).data.decode()

    def get(self, path: str) -> dict[str, Any]:
        """The JSON object it answers to GET."""
        answer: dict[str, Any] = json.loads(self.text(path))
        return answer

    def post(self, path: str, body: Mapping[str, Any]) -> bool:
        """Create an object; False when it is there already."""
        return self._send("POST", path, body, accepted=(409,)).status != 409

    def delete(self, path: str) -> None:
        """Delete an object, which may be gone already."""
        self._send("DELETE", path, None, accepted=(404,))

    def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None, accepted: tuple[int, ...] = ()
    ) -> urllib3.BaseHTTPResponse:
        try:
            answer = self._pool.request(method, self._base + path, json=body)
        except urllib3.exceptions.HTTPError as error:
            raise InfrastructureError(f"{method} {self._base}{path}: {error}") from error
        if answer.status >= 300 and answer.status not in accepted:
            raise InfrastructureError(f"{method} {self._base}{path}: {answer.status} {answer.data[:300].decode()}")
        return answer
