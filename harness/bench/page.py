"""The numbers as one self-contained page with plots."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jinja2 import Environment, PackageLoader, StrictUndefined

from harness.bench.model import Bench, Series

#: Geometry of a plot, in its own units: the browser scales it to the page.
WIDTH = 720
LEFT = 8
ROW = 46
AXIS = 26

_STEPS = (1, 2, 2.5, 5, 10)
_TICKS = 5
#: Dots of one row are put on this many lines, so that equal samples are seen.
_LANES = 9


@dataclass(frozen=True)
class Row:
    """The samples of one series on the axis, those of an earlier benchmark paler."""

    title: str
    numbers: str
    y: int
    dots: Sequence[tuple[float, float]]
    median: float
    limit: float | None
    limit_text: str
    earlier: bool


@dataclass(frozen=True)
class Plot:
    """Some series on one axis. Everything in the plot's own units."""

    title: str
    rows: Sequence[Row]
    ticks: Sequence[tuple[float, str]]

    @property
    def height(self) -> int:
        """Of the whole plot."""
        return len(self.rows) * ROW + AXIS


@dataclass(frozen=True)
class _Figure:
    title: str
    names: Sequence[str]
    limits: Mapping[str, float] = field(default_factory=dict)


_FIGURES = (
    _Figure("Start and removal of a cluster", ("floor", "start", "teardown")),
    _Figure("What a scenario costs in the harness", ("empty scenario", "driver scenario"), {"empty scenario": 0.3}),
    _Figure("Wake-up of a wait", ("wake-up",), {"wake-up": 0.05}),
    _Figure("What Kubernetes needs for a Pod with a claim", ("bound", "running", "gone")),
    _Figure("Pods that wait for binding conditions", ("beside", "condition", "conditions")),
)


def render(bench: Bench, earlier: Bench | None) -> str:
    """The page; with an earlier benchmark its samples stand below the new ones."""
    environment = Environment(
        loader=PackageLoader("harness.bench"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"amount": amount, "change": change}
    plots = [_plot(figure, bench, earlier) for figure in _FIGURES]
    before = {series.name: series for series in earlier.series} if earlier else {}
    template = environment.get_template("bench.html.j2")
    return template.render(bench=bench, earlier=earlier, before=before, plots=plots, width=WIDTH, row=ROW, axis=AXIS)


def amount(seconds: float) -> str:
    """A duration with three digits at most."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.01 or not seconds else f"{seconds * 1000:.2g} ms"


def change(now: float, then: float) -> str:
    """How much longer or shorter it takes now."""
    return f"{(now / then - 1) * 100:+.0f} %" if then else "new"


def _plot(figure: _Figure, bench: Bench, earlier: Bench | None) -> Plot:
    shown = [
        (source[name], old)
        for name in figure.names
        for source, old in ((bench, False), (earlier, True))
        if source and any(series.name == name for series in source.series)
    ]
    farthest = max([*(max(series.samples) for series, _ in shown), *figure.limits.values()]) * 1.04
    scale = (WIDTH - 2 * LEFT) / farthest
    rows = [
        _row(series, number * ROW, scale, figure.limits.get(series.name), old)
        for number, (series, old) in enumerate(shown)
    ]
    step = _step(farthest)
    ticks = [(LEFT + step * n * scale, amount(step * n) if n else "0") for n in range(int(farthest / step) + 1)]
    return Plot(figure.title, rows, ticks)


def _row(series: Series, y: int, scale: float, limit: float | None, old: bool) -> Row:
    numbers = f"median {amount(series.median)}, p95 {amount(series.percentile(95))}, max {amount(max(series.samples))}"
    dots = [
        (round(LEFT + sample * scale, 1), y + 24 + 1.8 * (number * 4 % _LANES - _LANES // 2))
        for number, sample in enumerate(series.samples)
    ]
    return Row(
        title=f"{series.title} (earlier)" if old else series.title,
        numbers=f"{numbers}, n = {len(series.samples)}",
        y=y,
        dots=dots,
        median=LEFT + series.median * scale,
        limit=None if limit is None else LEFT + limit * scale,
        limit_text="" if limit is None else f"budget {amount(limit)}",
        earlier=old,
    )


def _step(farthest: float) -> float:
    """A round distance between ticks."""
    rough = farthest / _TICKS
    power = 10 ** math.floor(math.log10(rough))
    return float(next(step * power for step in _STEPS if step * power >= rough))
