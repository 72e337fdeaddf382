"""Explanations of live objects: of what a user names, and of what a wait waits for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness.errors import UsageError
from harness.explain import render, snapshot, subjects
from harness.explain.model import Explanation
from harness.explain.placed import placed, waits
from harness.explain.pods import explain_pod
from harness.explain.snapshot import Snapshot
from harness.kube.client import Client
from harness.kube.resources import Obj


@dataclass(frozen=True)
class Subject:
    """What is to be explained: a kind, a name of one or more parts, and a namespace where the kind has one."""

    kind: str
    parts: tuple[str, ...]
    namespace: str | None = None

    @classmethod
    def parse(cls, kind: str, name: str, namespace: str) -> "Subject":
        """Of a command's arguments; a name without namespace is in `namespace`. Raises UsageError."""
        parts = tuple(name.split("/"))
        if not all(parts):
            raise UsageError(f"{name!r} is no name of a {kind}: a part of it is empty")
        if kind == "node" and len(parts) == 1:
            return cls(kind, parts)
        if kind == "device" and len(parts) > 2:
            return cls(kind, (parts[0], "/".join(parts[1:-1]), parts[-1]))  # names of pools may have slashes
        if kind in ("pod", "claim", "podgroup") and len(parts) <= 2:
            return cls(kind, parts[-1:], parts[0] if len(parts) == 2 else namespace)
        raise UsageError(f"{name!r} is no name of a {kind}: it has the form {FORMS[kind]}")

    def __str__(self) -> str:
        return f"{self.kind} {'/'.join(filter(None, (self.namespace, *self.parts)))}"


FORMS: Mapping[str, str] = {
    "pod": "[NS/]NAME", "claim": "[NS/]NAME", "podgroup": "[NS/]NAME", "device": "DRIVER/POOL/DEVICE", "node": "NAME",
}  # fmt: skip

_EXPLAINS: Mapping[str, Callable[..., Explanation | None]] = {
    "pod": explain_pod,
    "claim": subjects.explain_claim,
    "podgroup": subjects.explain_group,
    "device": subjects.explain_device,
    "node": subjects.explain_node,
}

_KINDS = {"Pod": "pod", "ResourceClaim": "claim", "PodGroup": "podgroup", "Node": "node"}


def explain(client: Client, subject: Subject) -> Explanation:
    """Read the cluster and explain. Raises UsageError where nothing is known of the subject, InfrastructureError."""
    taken = snapshot.read(client, subject.namespace)
    found = of(taken, subject)
    if found is None:
        unread = f"; not known: {'; '.join(taken.unread)}" if taken.unread else ""
        raise UsageError(f"{subject} does not exist, and no event tells of it{unread}")
    return found


def of(taken: Snapshot, subject: Subject) -> Explanation | None:
    """The explanation from a snapshot, None where nothing is known of the subject."""
    names = (subject.namespace, *subject.parts) if subject.namespace else subject.parts
    return _EXPLAINS[subject.kind](taken, *names)


class Explainer:
    """What waits ask (`harness.kube.waits.Explainer`): the causes in a line or two."""

    def explain(self, client: Client, obj: Obj) -> str | None:
        """The causes that are found, None if there are none. Never raises: it only adds to what went wrong already."""
        try:
            return self._explain(client, obj)
        except Exception as error:  # whatever it is must not hide the timeout that is to be explained
            return f"none: {type(error).__name__}: {error}"

    def remark(self, client: Client, obj: Obj) -> str:
        """What an observation of the object is worth telling beside: a Pod's node, devices and group, or why it waits.

        Empty where there is nothing to tell. Never raises: the observation counts, not the remark.
        """
        try:
            why = self._explain(client, obj) if waits(obj) else None
            return "waits because of " + why.replace("\n", "; ") if why else placed(client, obj)
        except Exception as error:  # as above
            return f"no more is known: {type(error).__name__}: {error}"

    @staticmethod
    def _explain(client: Client, obj: Obj) -> str | None:
        kind, meta = _KINDS.get(obj["kind"]), obj["metadata"]
        if kind is None:
            return None
        taken = snapshot.read(client, meta.get("namespace") or client.namespace)
        if kind == "pod":
            found = explain_pod(taken, meta.get("namespace") or client.namespace, meta["name"], meta.get("uid"))
        else:
            namespace = None if kind == "node" else meta.get("namespace") or client.namespace
            found = of(taken, Subject(kind, (meta["name"],), namespace))
        return render.brief(found) or None if found else None
