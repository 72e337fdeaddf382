"""What is told of a driver, and what it tells, as plain data for JSON. Pools have a form of their own: `pool_file`."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from fake_driver.api import ApiError
from fake_driver.attachment import Allocated, Play, Written
from fake_driver.calls import Call, ClaimRef
from fake_driver.errors import ConfigError
from fake_driver.health import Health, Status

Data = dict[str, Any]

#: Who is asked proves with this header that he may steer.
TOKEN_HEADER = "X-Fake-Driver-Token"  # noqa: S105 (its name, not a token)


def call_from(data: Data) -> Call:
    """The call that `asdict` made the data of."""
    return Call(**{**data, "claim": ClaimRef(**data["claim"]) if data["claim"] else None})


def written_from(data: Data) -> Written:
    """The write that `asdict` made the data of."""
    of = data["of"]
    conditions = {name: tuple(of[name]) for name in ("binding_conditions", "failure_conditions")}
    return Written(**{**data, "of": Allocated(**{**of, **conditions})})


def arguments_to(arguments: Mapping[str, Any]) -> Data:
    """The arguments of an action; those that are not given are left out."""
    given = {name: value for name, value in arguments.items() if value is not None}
    return {name: asdict(value) if isinstance(value, Health | Play) else value for name, value in given.items()}


def arguments_from(data: Data) -> Data:
    """The arguments that `arguments_to` made the data of."""
    return {name: _ARGUMENTS[name](value) if name in _ARGUMENTS else value for name, value in data.items()}


_ARGUMENTS: dict[str, Callable[[Data], Any]] = {
    "health": lambda data: Health(**{**data, "status": Status(data["status"])}),
    "play": lambda data: Play(**data),
}


def error_to(error: Exception) -> Data:
    """An error that a driver may raise."""
    if isinstance(error, ApiError):
        return {"error": "ApiError", "status": error.status, "reason": error.reason, "message": error.message}
    return {"error": type(error).__name__, "message": str(error)}


def error_from(data: Data) -> Exception:
    """The error that `error_to` made the data of."""
    match data:
        case {"error": "ApiError", "status": status, "reason": reason, "message": message}:
            return ApiError(status, reason, message)
        case {"error": "TimeoutError", "message": message}:
            return TimeoutError(message)
        case {"message": message}:
            return ConfigError(message)
    return ConfigError(f"the driver gave an answer that makes no sense: {data}")
