"""`bench`: numbers, against the budgets of the project and an earlier benchmark."""

import argparse
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from harness import bench
from harness.bench.page import amount, change
from harness.cli import options
from harness.cli.command import NEGATIVE, Commands
from harness.cli.options import Order
from harness.cli.progress import Progress
from harness.clusters import reaper
from harness.clusters.local.cluster import LocalCluster
from harness.clusters.local.provider import LocalProvider
from harness.clusters.run import Run
from harness.errors import UsageError
from harness.kube import Client

_WAKE_UPS = 300
_PODS = 20
_SCENARIOS = 15
_HELD_BACK = 100
_ROUNDS = 3


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add("bench", _bench, "start-up, overhead and wake-up times; exit code 1 when a budget is missed")
    options.add(parser)
    parser.add_argument("--starts", type=int, default=3, metavar="N", help="starts of a cluster to measure (3)")
    parser.add_argument("--compare", type=Path, metavar="BENCH.JSON", help="an earlier benchmark to stand beside it")
    parser.add_argument("--reports", type=Path, default=Path("reports"), metavar="DIR", help="where bench-<time>/ goes")


def _bench(chosen: argparse.Namespace) -> int:
    order = options.read(chosen)
    if order.provider != LocalCluster.provider:
        raise UsageError("bench measures provider local only")
    if chosen.starts < 1:
        raise UsageError(f"--starts must be at least 1, not {chosen.starts}")
    earlier = bench.read(chosen.compare) if chosen.compare else None
    started = datetime.now(UTC)
    machine = bench.describe()
    tell = Progress()
    tell(f"programs of Kubernetes {order.release.version}")
    order.fetch()
    run = Run.create()
    try:
        series = _measure(run, order, chosen.starts, tell)
    finally:
        reaper.remove(run)
    time = started.isoformat(timespec="seconds")
    result = bench.Bench(time, order.release.version, order.provider, order.profile.name, machine, tuple(series))
    page = bench.write(result, chosen.reports / f"bench-{started:%Y%m%d-%H%M%S}", earlier)
    tell("done")
    Console().print(_table(result, earlier))
    for budget in result.budgets:
        print(f"{'kept  ' if budget.kept else 'MISSED'} {budget.title}: {budget.measured:.3g} of {budget.limit:g}")
    print(f"numbers: {page}")
    return 0 if all(budget.kept for budget in result.budgets) else NEGATIVE


def _measure(run: Run, order: Order, starts: int, tell: Progress) -> list[bench.Series]:
    tell(f"{starts} starts of a cluster, and one to warm up")
    provider = LocalProvider(run, order.release, order.components)
    series, cluster = bench.start_up(provider, run.directory, order.profile, starts)
    client = Client(cluster.kubeconfig, cluster.release)
    tell(f"{_WAKE_UPS} waits")
    series.append(bench.wake_up(client, _WAKE_UPS))
    tell(f"{_PODS} Pods, each with a GPU")
    series += bench.pods(cluster, client, _PODS)
    tell(f"{_HELD_BACK} Pods that wait for binding conditions, {_ROUNDS} times")
    series += bench.held_back(cluster, client, _HELD_BACK, _ROUNDS)
    cluster.delete()
    tell(f"pytest with {2 * _SCENARIOS} scenarios")
    return series + bench.overhead(run.directory, order.arguments, _SCENARIOS)


def _table(result: bench.Bench, earlier: bench.Bench | None) -> Table:
    table = Table("what", "n", "median", "p95", "p99", "max", *(["before", "change"] if earlier else []), box=None)
    before = {series.name: series.median for series in earlier.series} if earlier else {}
    for series in result.series:
        numbers = (series.median, series.percentile(95), series.percentile(99), max(series.samples))
        old = before.get(series.name)
        compared = [] if earlier is None else ["", "new"] if old is None else [amount(old), change(series.median, old)]
        table.add_row(series.title, str(len(series.samples)), *map(amount, numbers), *compared)
    return table
