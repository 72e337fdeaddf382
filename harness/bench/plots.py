"""Samples as dots on an axis. Horizontal places are percentages: the picture is as wide as the page lets it be."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.bench.model import Bench, Series

#: Heights in pixels: of a row (one that stands beside another has no title of its own), of the texts above its dots.
ROW = 62
ROW_BESIDE = 46
TEXTS = 36
TEXTS_BESIDE = 20
AXIS = 24

_STEPS = (1, 2, 2.5, 5, 10)
_TICKS = 4
#: Dots of one row are put on this many lines, so that equal samples are seen.
_LANES = 9
#: The shortest time that a logarithmic axis shows.
_SHORTEST = 0.001


@dataclass(frozen=True)
class Figure:
    """Series that share an axis. On a logarithmic one what differs by a factor of a thousand can still be read."""

    title: str
    names: Sequence[str]
    limits: Mapping[str, float] = field(default_factory=dict)
    logarithmic: bool = False
    text: str = ""


@dataclass(frozen=True)
class Row:
    """The samples of one series, those of the benchmark beside it paler."""

    title: str
    """Empty where it stands beside the row above."""
    numbers: str
    y: int
    height: int
    top: int
    """Where the dots begin."""
    dots: Sequence[tuple[float, float]]
    median: float
    limit: float | None
    limit_text: str
    beside: bool


@dataclass(frozen=True)
class Plot:
    """A figure as it is drawn."""

    title: str
    text: str
    rows: Sequence[Row]
    ticks: Sequence[tuple[float, str]]

    @property
    def height(self) -> int:
        """Of the whole plot."""
        return sum(row.height for row in self.rows) + AXIS


@dataclass(frozen=True)
class Axis:
    """From times in seconds to percentages of the width."""

    first: float
    last: float
    logarithmic: bool

    @classmethod
    def of(cls, samples: Sequence[float], logarithmic: bool) -> "Axis":
        """One on which all samples are; a linear one begins with 0."""
        if not logarithmic:
            return cls(0.0, max(samples) * 1.04, False)
        powers = [math.log10(max(sample, _SHORTEST)) for sample in (min(samples), max(samples))]
        return cls(10 ** math.floor(powers[0]), 10 ** max(math.ceil(powers[1]), math.floor(powers[0]) + 1), True)

    def place(self, seconds: float) -> float:
        """Where a time is."""
        if not self.logarithmic:
            return round(100 * seconds / self.last, 2)
        shown = math.log10(max(seconds, self.first) / self.first)
        return round(100 * shown / math.log10(self.last / self.first), 2)

    def ticks(self) -> list[tuple[float, str]]:
        """Round times and where they are."""
        if self.logarithmic:
            decades = round(math.log10(self.last / self.first))
            times = [self.first * 10**decade for decade in range(decades + 1)]
        else:
            step = _step(self.last)
            times = [step * number for number in range(int(self.last / step) + 1)]
        return [(self.place(seconds), amount(seconds) if seconds else "0") for seconds in times]


def plot(figure: Figure, bench: Bench) -> Plot | None:
    """The figure of a benchmark, and of the one beside it; None where nothing of it was measured."""
    shown = [
        (series, beside)
        for name in figure.names
        for source, beside in ((bench, False), (bench.beside, True))
        for series in (source.series if source else ())
        if series.name == name
    ]
    if all(beside for _, beside in shown):
        return None
    every = [sample for series, _ in shown for sample in series.samples]
    axis = Axis.of([*every, *figure.limits.values()], figure.logarithmic)
    rows: list[Row] = []
    for series, beside in shown:
        y = rows[-1].y + rows[-1].height if rows else 0
        rows.append(_row(series, y, axis, figure.limits.get(series.name), beside))
    return Plot(figure.title, figure.text, rows, axis.ticks())


def amount(seconds: float) -> str:
    """A duration with three digits at most."""
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.01 or not seconds else f"{seconds * 1000:.2g} ms"


def change(now: float, then: float) -> str:
    """How much more or less it is now."""
    return f"{(now / then - 1) * 100:+.0f} %" if then else "new"


def _row(series: Series, y: int, axis: Axis, limit: float | None, beside: bool) -> Row:
    percentiles = ", ".join(f"p{percent} {amount(series.percentile(percent))}" for percent in (50, 95, 99))
    top = y + (TEXTS_BESIDE if beside else TEXTS)
    dots = [
        (axis.place(sample), top + 9 + 1.8 * (number * 4 % _LANES - _LANES // 2))
        for number, sample in enumerate(series.samples)
    ]
    return Row(
        title="" if beside else series.title,
        numbers=f"{percentiles}, n = {len(series.samples)}",
        y=y,
        height=ROW_BESIDE if beside else ROW,
        top=top,
        dots=dots,
        median=axis.place(series.median),
        limit=None if limit is None else axis.place(limit),
        limit_text="" if limit is None else f"budget {amount(limit)}",
        beside=beside,
    )


def _step(farthest: float) -> float:
    """A round distance between ticks."""
    rough = farthest / _TICKS
    power = 10 ** math.floor(math.log10(rough))
    return float(next(step * power for step in _STEPS if step * power >= rough))
