"""HTTP to one API server: the `kubernetes` package's ApiClient with raw JSON in and out."""

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3
import yaml
from kubernetes.client import ApiClient, Configuration
from kubernetes.client.exceptions import ApiException
from kubernetes.config import ConfigException, load_kube_config

from harness.errors import InfrastructureError
from harness.kube.errors import ApiError
from harness.kube.resources import Obj

#: Query parameters; None leaves one out, so that callers can pass their own optional arguments on.
Query = Mapping[str, str | int | bool | None]

#: Threads of one process that can talk at once without opening connections again and again.
_POOL_SIZE = 64

#: Seconds without an answer after which a request other than a watch fails.
_READ_TIMEOUT = 60

#: Only what never reached the server is tried again, for about seven seconds (a restarting server), then it fails.
_RETRIES = urllib3.Retry(
    total=6, connect=6, read=0, redirect=0, status=0, other=0, backoff_factor=0.2, backoff_max=2,
    respect_retry_after_header=False,
)  # fmt: skip


def connect(kubeconfig: Path, context: str | None = None, keys: Path | None = None) -> ApiClient:
    """An ApiClient of our own, with nothing taken from ~/.kube or the environment. Raises InfrastructureError.

    `context` is one of the kubeconfig's, by default its current one. Keys that the kubeconfig embeds are written to the
    directory `keys`, by default the kubeconfig's own, which must be the run's then.
    """
    configuration = _configuration()
    try:
        # Embedded keys become files for the TLS library: next to the kubeconfig, so that they go with the run.
        load_kube_config(  # type: ignore[no-untyped-call]
            str(kubeconfig),
            context=context,
            client_configuration=configuration,
            persist_config=False,
            temp_file_path=str(keys or kubeconfig.parent),
        )
    except yaml.YAMLError as error:
        raise InfrastructureError(f"kubeconfig {kubeconfig} is not YAML") from error
    except (ConfigException, OSError, ValueError) as error:
        raise InfrastructureError(f"kubeconfig {kubeconfig} cannot be used: {error}") from error
    return ApiClient(configuration)


def with_token(base: ApiClient, token: str) -> ApiClient:
    """The same server with a bearer token instead of the base's identity."""
    configuration = _configuration()
    configuration.host = base.configuration.host
    configuration.ssl_ca_cert = base.configuration.ssl_ca_cert
    configuration.verify_ssl = base.configuration.verify_ssl
    configuration.tls_server_name = base.configuration.tls_server_name
    configuration.api_key = {"authorization": f"Bearer {token}"}
    return ApiClient(configuration)


def _configuration() -> Configuration:
    configuration = Configuration()
    configuration.connection_pool_maxsize = _POOL_SIZE
    configuration.retries = _RETRIES
    configuration.proxy = None
    return configuration


class Transport:
    """Requests and watches by path. Thread safe."""

    def __init__(self, api_client: ApiClient, headers: Mapping[str, str] | None = None) -> None:
        self.api_client = api_client
        self.headers = dict(headers or {})

    def request(
        self, method: str, path: str, query: Query | None = None, body: Any = None,
        content_type: str = "application/json", timeout: float = _READ_TIMEOUT,
    ) -> Any:  # fmt: skip
        """The decoded JSON of the answer, or its text where it is not JSON. Raises ApiError, InfrastructureError."""
        response = self._send(method, path, query or {}, body, content_type, timeout)
        try:
            data = response.read(cache_content=False)
        except urllib3.exceptions.HTTPError as error:
            raise InfrastructureError(f"{method} {path}: the answer broke off: {error}") from error
        finally:
            response.release_conn()
        if response.status >= 400:
            raise ApiError.from_body(f"{method} {path}", response.status, data)
        if "json" in response.headers.get("Content-Type", ""):
            return json.loads(data)
        return data.decode()

    def watch(self, path: str, query: Query, timeout: float) -> Iterator[Obj]:
        """Events of a watch until `timeout` seconds are over, the server ends it, or the connection breaks.

        An ERROR event becomes an ApiError (`expired`: list again). A caller that needs to know more than the last
        resourceVersion it saw lists again after the end.
        """
        deadline = time.monotonic() + timeout
        # The server counts whole seconds; the socket's own timeout ends a silent watch to the point.
        query = {"allowWatchBookmarks": "true", **query, "watch": "true", "timeoutSeconds": int(timeout) + 1}
        try:
            response = self._send("GET", path, query, None, "", max(timeout, 0.001))
        except InfrastructureError:
            if time.monotonic() >= deadline:
                return
            raise
        try:
            if response.status >= 400:
                raise ApiError.from_body(f"watch {path}", response.status, response.read())
            for line in _lines(response):
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise ApiError.from_status(f"watch {path}", 500, event["object"])
                yield event
                if time.monotonic() >= deadline:
                    return
        finally:
            response.close()

    def _send(
        self, method: str, path: str, query: Query, body: Any, content_type: str, timeout: float
    ) -> urllib3.BaseHTTPResponse:
        headers = {"Accept": "application/json, */*;q=0.5", **self.headers}
        if body is not None:
            headers["Content-Type"] = content_type
        serialized = self.api_client.param_serialize(
            method,
            path + _encode(query),
            header_params=headers,
            query_params=[],
            auth_settings=["BearerToken"],
        )
        _, url, headers, *_ = serialized
        try:
            response: urllib3.BaseHTTPResponse
            response = self.api_client.call_api(method, url, headers, body, _request_timeout=(5, timeout)).response
            return response
        except (urllib3.exceptions.HTTPError, ApiException) as error:
            server = self.api_client.configuration.host
            cause = getattr(error, "reason", None) or error
            raise InfrastructureError(f"API server {server} gave no answer to {method} {path}: {cause}") from error


def _encode(query: Query) -> str:
    given = {key: str(value) for key, value in query.items() if value is not None}
    return "?" + urlencode(given) if given else ""


def _lines(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    """Lines as they arrive; the end of the watch, in whatever way it comes, is the end of the iteration."""
    rest = b""
    try:
        for chunk in response.stream(amt=None):
            *lines, rest = (rest + chunk).split(b"\n")
            yield from (line for line in lines if line)
    except urllib3.exceptions.HTTPError:
        return
