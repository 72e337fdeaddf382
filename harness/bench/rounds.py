"""Measuring several sides in turn, round by round, so that whatever else the machine does hits all of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from harness.bench.model import Series

Result = TypeVar("Result")

#: What one round has measured: samples in seconds, by the name of their series.
Samples = Mapping[str, Sequence[float]]


def interleaved(rounds: int, *sides: Callable[[], Result]) -> list[list[Result]]:
    """What each side returns in each round; two sides have their turns in the order A B A B."""
    results: list[list[Result]] = [[] for _ in sides]
    for _ in range(rounds):
        for side, result in zip(sides, results, strict=True):
            result.append(side())
    return results


def joined(titles: Mapping[str, str], rounds: Sequence[Samples]) -> list[Series]:
    """A series for each title that any round has samples of, in the order of the rounds."""
    samples = {name: tuple(s for each in rounds for s in each.get(name, ())) for name in titles}
    return [Series(name, title, samples[name]) for name, title in titles.items() if samples[name]]
