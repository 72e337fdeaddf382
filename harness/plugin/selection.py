"""Which scenarios run, how often and in which order."""

import random

import pytest

from harness.plugin.keys import MARKS
from harness.plugin.markers import Marks
from harness.plugin.options import Options
from harness.plugin.shards import share

ROUND = "dra_e2e_round"


def select(items: list[pytest.Item], options: Options) -> list[pytest.Item]:
    """Keep the chosen scenarios in `items`, in the order in which they run; return the deselected ones."""
    kept: list[pytest.Item] = []
    deselected: list[pytest.Item] = []
    for item in items:
        (kept if _chosen(item.stash[MARKS], options) else deselected).append(item)
    if options.shard is not None:
        mine = share([(item.stash[MARKS].ids, _weight(item)) for item in kept], options.shard)
        deselected += [item for place, item in enumerate(kept) if place not in mine]
        kept = [item for place, item in enumerate(kept) if place in mine]
    if options.seed is not None:
        random.Random(options.seed).shuffle(kept)  # noqa: S311 - an order, not a secret
    else:
        kept.sort(key=_turn)
    items[:] = kept
    return deselected


def _weight(item: pytest.Item) -> int:
    """About how long it takes, in seconds."""
    return 20 if item.get_closest_marker("slow") or item.stash[MARKS].exclusive else 2


def _turn(item: pytest.Item) -> tuple[bool, str, bool, bool]:
    """What needs a cluster for itself runs first, one after another in the same one, so that few are started."""
    marks = item.stash[MARKS]
    if not marks.exclusive:
        return (True, "", False, False)
    return (False, repr(marks.profile or ""), marks.last, item.get_closest_marker("slow") is None)


def _chosen(marks: Marks, options: Options) -> bool:
    if options.controls and not marks.statements:
        return False
    return options.statements is None or bool(marks.ids & options.statements)


def repeat(metafunc: pytest.Metafunc, rounds: int) -> None:
    """Run a test `rounds` times: each round is a test of its own, so any worker can take it."""
    if rounds > 1:
        metafunc.fixturenames.append(ROUND)
        metafunc.parametrize(ROUND, range(rounds), ids=[f"round{number}" for number in range(1, rounds + 1)])
