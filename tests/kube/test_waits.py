import pytest

from harness.errors import InfrastructureError
from harness.kube.client import Client
from harness.kube.errors import ApiError
from harness.kube.predicates import count_of, running, scheduled, unschedulable
from harness.kube.resources import Obj
from harness.kube.waits import Waiter, WaitTimeout
from tests.kube.fakes import Objs, ScriptedApi, Step, a_pod, change

EXPIRED = ApiError("watch", 410, "Expired", "too old")
POD = a_pod()
BOUND = a_pod(version="2", nodeName="n")


def waiter(api: ScriptedApi) -> Waiter:
    return Waiter(api.as_client())


def test_what_is_true_already_needs_no_watch() -> None:
    api = ScriptedApi([[BOUND]], [])
    assert waiter(api).wait(POD, scheduled()) is BOUND
    assert api.watched_from == []


def test_a_change_ends_the_wait() -> None:
    api = ScriptedApi([[POD]], [[change("MODIFIED", BOUND)]])
    assert waiter(api).wait(POD, scheduled()) is BOUND
    assert api.watched_from == ["list-0"]


def test_an_object_that_is_not_there_yet_may_come() -> None:
    nameless = {"kind": "Pod", "metadata": {"name": "p"}}
    api = ScriptedApi([[]], [[change("ADDED", BOUND)]])
    assert waiter(api).wait(nameless, scheduled()) is BOUND


def test_a_state_that_passes_by_is_seen() -> None:
    again = a_pod(version="3")
    api = ScriptedApi([[POD]], [[change("MODIFIED", BOUND), change("MODIFIED", again)]])
    assert waiter(api).wait(POD, scheduled()) is BOUND


def test_an_expired_version_is_listed_again() -> None:
    api = ScriptedApi([[POD], [BOUND]], [EXPIRED])
    assert waiter(api).wait(POD, scheduled()) is BOUND


def test_a_watch_that_ends_goes_on_from_the_last_version() -> None:
    bookmark = change("BOOKMARK", {"metadata": {"resourceVersion": "7"}})
    api = ScriptedApi([[POD]], [[bookmark], [change("MODIFIED", BOUND)]])
    assert waiter(api).wait(POD, scheduled()) is BOUND
    assert api.watched_from == ["list-0", "7"]


def test_a_watch_that_breaks_silently_is_listed_again() -> None:
    api = ScriptedApi([[POD], [BOUND]], [[]])
    assert waiter(api).wait(POD, scheduled()) is BOUND


def test_a_server_that_restarts_is_asked_again() -> None:
    api = Restarting([[POD], [BOUND]], [[]])
    assert waiter(api).wait(POD, scheduled()) is BOUND
    assert api.silences == []


class Restarting(ScriptedApi):
    """Lists once; then there is no answer, then a refusal for the moment, then the next list."""

    def __init__(self, lists: list[Objs], watches: list[Step]) -> None:
        super().__init__(lists, watches)
        self.silences: list[Exception] = []

    def list(self, *args: object, **kwargs: object) -> tuple[Objs, str]:
        if len(self.lists) == 2:
            self.silences = [InfrastructureError("refused"), ApiError("list", 429, "TooManyRequests", "starting")]
        elif self.silences:
            raise self.silences.pop(0)
        return super().list(*args, **kwargs)


def test_a_server_that_stays_away_is_an_infrastructure_error() -> None:
    with pytest.raises(InfrastructureError, match="refused"):
        waiter(Dead([], [])).wait(POD, scheduled(), timeout=0)


class Dead(ScriptedApi):
    def list(self, *_: object, **__: object) -> tuple[Objs, str]:
        raise InfrastructureError("refused")


def test_another_error_of_the_watch_is_not_hidden() -> None:
    api = ScriptedApi([[POD]], [ApiError("watch", 403, "Forbidden", "no")])
    with pytest.raises(ApiError, match="Forbidden"):
        waiter(api).wait(POD, scheduled())


def test_a_deleted_object_fails_at_once() -> None:
    api = ScriptedApi([[POD]], [[change("DELETED", POD)]])
    with pytest.raises(WaitTimeout, match="does not exist"):
        waiter(api).wait(POD, running(), timeout=3600)


def test_another_object_of_the_same_name_counts_as_gone() -> None:
    api = ScriptedApi([[a_pod(uid="2")]], [])
    waiter(api).wait_gone(POD, timeout=3600)


class Finder:
    def explain(self, client: Client, obj: Obj) -> str | None:
        return f"nothing is free for {obj['metadata']['name']}"


class Timeline:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def observed(self, text: str, obj: Obj | None = None, seconds: float | None = None) -> None:
        self.lines.append(text)


def test_a_timeout_tells_state_events_and_finding() -> None:
    event = {"type": "Warning", "reason": "FailedScheduling", "message": "no node", "metadata": {}}
    refused = a_pod()
    refused["status"]["conditions"] = [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "cannot allocate"}
    ]
    api = ScriptedApi([[refused]], [], [event])
    timeline = Timeline()
    with pytest.raises(WaitTimeout) as raised:
        Waiter(api.as_client(), timeline, Finder()).wait(POD, scheduled("n"), timeout=0)
    text = str(raised.value)
    assert text.startswith("Pod ns/p is not scheduled to n after 0.0 s")
    assert "PodScheduled=False Unschedulable: cannot allocate" in text
    assert "Warning FailedScheduling: no node" in text
    assert "finding: nothing is free for p" in text
    assert timeline.lines == ["Pod ns/p is not scheduled to n after 0.0 s"]


class Unreachable(ScriptedApi):
    def events(self, _: Obj) -> Objs:
        raise InfrastructureError("no answer")


def test_a_timeout_stays_a_timeout_when_nothing_more_can_be_learned() -> None:
    with pytest.raises(WaitTimeout, match="no more is known: no answer"):
        waiter(Unreachable([[POD]], [])).wait(POD, unschedulable(), timeout=0)


def test_the_observer_hears_of_success() -> None:
    timeline = Timeline()
    Waiter(ScriptedApi([[BOUND]], []).as_client(), timeline).wait(POD, scheduled())
    assert timeline.lines == ["scheduled"]


def test_a_set_is_waited_for() -> None:
    other = a_pod("q", "2", "3", nodeName="n")
    api = ScriptedApi([[BOUND]], [[change("ADDED", other)]])
    assert waiter(api).wait_any("Pod", count_of(scheduled(), 2)) == [BOUND, other]


def test_an_event_is_waited_for() -> None:
    meta = {"name": "e", "namespace": "ns", "resourceVersion": "5"}
    event = {"metadata": meta, "reason": "Failed", "message": "because"}
    api = ScriptedApi([[]], [[change("ADDED", event)]])
    assert waiter(api).wait_event(POD, "Failed", "because") is event


def test_polling_returns_the_value_and_fails_with_the_last_one() -> None:
    values = iter([1, 2, 3])
    reader = waiter(ScriptedApi([], []))
    assert reader.poll(lambda: next(values), lambda value: value == 3, "three", interval=0) == 3
    with pytest.raises(WaitTimeout, match=r"seven: .* last read: 6"):
        reader.poll(lambda: 6, lambda value: value == 7, "seven", timeout=0)
