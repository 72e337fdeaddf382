"""`chaos`: named faults over a standard load, one after the other, and what must be true after each."""

import argparse
import random
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from fake_driver.profiles import mixed
from harness import faults, report
from harness.cli import options
from harness.cli.command import NEGATIVE, Commands
from harness.cli.options import Order
from harness.cli.progress import Progress
from harness.clusters import reaper
from harness.clusters.local.cluster import LocalCluster
from harness.clusters.run import Run
from harness.drivers import DriverHost
from harness.errors import UsageError
from harness.evidence.keep import keep
from harness.faults import workloads
from harness.kube import Client

#: What the standard load needs.
_NODES = 3


def add(commands: Commands) -> None:
    """Declare the command."""
    parser = commands.add("chaos", _chaos, "named faults over a standard load; exit code 1 when something stays broken")
    options.add(parser)
    parser.add_argument("--fault", nargs="+", action="extend", default=[], metavar="NAME", help="only these")
    parser.add_argument("--list", action="store_true", help="tell the names of all faults, and do nothing")
    parser.add_argument("--seed", type=int, default=None, metavar="N", help="of the load, to have the same one again")
    parser.add_argument("--reports", type=Path, default=Path("reports"), metavar="DIR", help="where chaos-<time>/ goes")


def _chaos(chosen: argparse.Namespace) -> int:
    wanted = faults.named(chosen.fault, faults.FAULTS)
    if chosen.list:
        for fault in wanted:
            print(f"{fault.name:28} {fault.text}")
        return 0
    order = options.read(chosen)
    if len(order.profile.resolve(order.release).workers) < _NODES:
        raise UsageError(f"the standard load needs {_NODES} nodes: give --nodes {_NODES}, or a profile that has them")
    reports = report.place("--reports", chosen.reports)
    started = datetime.now(UTC)
    seed = random.randrange(1 << 16) if chosen.seed is None else chosen.seed  # noqa: S311
    tell = Progress()
    order.make_ready(tell)
    chaos = faults.Chaos(
        started.isoformat(timespec="seconds"), order.release.version, order.provider, order.profile.name, seed
    )
    directory = reports / f"chaos-{started:%Y%m%d-%H%M%S}"
    outcomes: list[faults.Outcome] = []
    try:
        _run(order, wanted, seed, directory, outcomes, tell)
    finally:
        # Also what is known when something went wrong half way.
        if outcomes:
            chaos = replace(chaos, outcomes=tuple(outcomes))
            page = faults.write(chaos, directory)
            print(f"{chaos.headline}\nreport: {page}")
    return 0 if chaos.sound else NEGATIVE


def _run(
    order: Order, wanted: Sequence[faults.Fault], seed: int, directory: Path, outcomes: list[faults.Outcome],
    tell: Progress,
) -> None:  # fmt: skip
    with ExitStack() as stack:
        run = Run.create()
        stack.callback(reaper.remove, run)
        disks = None
        if order.provider == LocalCluster.provider and any(fault.name.startswith("full-disk") for fault in wanted):
            disks = stack.enter_context(faults.small_disks(run.directory))
        if disks:
            order, run = _on_disks(order, run, disks)
        tell(f"a cluster with profile {order.profile.name}, a driver, the load (seed {seed})")
        cluster = order.pool(run).shared(order.profile)
        client = Client(cluster.kubeconfig, cluster.release)
        host = DriverHost(cluster, client, order.driver_image)
        nodes = cluster.kubelet_nodes()
        driver = host.serve(workloads.DRIVER, [mixed(node=node, name=node) for node in nodes], plugins=nodes)
        load = faults.Load(cluster, client, seed)
        load.start()
        target = faults.Target(cluster, client, nodes[0], driver, disks)
        for number, fault in enumerate(wanted, 1):
            tell(f"{number}/{len(wanted)} {fault.name}: {fault.text}, for {fault.seconds:g} s")
            outcome = faults.run(fault, target, cluster, load)
            outcomes.append(outcome)
            tell(f"    {_told(outcome)}")
            if outcome.verdict in faults.UNSOUND:
                evidence = directory / faults.EVIDENCE / fault.name
                keep(cluster, client, workloads.NAMESPACE, [workloads.DRIVER], evidence)


def _on_disks(order: Order, run: Run, disks: faults.Disks) -> tuple[Order, Run]:
    """The same run, on the disks: etcd's data on its own, everything else on the other."""
    inside = Run(disks.harness / run.id)
    inside.directory.mkdir(mode=0o700)
    given = order.components.extra_args
    args = {**given, "etcd": (f"--data-dir={disks.etcd / 'data'}", *given.get("etcd", ()))}
    return replace(order, components=replace(order.components, extra_args=args)), inside


def _told(outcome: faults.Outcome) -> str:
    if outcome.left_out:
        return f"left out: {outcome.left_out}"
    wrong = [violation.sentence for violation in (*outcome.during, *outcome.violations)] + list(outcome.missing)
    if outcome.healed is None or wrong:
        return f"{outcome.verdict.upper()}: {'; '.join(wrong)}"
    load = f"load: {outcome.steps} steps, {outcome.refused} refused"
    last = f"; awaited last: {outcome.last}" if outcome.last else ""
    return f"well after {outcome.healed:.1f} s of {outcome.bound:g}{last}; {load}"
