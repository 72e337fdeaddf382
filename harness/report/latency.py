"""How long the cluster took for what scenarios measured: the same measure of all scenarios, in percentiles."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from harness.report.model import Report


@dataclass(frozen=True)
class Latency:
    """One measure over all scenarios of a report; in seconds."""

    measure: str
    count: int
    p50: float
    p95: float
    worst: float


def latencies(report: Report) -> list[Latency]:
    """Every measure of the report, by name."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for result in report.scenarios().values():
        for seen in result.observed:
            if seen.measure and seen.seconds is not None:
                seconds[seen.measure].append(seen.seconds)
    return [
        Latency(measure, len(found), percentile(found, 50), percentile(found, 95), max(found))
        for measure, found in sorted(seconds.items())
    ]


def percentile(values: Sequence[float], percent: float) -> float:
    """The nearest-rank percentile: a value that was measured, not one between two."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]
