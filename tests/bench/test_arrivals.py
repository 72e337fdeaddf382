import queue
from collections.abc import Iterator
from typing import Any, cast

import pytest

from harness.bench.arrivals import Arrivals, owners_name
from harness.errors import InfrastructureError
from harness.kube import Client, Obj
from harness.kube.predicates import exists, gone, scheduled


class Changes:
    """The two methods of a client that arrivals need; None in the queue breaks the watch."""

    def __init__(self) -> None:
        self.events: queue.Queue[Obj | None] = queue.Queue()

    def list(self, kind: str) -> tuple[list[Obj], str]:
        return [], "1"

    def watch(self, kind: str, *, resource_version: str, timeout: float) -> Iterator[Obj]:
        try:
            event = self.events.get(timeout=0.05)
        except queue.Empty:
            return
        if event is None:
            raise InfrastructureError("no server")
        yield event

    def put(self, name: str, type: str = "MODIFIED", owner: str = "", **spec: Any) -> None:
        owners = [{"name": owner}] if owner else []
        obj = {"metadata": {"name": name, "resourceVersion": "2", "ownerReferences": owners}, "spec": spec}
        self.events.put({"type": type, "object": obj})


def test_the_first_time_of_each_stage_counts() -> None:
    changes = Changes()
    with Arrivals(cast(Client, changes), "Pod", {"bound": scheduled(), "gone": gone()}) as seen:
        changes.put("one")
        changes.put("one", nodeName="node")
        assert seen.wait(lambda now: now.has("bound", "one"), 5)
        first = seen.first("bound")
        changes.put("one", nodeName="node")
        changes.put("two", nodeName="node")
        changes.put("one", "DELETED", nodeName="node")
        assert seen.wait(lambda now: now.count("gone") == 1, 5)
        assert seen.count("bound") == 2
        assert seen.first("bound")["one"] == first["one"]
        assert not seen.wait(lambda now: now.has("gone", "one", "two"), 0.1)


def test_a_listener_is_told_once_of_each_object() -> None:
    changes, told = Changes(), []
    with Arrivals(
        cast(Client, changes), "Pod", {"bound": scheduled()}, lambda obj: told.append(obj["metadata"])
    ) as seen:
        for name in ("one", "one", "two"):
            changes.put(name, nodeName="node")
        assert seen.wait(lambda now: now.count("bound") == 2, 5)
    assert [meta["name"] for meta in told] == ["one", "two"]


def test_a_broken_watch_is_told_and_not_waited_for() -> None:
    changes = Changes()
    with Arrivals(cast(Client, changes), "Pod", {"bound": scheduled()}) as seen:
        changes.events.put(None)
        with pytest.raises(InfrastructureError, match="the watch of Pod broke: no server"):
            seen.wait(lambda now: now.count("bound") == 1, 10)


def test_a_claim_that_was_made_for_a_pod_counts_as_the_pods() -> None:
    changes = Changes()
    with Arrivals(cast(Client, changes), "ResourceClaim", {"there": exists()}, name=owners_name) as seen:
        changes.put("own")
        changes.put("pod-gpu-x7", owner="pod")
        assert seen.wait(lambda now: now.has("there", "own", "pod"), 5)
