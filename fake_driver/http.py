"""The API server over HTTP, for a Pod's service account or a kubeconfig file."""

import base64
import json
import os
import ssl
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3
import yaml

from fake_driver.api import ApiError, Object, Watch
from fake_driver.errors import ConfigError

#: Seconds for a request other than a watch.
REQUEST_TIMEOUT = 30.0

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True)
class Credentials:
    """Where the API server is and who we are. Paths are PEM files; the token file is read again for each request."""

    server: str
    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    token: str | None = None
    token_file: Path | None = None

    def authorization(self) -> dict[str, str]:
        """The header that proves who we are, empty for client certificates."""
        token = self.token_file.read_text().strip() if self.token_file else self.token
        return {"Authorization": f"Bearer {token}"} if token else {}


def _tls(credentials: Credentials) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=credentials.ca) if credentials.ca else ssl.create_default_context()
    try:
        if credentials.certificate:
            context.load_cert_chain(credentials.certificate, credentials.key)
    except OSError as error:
        raise ConfigError(f"the client certificate or key cannot be used: {error}") from error
    return context


class HttpApi:
    """An `Api` over HTTP(S); safe to use from many threads."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._pool = urllib3.PoolManager(
            maxsize=16,
            retries=False,
            ssl_context=_tls(credentials) if credentials.server.startswith("https:") else None,
            timeout=urllib3.Timeout(REQUEST_TIMEOUT),
        )

    @classmethod
    def in_cluster(cls) -> "HttpApi":
        """As the service account of the Pod we run in. Raises ConfigError outside of a Pod."""
        host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT")
        if not host or not port:
            raise ConfigError("not in a Pod (KUBERNETES_SERVICE_HOST is unset): name a kubeconfig")
        host = f"[{host}]" if ":" in host else host
        return cls(
            Credentials(
                server=f"https://{host}:{port}",
                ca=_SERVICE_ACCOUNT / "ca.crt",
                token_file=_SERVICE_ACCOUNT / "token",
            )
        )

    @classmethod
    def from_kubeconfig(cls, path: Path) -> "HttpApi":
        """As the user of the file's current context (token or client certificate). Raises ConfigError."""
        with tempfile.TemporaryDirectory(prefix="fake-driver-") as scratch:
            # Certificates and keys are loaded here, so their files may go.
            return cls(read_kubeconfig(path, Path(scratch)))

    def get(self, path: str) -> Object:
        """Read one object."""
        return self._call("GET", path)

    def list(self, path: str, query: Mapping[str, str] | None = None) -> Object:
        """Read a collection."""
        return self._call("GET", path, query)

    def create(self, path: str, body: Object) -> Object:
        """POST to a collection."""
        return self._call("POST", path, body=body)

    def replace(self, path: str, body: Object) -> Object:
        """PUT an object."""
        return self._call("PUT", path, body=body)

    def apply(self, path: str, body: Object, field_manager: str, force: bool = False) -> Object:
        """Server-side apply."""
        query = {"fieldManager": field_manager, "force": "true" if force else "false"}
        return self._call("PATCH", path, query, body, content_type="application/apply-patch+yaml")

    def delete(self, path: str) -> None:
        """Delete one object."""
        self._call("DELETE", path)

    def watch(self, path: str, query: Mapping[str, str], resource_version: str, timeout_seconds: int) -> Watch:
        """Watch a collection."""
        full = {
            **query,
            "watch": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(timeout_seconds),
        }
        # The server ends the watch; the read timeout only catches a server that died without a word.
        timeout = urllib3.Timeout(connect=REQUEST_TIMEOUT, read=timeout_seconds + REQUEST_TIMEOUT)
        response = self._request("GET", path, full, timeout=timeout, stream=True)
        if response.status >= 300:
            raise _error(response.status, response.read())
        return _HttpWatch(response)

    def _call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Object | None = None,
        content_type: str = "application/json",
    ) -> Object:
        # An unknown field is a mistake of ours: better refused than dropped in silence.
        strict = {"fieldValidation": "Strict"} if body is not None else {}
        response = self._request(method, path, {**strict, **(query or {})}, body=body, content_type=content_type)
        if response.status >= 300:
            raise _error(response.status, response.data)
        answer: Object = json.loads(response.data)
        return answer

    def _request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        *,
        body: Object | None = None,
        content_type: str = "application/json",
        timeout: urllib3.Timeout | None = None,
        stream: bool = False,
    ) -> urllib3.BaseHTTPResponse:
        url = self._credentials.server.rstrip("/") + path + (f"?{urlencode(query)}" if query else "")
        headers = {"Accept": "application/json", **self._credentials.authorization()}
        if body is not None:
            headers["Content-Type"] = content_type
        more: dict[str, Any] = {"timeout": timeout} if timeout else {}
        try:
            return self._pool.request(
                method,
                url,
                body=json.dumps(body).encode() if body is not None else None,
                headers=headers,
                preload_content=not stream,
                **more,
            )
        except urllib3.exceptions.HTTPError as error:
            raise ApiError(0, "Unreachable", f"{method} {path}: {error}") from error


