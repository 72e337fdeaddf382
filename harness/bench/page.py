"""The numbers as one self-contained page with plots."""

from harness import pages
from harness.bench import bars, held_back, latency, overhead, plots, start_up, throughput, wake_up
from harness.bench.model import Bench
from harness.bench.plots import Figure, amount, change
from harness.bench.workloads import CLAIM

_DECISIONS = tuple(
    Figure(
        title,
        [f"{feature.workload.name} {stage}" for feature in latency.FEATURES if stage in feature.stages],
        logarithmic=True,
    )
    for stage, title in latency.STAGES.items()
)
_OTHERS = (
    Figure("Pods that wait for binding conditions", held_back.NAMES),
    Figure("Start and removal of a cluster", tuple(start_up.TITLES)),
    Figure("What a scenario costs in the harness", tuple(overhead.TITLES), {"empty scenario": 0.3}),
    Figure("Wake-up of a wait", tuple(wake_up.TITLES), {"wake-up": 0.05}),
)


def render(bench: Bench) -> str:
    """The page; what stands beside the benchmark is below its own numbers, paler."""
    templates = pages.environment("harness.bench")
    templates.filters |= {"amount": amount, "change": change, "rate": bars.text}
    drawn = {
        kind: [plot for figure in figures if (plot := plots.plot(figure, bench))]
        for kind, figures in (("decisions", _DECISIONS), ("others", _OTHERS))
    }
    beside = bench.beside
    return templates.get_template("bench.html.j2").render(
        bench=bench,
        beside=beside,
        groups=bars.groups(bench),
        growths=bars.growths(bench, CLAIM.name),
        **drawn,
        series_beside={series.name: series for series in beside.series} if beside else {},
        backlogs_beside={each.key: each for each in beside.backlogs} if beside else {},
        bar=bars,
        axis=plots.AXIS,
        box=throughput.BOX,
    )
