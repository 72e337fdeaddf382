"""`bench`: numbers, against the budgets of the project and beside earlier ones or the release's own programs."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from harness import bench, report
from harness.bench.plots import amount, change
from harness.cli import options
from harness.cli.command import NEGATIVE, Commands
from harness.cli.options import Order
from harness.cli.progress import Progress
from harness.clusters import reaper
from harness.clusters.local.cluster import LocalCluster
from harness.clusters.local.provider import LocalProvider
from harness.clusters.run import Run
from harness.errors import UsageError


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add("bench", _bench, "throughput, latencies, start-up, overhead; exit code 1 for a missed budget")
    options.add(parser)
    parser.add_argument("--starts", type=int, default=3, metavar="N", help="starts of a cluster to measure (3)")
    parser.add_argument("--only", action="append", default=[], choices=list(bench.PARTS), help="only this part")
    parser.add_argument("--compare", type=Path, metavar="BENCH.JSON", help="an earlier benchmark to stand beside it")
    parser.add_argument("--reports", type=Path, default=Path("reports"), metavar="DIR", help="where bench-<time>/ goes")


def _bench(chosen: argparse.Namespace) -> int:
    order = options.read(chosen)
    changed = (*chosen.component, *chosen.component_arg)
    if order.provider != LocalCluster.provider:
        raise UsageError("bench measures provider local only")
    if chosen.starts < 1:
        raise UsageError(f"--starts must be at least 1, not {chosen.starts}")
    if chosen.compare and changed:
        raise UsageError("--component stands beside the release's own programs already: leave --compare out")
    earlier = replace(bench.read(chosen.compare), beside=None) if chosen.compare else None
    reports = report.place("--reports", chosen.reports)
    started = datetime.now(UTC)
    machine = bench.describe()
    tell = Progress()
    tell(f"programs of Kubernetes {order.release.version}")
    orders = [order, _unchanged(chosen)] if changed else [order]
    for each in orders:
        each.fetch()
    run = Run.create()
    try:
        sides = [_side(run, name, each) for name, each in zip("ab", orders, strict=False)]
        bench.Suite(sides, tell, chosen.starts).run(chosen.only)
    finally:
        reaper.remove(run)
    results = [
        bench.Bench(
            started.isoformat(timespec="seconds"), order.release.version, order.provider, order.profile.name, machine,
            tuple(side.series), tuple(side.backlogs), seconds=round(tell.elapsed),
        )
        for side in sides
    ]  # fmt: skip
    result = replace(results[0], changed=changed, beside=results[1] if changed else earlier)
    page = bench.write(result, reports / f"bench-{started:%Y%m%d-%H%M%S}")
    tell("done")
    _show(result)
    print(f"numbers: {page}")
    return 0 if all(budget.kept for budget in result.budgets) else NEGATIVE


def _unchanged(chosen: argparse.Namespace) -> Order:
    """The same with the release's own programs and without further flags."""
    return options.read(argparse.Namespace(**{**vars(chosen), "component": [], "component_arg": []}))


def _side(run: Run, name: str, order: Order) -> bench.Side:
    directory = run.directory / name
    directory.mkdir(mode=0o700)
    provider = LocalProvider(run, order.release, order.components)
    return bench.Side(name, directory, order.release, provider, order.profile, order.arguments)


def _show(result: bench.Bench) -> None:
    console = Console()
    for table in (_backlogs(result), _series(result)):
        if table.rows:
            console.print(table)
    for budget in result.budgets:
        print(f"{'kept  ' if budget.kept else 'MISSED'} {budget.title}: {budget.measured:.3g} of {budget.limit:g}")


def _backlogs(result: bench.Bench) -> Table:
    table = Table("Pods that wait", "nodes", "devices", "Pods", "Pods/s", *_columns(result), box=None)
    before = {each.key: each.rate for each in result.beside.backlogs} if result.beside else {}
    for each in result.backlogs:
        old = before.get(each.key)
        compared = [] if not result.beside else ["", "new"] if old is None else [f"{old:.1f}", change(each.rate, old)]
        numbers = (str(each.nodes), str(each.devices), str(each.pods), f"{each.rate:.1f}")
        table.add_row(each.title, *numbers, *compared)
    return table


def _series(result: bench.Bench) -> Table:
    table = Table("what", "n", "median", "p95", "p99", "max", *_columns(result), box=None)
    before = {series.name: series.median for series in result.beside.series} if result.beside else {}
    for series in result.series:
        numbers = (series.median, series.percentile(95), series.percentile(99), max(series.samples))
        old = before.get(series.name)
        compared = (
            [] if not result.beside else ["", "new"] if old is None else [amount(old), change(series.median, old)]
        )
        table.add_row(series.title, str(len(series.samples)), *map(amount, numbers), *compared)
    return table


def _columns(result: bench.Bench) -> Sequence[str]:
    if result.beside is None:
        return ()
    return ("without" if result.changed else "before", "change")
