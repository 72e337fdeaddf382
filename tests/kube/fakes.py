"""A scripted API: lists and watch streams in the order in which a wait asks for them."""

from collections.abc import Iterator
from typing import Any, cast

from harness.kube.client import Client
from harness.kube.errors import ApiError
from harness.kube.resources import Obj

Objs = list[Obj]
Step = Objs | ApiError


class ScriptedApi:
    """Stands in for Client in tests of the waits' own logic."""

    def __init__(self, lists: list[Objs], watches: list[Step], events: Objs | None = None) -> None:
        self.lists = lists
        self.watches = watches
        self.events_about = events or []
        self.watched_from: list[str] = []

    def as_client(self) -> Client:
        return cast(Client, self)

    def list(self, *_: Any, **__: Any) -> tuple[Objs, str]:
        return self.lists.pop(0), f"list-{len(self.watched_from)}"

    def watch(self, *_: Any, resource_version: str, timeout: float, **__: Any) -> Iterator[Obj]:
        self.watched_from.append(resource_version)
        step = self.watches.pop(0) if self.watches else []
        if isinstance(step, ApiError):
            raise step
        yield from step

    def events(self, _: Obj) -> Objs:
        return self.events_about

    def find(self, obj: Obj) -> Obj | None:
        return obj


def a_pod(name: str = "p", uid: str = "1", version: str = "1", **spec: Any) -> Obj:
    meta = {"name": name, "namespace": "ns", "uid": uid, "resourceVersion": version}
    return {"kind": "Pod", "metadata": meta, "spec": spec, "status": {"phase": "Pending"}}


def change(type: str, obj: Obj) -> Obj:
    return {"type": type, "object": obj}
