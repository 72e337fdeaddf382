"""Which scenarios run, and in which order."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.plugin import selection
from harness.plugin.keys import MARKS
from harness.plugin.markers import Marks
from harness.plugin.options import Options


@dataclass
class Item:
    """As much of a collected test as the selection looks at."""

    name: str
    slow: bool = False
    stash: pytest.Stash = field(default_factory=pytest.Stash)

    def get_closest_marker(self, name: str) -> object:
        return self if name == "slow" and self.slow else None


def item(
    name: str, *, exclusive: bool = False, last: bool = False, off: dict[str, list[str]] | None = None,
    slow: bool = False,
) -> Item:  # fmt: skip
    made = Item(name, slow)
    profile = ("features", off, dict[str, list[str]]()) if off else None
    alone = "cluster" if exclusive else None
    made.stash[MARKS] = Marks(("WF-01",), (), (), frozenset(), frozenset(), profile, alone, last)
    return made


def ordered(*items: Item, seed: int | None = None) -> list[str]:
    options = cast(Options, SimpleNamespace(statements=None, shard=None, controls=False, seed=seed))
    kept: list[Any] = list(items)
    assert selection.select(kept, options) == []
    return [found.name for found in kept]


def test_scenarios_that_are_alone_on_a_cluster_run_first_those_of_one_profile_together() -> None:
    off = {"kube-scheduler": ["DRADeviceTaints"]}
    items = [
        item("a"),
        item("b", off=off),
        item("c", exclusive=True, off=off),
        item("d", exclusive=True, last=True),
        item("e", slow=True),
        item("f", exclusive=True, off=off, slow=True),
        item("g", exclusive=True),
    ]

    assert ordered(*items) == ["g", "d", "f", "c", "a", "b", "e"]


def test_a_seed_is_the_whole_order() -> None:
    items = [item(name, exclusive=name in "cd") for name in "abcdef"]

    assert ordered(*items, seed=1) == ordered(*items, seed=1)
    assert len({tuple(ordered(*items, seed=seed)) for seed in range(5)}) > 1
