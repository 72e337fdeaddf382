"""What the driver needs from an API server: paths in, plain dicts out."""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

Object = dict[str, Any]

SLICES = "/apis/resource.k8s.io/v1/resourceslices"
CLASSES = "/apis/resource.k8s.io/v1/deviceclasses"
CLAIMS = "/apis/resource.k8s.io/v1/resourceclaims"


class ApiError(Exception):
    """A request that was refused or did not get through.

    `status` is the HTTP status, 0 when there was no answer; `reason` is the Kubernetes reason (`NotFound`, `Conflict`,
    `AlreadyExists`, …), `Unreachable` when there was no answer.
    """

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{reason} ({status}): {message}")
        self.status = status
        self.reason = reason
        self.message = message


class Watch(Protocol):
    """Watch events `{"type": …, "object": …}` until the server ends the watch or `close` is called."""

    def __iter__(self) -> Iterator[Object]:
        """Yield the events; an ERROR event or a lost connection raises ApiError, `close` just ends the iteration."""

    def close(self) -> None:
        """End the iteration; may be called from any thread, any number of times."""


class Api(Protocol):
    """An API server. Paths are absolute (`/api/v1/…`). Every method raises ApiError."""

    def get(self, path: str) -> Object:
        """Read one object."""

    def list(self, path: str, query: Mapping[str, str] | None = None) -> Object:
        """Read a collection; `query` holds selectors and the like."""

    def create(self, path: str, body: Object) -> Object:
        """POST to a collection."""

    def replace(self, path: str, body: Object) -> Object:
        """PUT an object; a resourceVersion in it makes the write conditional."""

    def apply(self, path: str, body: Object, field_manager: str, force: bool = False) -> Object:
        """Server-side apply."""

    def delete(self, path: str) -> None:
        """Delete one object; one that is gone already is an ApiError with status 404."""

    def watch(self, path: str, query: Mapping[str, str], resource_version: str, timeout_seconds: int) -> Watch:
        """Watch a collection from a resourceVersion; the server ends the watch after `timeout_seconds`."""


def claim_path(namespace: str, name: str) -> str:
    """The path of a ResourceClaim."""
    return f"/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaims/{name}"
