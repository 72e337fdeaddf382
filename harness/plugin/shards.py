"""Shards of a run: which scenarios go together, and which machine takes which."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.errors import UsageError

_FORM = re.compile(r"(\d+)/(\d+)")


@dataclass(frozen=True)
class Shard:
    """One of several parts of a run; `number` counts from 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """From `2/5`. Raises UsageError."""
        found = _FORM.fullmatch(text)
        if found is None:
            raise UsageError(f"--shard {text}: write it like 2/5, the second of five")
        number, of = map(int, found.groups())
        if of < 1:
            raise UsageError(f"--shard {text}: there must be at least one part, as in 1/1")
        if not 1 <= number <= of:
            raise UsageError(f"--shard {text}: the first number must be from 1 to {of}")
        return cls(number, of)


@dataclass
class Bundle:
    """Scenarios that must run in one shard: together they make the verdicts on their statements."""

    ids: set[str]
    members: list[int]
    weight: int


def bundles(marked: Sequence[tuple[frozenset[str], int]]) -> list[Bundle]:
    """What has a statement in common, directly or by others, comes into one bundle.

    `marked` has of each scenario its statements and its weight; members are places in it.
    """
    found: list[Bundle] = []
    for place, (ids, weight) in enumerate(marked):
        met = [bundle for bundle in found if bundle.ids & ids]
        one = Bundle({*ids}.union(*(bundle.ids for bundle in met)), [place], weight)
        for bundle in met:
            one.members += bundle.members
            one.weight += bundle.weight
            found.remove(bundle)
        found.append(one)
    return found


def share(marked: Sequence[tuple[frozenset[str], int]], shard: Shard) -> set[int]:
    """The places of a shard's scenarios: every shard finds the same division, and all have about the same weight."""
    shares: list[list[Bundle]] = [[] for _ in range(shard.of)]
    for bundle in sorted(bundles(marked), key=lambda one: (-one.weight, min(one.members))):
        min(shares, key=_weight).append(bundle)
    return {place for bundle in shares[shard.number - 1] for place in bundle.members}


def _weight(taken: Iterable[Bundle]) -> int:
    return sum(bundle.weight for bundle in taken)
