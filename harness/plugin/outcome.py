"""What the end of a test means: infrastructure trouble is an error, a broken statement a failure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pytest

from harness.kube import ApiError

BROKEN = 1
INFRASTRUCTURE = 3

Outcome = Literal["passed", "failed", "skipped", "error"]

#: From here on an API answer is the server's trouble, not its judgement of what was sent.
SERVER_ERROR = 500


def of_exception(error: BaseException) -> Outcome:
    """`failed` when the cluster answered otherwise than stated, `error` when nothing can be said.

    A refusal by the API server (4xx) is an answer; a lost connection or a mistake in the harness is not.
    """
    if isinstance(error, AssertionError | pytest.fail.Exception):  # `pytest.raises` that saw nothing is the latter
        return "failed"
    if isinstance(error, ApiError) and error.status < SERVER_ERROR:
        return "failed"
    return "error"


@dataclass
class Difference:
    """The control's difference of a scenario: False in an ordinary run, True under --controls."""

    applied: bool
    texts: list[str]

    def __call__(self, text: str) -> bool:
        """Declare the named difference; True when it is to be applied."""
        self.texts.append(text)
        return self.applied


def inverted(error: BaseException | None, differences: Sequence[str]) -> tuple[Outcome, str]:
    """Judge a scenario run under its control's difference: only a failed assertion proves that it can fail."""
    if not differences:
        return "failed", "declares no difference: use the `difference` fixture to name what its control changes"
    if error is None:
        return "failed", f"still passes although {differences[-1]}: it proves nothing"
    if of_exception(error) == "failed":
        return "passed", f"fails, as it must, when {differences[-1]}"
    return "error", f"could not be tried: {type(error).__name__}: {error}"


def exit_code(stated: int, others_failed: bool, troubled: bool) -> int:
    """A broken statement is the news, whatever else went wrong; then trouble, of which no statement tells."""
    if others_failed or stated == BROKEN:
        return BROKEN
    return INFRASTRUCTURE if troubled else stated
