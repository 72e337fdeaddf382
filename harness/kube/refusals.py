"""What the API server refuses, and about which field."""

from collections.abc import Callable

from harness.kube.errors import ApiError

INVALID = 422


def refusal(attempt: Callable[[], object]) -> ApiError:
    """What the API server says to a request that it refuses. Raises AssertionError where it takes it."""
    try:
        answer = attempt()
    except ApiError as error:
        return error
    raise AssertionError(f"the API server took it: {answer}")


def refused(attempt: Callable[[], object], field: str) -> None:
    """The API server refuses as invalid, and names the field. Raises AssertionError otherwise."""
    error = refusal(attempt)
    assert error.status == INVALID, f"refused, but not as invalid: {error}"
    named = [cause.field for cause in error.causes]
    assert field in named, f"refused because of {', '.join(named)}, not {field}: {error.message}"
