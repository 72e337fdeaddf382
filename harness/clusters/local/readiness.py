"""Waiting for programs to become ready, and telling why when they do not."""

from collections.abc import Callable, Iterable

from harness.clusters.started.process import Process
from harness.errors import InfrastructureError
from harness.kube.polling import PollTimeout, poll

_INTERVAL = 0.03  # seconds; a health endpoint answers in a millisecond or two


def await_ready(what: str, ready: Callable[[], bool], processes: Iterable[Process], timeout: float) -> None:
    """Return when `ready` says so.

    Raises InfrastructureError with the last words of the program that ended meanwhile, or of all of them after
    `timeout` seconds.
    """
    watched = tuple(processes)

    def look() -> bool:
        for process in watched:
            process.check()
        return ready()

    try:
        poll(look, bool, what, timeout=timeout, interval=_INTERVAL)
    except PollTimeout as error:
        words = "; ".join(f"{process.name}: {process.last_words(1)}" for process in watched)
        raise InfrastructureError(f"{what} is not ready after {timeout:g} s; {words}") from error
