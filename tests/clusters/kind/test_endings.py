"""Components that end as soon as they start."""

from collections.abc import Sequence

import pytest

from harness.clusters.kind import endings
from harness.clusters.kind.endings import Ending, Endings
from harness.errors import InfrastructureError

REFUSED = 'I1 starting\nE1129 22:33:13.592490 1 run.go:72] "command failed" err="unrecognized feature gate: Nonsense"'
ABSENT = "Error: context deadline exceeded"


@pytest.fixture(autouse=True)
def _look_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endings, "_INTERVAL", 0.0)


def looks(seen: Sequence[Ending | None]) -> Endings:
    """A component that ends like this, look by look."""
    found = iter(seen)
    return Endings("kube-scheduler", lambda: next(found))


def test_refused_command_line_is_told_at_once() -> None:
    watched = looks([None, Ending("a", REFUSED)])
    watched.check()

    with pytest.raises(InfrastructureError, match=r"kube-scheduler ended by itself: E1129.*gate: Nonsense"):
        watched.check()


def test_other_end_is_told_when_it_comes_again() -> None:
    watched = looks([None, Ending("a", ABSENT), Ending("a", ABSENT), Ending("b", ABSENT)])
    for _ in range(3):
        watched.check()

    with pytest.raises(InfrastructureError, match="deadline exceeded"):
        watched.check()


def test_end_from_before_does_not_count() -> None:
    watched = looks([Ending("old", ABSENT), Ending("old", ABSENT), Ending("a", ABSENT)])

    for _ in range(3):
        watched.check()
