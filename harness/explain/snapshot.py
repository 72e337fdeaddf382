"""All objects an explanation may need, read once: everything else here is a pure function of them."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from harness.errors import UsageError
from harness.kube.client import Client
from harness.kube.errors import ApiError
from harness.kube.resources import Obj, resource

#: Read from the whole cluster: what a Pod waits for is in other namespaces as often as in its own.
EVERYWHERE = (
    "Node", "Pod", "ResourceClaim", "DeviceClass", "ResourceSlice", "DeviceTaintRule",
)  # fmt: skip

#: Read from the subject's namespace.
BESIDE = ("ResourceClaimTemplate", "PodGroup", "Event")

#: Kinds that a cluster may not have: then there is nothing to read, and nothing missing.
_OPTIONAL = frozenset({"DeviceTaintRule", "PodGroup", "Lease"})

#: Reads at the same time; more only makes the API server throttle.
_READERS = 5

_LEADERS = "kube-system"


@dataclass(frozen=True)
class Snapshot:
    """Objects by kind, as they were at `taken`; `unread` tells in a line each what may not be read."""

    objects: Mapping[str, Sequence[Obj]] = field(default_factory=dict)
    taken: datetime = field(default_factory=lambda: datetime.now(UTC))
    unread: tuple[str, ...] = ()

    def all(self, kind: str, namespace: str | None = None) -> list[Obj]:
        """All objects of a kind (in that namespace)."""
        found = self.objects.get(kind, ())
        return [obj for obj in found if namespace in (None, obj["metadata"].get("namespace"))]

    def find(self, kind: str, name: str, namespace: str | None = None) -> Obj | None:
        """The object of that name, None where there is none."""
        return next((obj for obj in self.all(kind, namespace) if obj["metadata"]["name"] == name), None)

    def knows(self, kind: str) -> bool:
        """Whether all objects of the kind could be read: only then is the absence of one a fact."""
        return kind in self.objects

    def events(self, kind: str, name: str, namespace: str | None, uid: str | None = None) -> list[Obj]:
        """The Events about an object, oldest first; without uid, of whatever object had that name."""
        about = [
            event
            for event in self.all("Event")
            if (target := event.get("involvedObject") or {}).get("kind") == kind
            and target.get("name") == name
            and target.get("namespace") == namespace
            and uid in (None, target.get("uid"))
        ]
        return sorted(about, key=event_time)

    def events_of(self, obj: Obj) -> list[Obj]:
        """The Events about this very object, oldest first."""
        meta = obj["metadata"]
        return self.events(obj["kind"], meta["name"], meta.get("namespace"), meta.get("uid"))

    def age(self, moment: str | None) -> float:
        """Seconds from a time of the API's until the snapshot was taken, 0 for none."""
        return (self.taken - parse_time(moment)).total_seconds() if moment else 0.0


def read(client: Client, namespace: str | None) -> Snapshot:
    """Read the cluster, and the subject's namespace, with nothing but `list`.

    What may not be read everywhere is read from that namespace, and told. Raises InfrastructureError.
    """
    wanted = [(kind, "") for kind in EVERYWHERE] + [("Lease", _LEADERS)]
    wanted += [(kind, namespace) for kind in BESIDE] if namespace else []
    with ThreadPoolExecutor(_READERS) as readers:
        answers = list(readers.map(partial(_read, client, namespace), wanted))
    objects = {kind: found for (kind, _), (found, _) in zip(wanted, answers, strict=True) if found is not None}
    return Snapshot(objects, unread=tuple(line for _, line in answers if line))


def _read(client: Client, fallback: str | None, wanted: tuple[str, str]) -> tuple[list[Obj] | None, str]:
    kind, namespace = wanted
    plural = resource(kind).plural
    try:
        return client.list(kind, namespace)[0], ""
    except UsageError:  # the release has no such kind
        return [], ""
    except ApiError as error:
        if error.not_found and kind in _OPTIONAL:
            return [], ""
        if kind == "Lease":  # only one of several signs of a scheduler
            return None, ""
        why = f"may not list {plural} ({error.reason})" if error.status in (401, 403) else f"{plural}: {error.message}"
    if not namespace and fallback and resource(kind).namespaced:
        try:
            return client.list(kind, fallback)[0], f"{why} of other namespaces"
        except ApiError:
            pass
    return None, why


def event_time(event: Obj) -> str:
    """When an Event happened last, in the API's notation, which sorts."""
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return next((when for when in times if when), event["metadata"].get("creationTimestamp") or "")


def event_count(event: Obj) -> int:
    """How often it happened."""
    return int((event.get("series") or {}).get("count") or event.get("count") or 1)


def parse_time(moment: str) -> datetime:
    """A time as the API writes it."""
    return datetime.fromisoformat(moment)


def seconds(amount: float) -> str:
    """A length of time for a sentence."""
    return f"{amount:.0f} s" if amount < 300 else f"{amount / 60:.0f} min"
