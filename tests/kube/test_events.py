"""When Events were sent, as the two APIs for them tell it."""

from datetime import UTC, datetime

import pytest

from harness.kube.events import Moment, first_sent

SECOND = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp()


def test_event_of_its_own_api_is_exact() -> None:
    sent = first_sent({"metadata": {}, "eventTime": "2026-01-02T03:04:05.250000Z", "firstTimestamp": None})

    assert sent == Moment(SECOND + 0.25, SECOND + 0.25)


def test_event_of_the_core_api_tells_a_second() -> None:
    times = {"eventTime": None, "firstTimestamp": "2026-01-02T03:04:05Z", "lastTimestamp": "2026-01-02T03:09:05Z"}

    assert first_sent({"metadata": {}, **times}) == Moment(SECOND, SECOND + 1)


def test_time_between_two_is_told_as_far_as_both_are() -> None:
    assert Moment(10, 11) - Moment(5, 6) == Moment(4, 6)


def test_event_without_any_time_is_refused() -> None:
    with pytest.raises(ValueError, match="odd does not tell when"):
        first_sent({"metadata": {"name": "odd"}})
