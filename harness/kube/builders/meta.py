"""What all builders share: metadata, and leaving out what was not given."""

from collections.abc import Mapping
from typing import Any

from harness.kube.resources import Obj


def built(
    kind: str, name: str, *, namespace: str | None = None, labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None, finalizers: tuple[str, ...] = (), **fields: Any,
) -> Obj:  # fmt: skip
    """An object without apiVersion: the client that creates it fills in the one its release uses."""
    metadata = given(name=name, namespace=namespace, labels=labels, annotations=annotations, finalizers=finalizers)
    return {"kind": kind, "metadata": metadata, **fields}


def given(**fields: Any) -> Obj:
    """The fields that say something: None, and empty lists and maps, are left out; False, 0 and "" stay."""
    return {key: _plain(value) for key, value in fields.items() if not _empty(value)}


def quantities(amounts: Mapping[str, str | int]) -> Obj:
    """Resource quantities: numbers may be given as such."""
    return {name: str(amount) for name, amount in amounts.items()}


def _empty(value: object) -> bool:
    return value is None or (isinstance(value, Mapping | list | tuple) and not value)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value
