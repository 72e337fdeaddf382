"""Throughput as bars, workload by workload, and as lines, where it grows or falls with something."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.bench.model import Backlog, Bench

#: Heights in pixels.
BAR = 18
HEAD = 24
LINES = 150

#: Percentages of the width: where bars begin, and how long the longest is. Beside them is room for texts.
LEFT = 21
LONGEST = 60


@dataclass(frozen=True)
class Bar:
    """One backlog. Horizontal places are percentages, vertical ones pixels."""

    label: str
    y: int
    width: float
    text: str
    beside: bool


@dataclass(frozen=True)
class Group:
    """The bars of one workload."""

    title: str
    y: int
    bars: Sequence[Bar]


@dataclass(frozen=True)
class Point:
    """One backlog on a line."""

    x: float
    y: float
    label: str
    text: str


@dataclass(frozen=True)
class Line:
    """How one workload fares with more of something."""

    points: Sequence[Point]
    beside: bool


@dataclass(frozen=True)
class Growth:
    """Lines on one pair of axes; the vertical one begins with 0."""

    title: str
    lines: Sequence[Line]


def groups(bench: Bench) -> list[Group]:
    """All workloads with the devices and Pods that are measured of every one, by the number of nodes."""
    common = _common(bench)
    sources = [(bench, False), *([(bench.beside, True)] if bench.beside else [])]
    shown = [
        (each, beside)
        for backlog in bench.backlogs
        if _rest(backlog) == common
        for source, beside in sources
        for each in source.backlogs
        if each.key == backlog.key
    ]
    longest = max((each.rate for each, _ in shown), default=0.0) or 1.0
    made: list[Group] = []
    y = 0
    for workload in dict.fromkeys(each.workload for each, _ in shown):
        own = [(each, beside) for each, beside in shown if each.workload == workload]
        bars = [
            Bar(
                "" if beside else f"{each.nodes} nodes",
                y + HEAD + number * BAR,
                round(LONGEST * each.rate / longest, 2),
                text(each),
                beside,
            )
            for number, (each, beside) in enumerate(own)
        ]
        made.append(Group(own[0][0].title, y, bars))
        y += HEAD + len(bars) * BAR + 8
    return made


def growths(bench: Bench, workload: str) -> list[Growth]:
    """How a workload fares with more nodes, devices and waiting Pods; what has one point only is left out."""
    made = [_growth(bench, workload, *axis) for axis in _AXES]
    return [growth for growth in made if growth.lines]


def text(backlog: Backlog) -> str:
    """Its rate, and what was not bound in time."""
    rate = f"{backlog.rate:.0f}" if backlog.rate >= 10 else f"{backlog.rate:.1f}"
    return rate if backlog.complete else f"{rate} ({min(b for b, _ in backlog.rounds)} of {backlog.pods})"


def _growth(
    bench: Bench, workload: str, title: str, of: Callable[[Backlog], int], rest: Callable[[Backlog], object]
) -> Growth:
    """One axis. Only points that differ in nothing else are on a line."""
    own = [each for each in bench.backlogs if each.workload == workload]
    kinds = [rest(each) for each in own]
    best = max(kinds, key=kinds.count, default=None)
    lines: list[Line] = []
    sources = [bench.beside, bench] if bench.beside else [bench]
    found = [
        sorted((each for each in source.backlogs if each.workload == workload and rest(each) == best), key=of)
        for source in sources
    ]
    highest = max((each.rate for line in found for each in line), default=0.0) or 1.0
    for source, line in zip(sources, found, strict=True):
        if len(line) > 1:
            farthest = of(line[-1])
            points = [
                Point(
                    round(10 + 80 * of(each) / farthest, 2),
                    round(LINES - 28 - (LINES - 52) * each.rate / highest, 1),
                    str(of(each)),
                    text(each),
                )
                for each in line
            ]
            lines.append(Line(points, source is not bench))
    return Growth(title, lines)


def _rest(backlog: Backlog) -> tuple[int, int]:
    return backlog.devices, backlog.pods


def _common(bench: Bench) -> tuple[int, int] | None:
    kinds = [_rest(each) for each in bench.backlogs]
    return max(kinds, key=kinds.count, default=None)


_AXES: Sequence[tuple[str, Callable[[Backlog], int], Callable[[Backlog], object]]] = (
    ("nodes", lambda each: each.nodes, lambda each: (each.devices, each.pods)),
    ("devices in each slice", lambda each: each.devices, lambda each: (each.nodes, each.pods)),
    ("Pods that wait", lambda each: each.pods, lambda each: (each.nodes, each.devices)),
)
