"""A timeline as an SVG picture."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from jinja2 import Environment

from harness import pages
from harness.timeline.model import Lane, Moment, Source, Span, State, Timeline

#: Geometry, in the picture's own units.
WIDTH = 880
_LEFT, _RIGHT = 12, 24
_AXIS = 24
_NAME, _BAR, _TAINT, _ROW, _GAP = 18, 17, 6, 14, 12
_LEGEND = 18
#: Widths of a character of the labels, the texts in bars, and the legend; a little more than fonts need.
_LABEL_CHAR, _BAR_CHAR, _LEGEND_CHAR = 5.9, 6.1, 6.3
#: Labels of one lane stand in so many rows at most; a moment that finds no place is a mark with a tooltip.
_ROWS = 7

_STEPS = (1, 2, 5, 10)
_TICKS = 8
_UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))

_MEANING = {
    Source.CLUSTER: "time as the cluster has it, often to the whole second",
    Source.OBSERVED: "time of arrival at the harness, where that tells more",
}


@dataclass(frozen=True)
class _Bar:
    x: float
    width: float
    state: State
    shown: str
    title: str


#: A row and the part of it that is not free.
_Taken = tuple[int, float, float]


@dataclass(frozen=True)
class _Label:
    """What is written of a moment, from `begin` to `end`; only the `first` of several of the same is labelled.

    `more`: the title says more than the text.
    """

    x: float
    begin: float
    end: float
    left: bool
    first: bool
    text: str
    title: str
    more: bool
    source: Source


@dataclass(frozen=True)
class _Mark:
    """A moment in the bar; `row` of its label, None without."""

    x: float
    source: Source
    title: str
    label: str
    row: int | None
    left: bool


@dataclass(frozen=True)
class _Row:
    """A lane in the picture."""

    y: int
    kind: str
    name: str
    path: str
    bars: Sequence[_Bar]
    taints: Sequence[_Bar]
    marks: Sequence[_Mark]

    @property
    def height(self) -> int:
        rows = max((mark.row + 1 for mark in self.marks if mark.row is not None), default=0)
        return _NAME + _BAR + (_TAINT if self.taints else 0) + rows * _ROW + _GAP


@dataclass(frozen=True)
class _Key:
    """One entry of the legend."""

    x: float
    y: int
    text: str
    state: State | None = None
    source: Source | None = None


def inline(timeline: Timeline) -> str:
    """The picture for a page that has `style()` among its own."""
    return _render(timeline, standalone=False)


def document(timeline: Timeline) -> str:
    """The picture as a file of its own."""
    return _render(timeline, standalone=True)


def style() -> str:
    """CSS of every picture: light and dark."""
    return _environment().get_template("axis.css").render()


def duration(amount: float, step: float = 0.0) -> str:
    """A length of time in one unit that suits it, with the digits that a `step` needs."""
    size, unit = next((each for each in _UNITS if max(amount, step) >= 2 * each[0]), _UNITS[-1])
    digits = max(0, math.ceil(-math.log10(step / size) - 1e-9)) if step else 1 if amount / size >= 20 else 2
    return f"{amount / size:.{digits}f} {unit}"


@cache
def _environment() -> Environment:
    return pages.environment("harness.timeline")


def _render(timeline: Timeline, *, standalone: bool) -> str:
    scale = _Scale(timeline.length)
    rows: list[_Row] = []
    y = _AXIS
    for lane in timeline.lanes:
        rows.append(_row(lane, y, scale))
        y += rows[-1].height
    keys = _legend(timeline.lanes, y + 6 + (_LEGEND if timeline.omitted else 0))
    return (
        _environment()
        .get_template("axis.svg.j2")
        .render(
            rows=rows, ticks=scale.ticks(), keys=keys, standalone=standalone, style=style() if standalone else "",
            width=WIDTH, height=(keys[-1].y if keys else y) + _LEGEND, foot=y - _GAP // 2, omitted=timeline.omitted,
            start=timeline.start, axis=_AXIS, bar=_BAR, name=_NAME, taint=_TAINT, line=_ROW,
        )
    )  # fmt: skip


class _Scale:
    """Seconds to units of the picture."""

    def __init__(self, length: float) -> None:
        self._length = length
        self._factor = (WIDTH - _LEFT - _RIGHT) / length

    def __call__(self, at: float) -> float:
        return round(_LEFT + at * self._factor, 1)

    def ticks(self) -> list[tuple[float, str]]:
        """Round times and where they are."""
        step = _step(self._length / _TICKS)
        count = int(self._length / step * 1.0001)
        return [(self(step * number), duration(step * number, step) if number else "0") for number in range(count + 1)]


def _step(rough: float) -> float:
    """A round distance between ticks, in the unit that fits."""
    unit = next((size for size, _ in _UNITS if rough >= size), 1.0)
    power: float = unit * 10 ** math.floor(math.log10(rough / unit))
    return next(step * power for step in _STEPS if step * power >= rough * 0.999)


def _row(lane: Lane, y: int, scale: _Scale) -> _Row:
    path, _, name = lane.name.rpartition("/")
    states = [_bar(span, scale) for span in lane.spans if span.state is not State.TAINTED]
    taints = [_bar(span, scale) for span in lane.spans if span.state is State.TAINTED]
    return _Row(y, lane.kind, name, path, states, taints, _marks(lane.moments, scale))


def _bar(span: Span, scale: _Scale) -> _Bar:
    x = scale(span.start)
    width = max(round(scale(span.end) - x, 1), 1.0)
    shown = span.state if len(span.state) * _BAR_CHAR + 12 <= width else ""
    text = f": {span.text}" if span.text else ""
    title = f"{span.state} for {duration(span.end - span.start)}{text}"
    return _Bar(x, width, span.state, shown, title if text or not shown else "")


def _marks(moments: Sequence[Moment], scale: _Scale) -> list[_Mark]:
    """Each label goes to the first row where it and the line from its mark cross nothing.

    Labels extend to the right of their marks and are placed from right to left: so no line has to cross one that was
    placed before. Those that find no room at the right end, and those among them, are the other way round.
    """
    labels: list[_Label] = []
    edge = float(WIDTH)
    for number in reversed(range(len(moments))):
        labels.insert(0, label := _label(moments, number, scale, edge))
        edge = min(edge, label.begin) if label.left else edge
    outer = [label for label in labels if label.left]
    inner = [label for label in labels if not label.left]
    taken: list[_Taken] = []
    marks: list[_Mark] = []
    for label in (*outer, *reversed(inner)):
        row = _place(taken, label) if label.first else None
        if row is not None:
            taken += [(row, label.begin, label.end), *((above, label.x, label.x) for above in range(row))]
        title = label.title if label.more or row is None else ""
        marks.append(_Mark(label.x, label.source, title, label.text, row, label.left))
    return sorted(marks, key=lambda mark: mark.x)


def _label(moments: Sequence[Moment], number: int, scale: _Scale, edge: float) -> _Label:
    """Right of its mark, unless it ends beyond the picture or its mark is beyond the `edge` of labels on the left."""
    moment = moments[number]
    x = scale(moment.at)
    often = sum(other.what == moment.what for other in moments)
    first = all(other.what != moment.what for other in moments[:number])
    text = f"{moment.what}{f' x{often}' if often > 1 else ''} {duration(moment.at)}"
    more = f": {moment.text}" if moment.text else ""
    width = len(text) * _LABEL_CHAR
    left = (x + width + 4 > WIDTH or x > edge) and x - width - 4 > 0
    begin, end = (x - width - 4, x - 3) if left else (x + 3, x + width + 4)
    title = f"{moment.what} at {duration(moment.at)}{more} ({moment.source})"
    return _Label(x, begin, end, left, first, text, title, bool(more), moment.source)


def _place(taken: Sequence[_Taken], label: _Label) -> int | None:
    for row in range(_ROWS):
        over = any(other == row and label.begin < right + 2 and left - 2 < label.end for other, left, right in taken)
        across = any(other < row and left < label.x < right for other, left, right in taken)
        if not over and not across:
            return row
    return None


def _legend(lanes: Sequence[Lane], y: int) -> list[_Key]:
    """What occurs, in as many lines as it needs."""
    used = {span.state for lane in lanes for span in lane.spans}
    sources = {moment.source for lane in lanes for moment in lane.moments}
    entries: list[tuple[str, State | None, Source | None]] = [(s, s, None) for s in State if s in used]
    entries += [(_MEANING[source], None, source) for source in Source if source in sources]
    keys: list[_Key] = []
    x, line = float(_LEFT), y + 8
    for text, state, source in entries:
        width = 18 + len(text) * _LEGEND_CHAR + 12
        new = keys and source and keys[-1].state  # the shapes have a line of their own
        if (x + width > WIDTH or new) and x > _LEFT:
            x, line = float(_LEFT), line + _LEGEND
        keys.append(_Key(round(x, 1), line, text, state, source))
        x += width
    return keys
