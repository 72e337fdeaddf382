"""The markers of a scenario, read once at collection; a wrong one is a usage error, never ignored."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

import pytest

from harness.clusters.protocol import Capability
from harness.errors import UsageError
from harness.releases import get
from harness.report import Deviation
from harness.report.catalogue import Catalogue

Made = TypeVar("Made")

MARKERS = (
    "statement(ID, ...): the scenario shows these statements of the catalogue",
    "control(ID, ...): the same observation under one named difference, which must come out otherwise",
    "deviates(ID, why, where=()): the cluster does something else than the documents say; where: releases of programs",
    "needs(capability, ...): what the cluster must offer; without it the scenario is skipped with that reason",
    "feature(name, ...): what the release must have, by its name in the data; otherwise it is not in this release",
    "profile(name, off={}, on={}): the configuration the scenario runs on, per component",
    "exclusive(what, last=False): 'cluster' or 'node': the scenario reaches further than its own objects and runs "
    "alone there; last: after the others, because nobody else can have the cluster afterwards",
    "slow: takes longer than ten seconds for a reason of Kubernetes' own",
)


@dataclass(frozen=True)
class Marks:
    """All that the markers of one scenario say."""

    statements: tuple[str, ...]
    controls: tuple[str, ...]
    deviations: tuple[Deviation, ...]
    needs: frozenset[str]
    features: frozenset[str]
    profile: tuple[str, Mapping[str, Sequence[str]], Mapping[str, Sequence[str]]] | None
    exclusive: str | None
    last: bool = False

    @property
    def ids(self) -> frozenset[str]:
        """Every statement this scenario has to do with."""
        return frozenset(self.statements) | frozenset(self.controls)


def read(item: pytest.Item, catalogue: Catalogue) -> Marks:
    """Read the markers of a test. Raises UsageError that names the test."""
    marks = Marks(
        statements=_ids(item, "statement", catalogue),
        controls=_ids(item, "control", catalogue),
        deviations=tuple(_bound(item, mark, Deviation) for mark in item.iter_markers("deviates")),
        needs=_needs(item),
        features=_features(item),
        profile=_profile(item),
        **_exclusive(item),
    )
    strangers = {deviation.statement for deviation in marks.deviations} - set(marks.statements)
    if strangers:
        raise UsageError(f"{item.nodeid}: deviates({', '.join(sorted(strangers))}) without statement() of that ID")
    if not marks.ids and "scenario" in getattr(item, "fixturenames", ()):
        raise UsageError(f"{item.nodeid}: a scenario needs @pytest.mark.statement or @pytest.mark.control")
    return marks


def _ids(item: pytest.Item, marker: str, catalogue: Catalogue) -> tuple[str, ...]:
    ids = tuple(dict.fromkeys(str(argument) for mark in item.iter_markers(marker) for argument in mark.args))
    for identifier in ids:
        if identifier not in catalogue:
            raise UsageError(f"{item.nodeid}: {marker}({identifier!r}): the catalogue has no such statement")
    return ids


def _needs(item: pytest.Item) -> frozenset[str]:
    needs = frozenset(str(argument) for mark in item.iter_markers("needs") for argument in mark.args)
    unknown = needs - set(get_args(Capability))
    if unknown:
        raise UsageError(f"{item.nodeid}: needs({', '.join(sorted(unknown))}): known are {get_args(Capability)}")
    return needs


def _features(item: pytest.Item) -> frozenset[str]:
    named = frozenset(str(argument) for mark in item.iter_markers("feature") for argument in mark.args)
    for name in named:
        try:
            get().has(name)
        except KeyError:
            raise UsageError(f"{item.nodeid}: feature({name!r}): no release's data has it") from None
    return named


def _profile(item: pytest.Item) -> tuple[str, Mapping[str, Sequence[str]], Mapping[str, Sequence[str]]] | None:
    mark = item.get_closest_marker("profile")
    if mark is None:
        return None

    def fields(name: str, off: Any = None, on: Any = None) -> tuple[str, Any, Any]:
        return name, off or {}, on or {}

    return _bound(item, mark, fields)


def _bound(item: pytest.Item, mark: pytest.Mark, make: Callable[..., Made]) -> Made:
    """What a marker's arguments make; a missing or unknown one is the author's mistake."""
    try:
        return make(*mark.args, **mark.kwargs)
    except TypeError as error:
        raise UsageError(f"{item.nodeid}: {mark.name}: {error}") from None


def _exclusive(item: pytest.Item) -> dict[str, Any]:
    mark = item.get_closest_marker("exclusive")
    if mark is None:
        return {"exclusive": None}

    def fields(what: str, *, last: bool = False) -> dict[str, Any]:
        if what not in ("cluster", "node"):
            raise UsageError(f"{item.nodeid}: exclusive{mark.args}: say 'cluster' or 'node'")
        return {"exclusive": what, "last": last}

    return _bound(item, mark, fields)
