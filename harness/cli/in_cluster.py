"""`in-cluster`, `gather`: a run whose shards are Pods of a Job (docs/in-cluster.md)."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import report
from harness.cli import kubeconfig
from harness.cli.command import Commands
from harness.errors import InfrastructureError
from harness.kube import Client
from harness.matrix import in_cluster

_NAMESPACE = "dra-e2e-suite"


def add(commands: Commands) -> None:
    """Declare the commands."""
    run = commands.add("in-cluster", _run, "in a Pod: run its shard on its own cluster, and leave the report there")
    run.add_argument("--shards", type=int, default=1, metavar="N", help="of how many; its own: JOB_COMPLETION_INDEX")
    run.add_argument("--sonobuoy", type=Path, metavar="DIR", help="hand the results to a sonobuoy worker there, too")
    run.add_argument("arguments", nargs="*", metavar="-- ARGUMENT", help="of pytest")
    gather = commands.add("gather", _gather, "merge the reports that the shards of a Job have left in their cluster")
    kubeconfig.options(gather)
    gather.add_argument("-n", "--namespace", default=_NAMESPACE, help=f"where the Job is ({_NAMESPACE})")
    gather.add_argument("--output", type=Path, default=Path("reports/gathered"), metavar="DIR", help="where it goes")


def _run(chosen: argparse.Namespace) -> int:
    """0 when there is a report, whatever it says: the Job is done then, and `gather` has the answer."""
    shard = int(os.environ.get("JOB_COMPLETION_INDEX", "0")) + 1
    with tempfile.TemporaryDirectory(prefix="dra-e2e-") as scratch:
        config = in_cluster.kubeconfig(Path(scratch))
        command = [sys.executable, "-m", "pytest", "scenarios", "--provider=existing", f"--kubeconfig={config}"]
        command += [f"--shard={shard}/{chosen.shards}", f"--reports={scratch}/reports", *chosen.arguments]
        done = subprocess.run(command, check=False)
        written = sorted(Path(scratch).glob("reports/*/report.json"))
        if not written:
            raise InfrastructureError(f"shard {shard} of {chosen.shards} ended with {done.returncode} and no report")
        directory = written[-1].parent
        namespace = os.environ.get("POD_NAMESPACE", _NAMESPACE)
        in_cluster.publish(Client(config, namespace=namespace), directory, shard, chosen.shards)
        if chosen.sonobuoy:
            _hand_over(directory, chosen.sonobuoy)
    return 0


def _hand_over(directory: Path, target: Path) -> None:
    """What sonobuoy takes: the results, and a file `done` that names them."""
    (results,) = report.export(report.read(directory), "sonobuoy", target)
    (target / "done").write_text(str(results), encoding="utf-8")


def _gather(chosen: argparse.Namespace) -> int:
    target = report.place("--output", chosen.output)
    with kubeconfig.client(chosen) as client:
        directories = in_cluster.gather(client.in_namespace(chosen.namespace), target / "shards")
    merged = report.merge(directories, target)
    print(report.headline(merged))
    print(target / "index.html")
    return report.exit_code(merged.statements)