class _HttpWatch:
    """Events of one chunked response, a JSON document per line."""

    def __init__(self, response: urllib3.BaseHTTPResponse) -> None:
        self._response = response
        self._closed = False

    def __iter__(self) -> Iterator[Object]:
        try:
            for line in self._lines():
                event: Object = json.loads(line)
                if event["type"] == "ERROR":
                    status = event["object"]
                    raise ApiError(status.get("code", 0), status.get("reason", ""), status.get("message", ""))
                yield event
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            if not self._closed:
                raise ApiError(0, "Unreachable", f"watch: {error}") from error
        finally:
            self._response.close()

    def _lines(self) -> Iterator[bytes]:
        rest = b""
        for chunk in self._response.stream(amt=None):
            # Once shut down, a TLS socket hands out what it has as it is, encrypted.
            if self._closed:
                return
            *lines, rest = (rest + chunk).split(b"\n")
            yield from (line for line in lines if line)

    def close(self) -> None:
        """End the iteration, from any thread."""
        # Closing the response would wait for the thread that reads it; shutting its socket down wakes that thread.
        self._closed = True
        with suppress(Exception):
            self._response.shutdown()


def read_kubeconfig(path: Path, scratch: Path) -> Credentials:
    """Read the current context of a kubeconfig file.

    Data embedded in the file is written to `scratch`, which the caller removes. Raises ConfigError.
    """
    try:
        config = yaml.safe_load(path.read_text())
        context = _named(config["contexts"], config["current-context"])["context"]
        cluster = _named(config["clusters"], context["cluster"])["cluster"]
        user = _named(config["users"], context["user"])["user"]
        server = cluster["server"]
    except (OSError, yaml.YAMLError) as error:
        raise ConfigError(f"cannot read kubeconfig {path}: {error}".replace("\n", " ")) from error
    except (KeyError, TypeError) as error:
        raise ConfigError(f"kubeconfig {path} has no complete current context (missing {error})") from error

    def file(section: Mapping[str, Any], key: str) -> Path | None:
        if f"{key}-data" in section:
            target = scratch / key
            target.touch(mode=0o600)
            target.write_bytes(base64.b64decode(section[f"{key}-data"]))
            return target
        return path.parent / section[key] if key in section else None

    return Credentials(
        server=server,
        ca=file(cluster, "certificate-authority"),
        certificate=file(user, "client-certificate"),
        key=file(user, "client-key"),
        token=user.get("token"),
        token_file=file(user, "tokenFile"),
    )


def _named(items: "list[dict[str, Any]]", name: str) -> dict[str, Any]:
    for item in items:
        if item["name"] == name:
            return item
    raise KeyError(name)


def _error(status: int, body: bytes) -> ApiError:
    try:
        answer = json.loads(body)
        return ApiError(status, answer.get("reason", ""), answer.get("message", ""))
    except (ValueError, AttributeError):
        return ApiError(status, "", body.decode(errors="replace").strip())
