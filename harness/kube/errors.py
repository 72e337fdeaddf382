"""What the API server answers when it refuses."""

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Cause:
    """One entry of `status.details.causes`: which field, and what is wrong with it."""

    field: str
    reason: str
    message: str


@dataclass
class ApiError(Exception):
    """The API server refused. `status` is the HTTP code, `reason` the Status' own (`NotFound`, `Invalid`, …)."""

    request: str
    status: int
    reason: str
    message: str
    causes: tuple[Cause, ...] = field(default=())

    def __str__(self) -> str:
        return f"{self.request}: {self.status} {self.reason}: {self.message}"

    @classmethod
    def from_body(cls, request: str, status: int, body: bytes) -> "ApiError":
        """Of a response: a Status object, or whatever text a proxy or a handler sent instead."""
        try:
            decoded = json.loads(body)
        except ValueError:
            decoded = {"message": body.decode(errors="replace").strip()}
        return cls.from_status(request, status, decoded if isinstance(decoded, dict) else {})

    @classmethod
    def from_status(cls, request: str, status: int, body: dict[str, Any]) -> "ApiError":
        """Of a Status object, as a watch sends it in an ERROR event too."""
        causes = (body.get("details") or {}).get("causes") or ()
        return cls(
            request=request,
            status=int(body.get("code") or status),
            reason=body.get("reason") or "Unknown",
            message=body.get("message") or "no message",
            causes=tuple(
                Cause(cause.get("field", ""), cause.get("reason", ""), cause.get("message", "")) for cause in causes
            ),
        )

    @property
    def not_found(self) -> bool:
        """The object, or its kind, does not exist."""
        return self.status == 404

    @property
    def conflict(self) -> bool:
        """The object exists already or has changed since it was read."""
        return self.status == 409

    @property
    def not_now(self) -> bool:
        """The server is there and cannot answer at the moment, as while it starts."""
        return self.status in (429, 503)

    @property
    def expired(self) -> bool:
        """The resourceVersion of a list or watch is too old: list again."""
        return self.status == 410
