"""What the API server refuses, and about which field."""

from collections.abc import Callable

from harness.kube import ApiError

INVALID = 422


def refused(attempt: Callable[[], object], field: str) -> None:
    """The API server refuses as invalid, and names the field."""
    try:
        attempt()
    except ApiError as error:
        refusal = error
    else:
        raise AssertionError("the API server took it")
    assert refusal.status == INVALID, f"refused, but not as invalid: {refusal}"
    named = [cause.field for cause in refusal.causes]
    assert field in named, f"refused because of {', '.join(named)}, not {field}: {refusal.message}"
