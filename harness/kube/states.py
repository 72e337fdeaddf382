"""The changing state of a set of objects: a list, then a watch from its resourceVersion, until a deadline."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from harness.errors import InfrastructureError
from harness.kube.client import Client
from harness.kube.errors import ApiError
from harness.kube.polling import poll
from harness.kube.resources import Obj


@dataclass(frozen=True)
class Selection:
    """Which objects: a kind, in a namespace ("" for all, None for the client's own), by selectors."""

    kind: str
    namespace: str | None = None
    label_selector: str | None = None
    field_selector: str | None = None


#: Objects by namespace and name.
Key = tuple[str, str]
States = dict[Key, Obj]


def states(client: Client, selection: Selection, deadline: float) -> Iterator[States]:
    """The selected objects at first, and again after each change, until `deadline` (of time.monotonic()).

    It is the same dict each time, brought up to date. No change is left out as long as the watch holds. When it ends
    (the server closes it, restarts, or no longer knows the resourceVersion), a new list says how things are.
    """
    while True:
        items, version = _list(client, selection, deadline)
        current = {_key(item): item for item in items}
        yield current
        try:
            for event in _watch(client, selection, version, deadline):
                obj = event["object"]
                if event["type"] == "DELETED":
                    current.pop(_key(obj), None)
                else:
                    current[_key(obj)] = obj
                yield current
        except InfrastructureError:
            # Whether the server comes back is for the next list to find out.
            pass
        except ApiError as error:
            if not (error.expired or error.not_now):
                raise
        if time.monotonic() >= deadline:
            return


def _list(client: Client, selection: Selection, deadline: float) -> tuple[list[Obj], str]:
    """The objects and the version to watch from; a server that restarts has until the deadline to answer again."""

    def read() -> tuple[list[Obj], str] | InfrastructureError | ApiError:
        try:
            return client.list(
                selection.kind,
                selection.namespace,
                label_selector=selection.label_selector,
                field_selector=selection.field_selector,
            )
        except InfrastructureError as error:
            return error
        except ApiError as error:
            if not error.not_now:
                raise
            return error

    def over(answer: object) -> bool:
        return isinstance(answer, tuple) or time.monotonic() >= deadline

    answer = poll(read, over, f"list of {selection.kind}", timeout=inf)
    if isinstance(answer, tuple):
        return answer
    raise answer


def _watch(client: Client, selection: Selection, version: str, deadline: float) -> Iterator[Obj]:
    """Changes after `version`; a watch that ends early goes on from the last one it reported."""
    while (remaining := deadline - time.monotonic()) > 0:
        seen = version
        for event in client.watch(
            selection.kind,
            selection.namespace,
            resource_version=version,
            timeout=remaining,
            label_selector=selection.label_selector,
            field_selector=selection.field_selector,
        ):
            version = event["object"]["metadata"]["resourceVersion"]
            if event["type"] != "BOOKMARK":
                yield event
        if version == seen:
            # Broken off without a word: list again, which waits for a server that is restarting.
            return


def _key(obj: Obj) -> Key:
    meta = obj["metadata"]
    return meta.get("namespace", ""), meta["name"]
