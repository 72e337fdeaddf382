"""`up`, `down` and `reap`: a cluster to play with, and removing what there is."""

import argparse
from pathlib import Path

import yaml

from harness.cli import options
from harness.cli.command import Commands
from harness.cli.progress import Progress
from harness.clusters import reaper
from harness.clusters.existing import provider as existing
from harness.clusters.existing import target as targets
from harness.clusters.pool import PooledCluster
from harness.clusters.run import Run
from harness.drivers import detached
from harness.kube import Client
from harness.kube.builders import claim_template, pod, request

DRIVER = "gpu.example.com"
GPUS = 8


def add(commands: Commands) -> None:
    """Declare the commands."""
    options.add(commands.add("up", _up, "start a cluster with the fake driver to play with; it stays until `down`"))
    down = commands.add("down", _down, "remove clusters that `up` or --keep-cluster left")
    down.add_argument("run", nargs="?", help="the run, by its six digits; without it all of yours")
    reap = commands.add("reap", _reap, "remove what killed runs left behind")
    reap.add_argument("--kept", action="store_true", help="kept clusters, too")
    reap.add_argument("--kubeconfig", type=Path, metavar="FILE", help="what runs left on this cluster, instead")
    reap.add_argument("--context", metavar="NAME", help="in the kubeconfig (its current one)")


def _up(chosen: argparse.Namespace) -> int:
    order = options.read(chosen)
    tell = Progress()
    kubectl = order.make_ready(tell, "kubectl")["kubectl"]
    run = Run.create()
    try:
        tell(f"cluster with profile {order.profile.name}")
        cluster = order.pool(run).shared(order.profile)
        tell(f"driver {DRIVER} with {GPUS} GPUs on each of {', '.join(cluster.kubelet_nodes()) or 'no nodes'}")
        client = Client(cluster.kubeconfig, cluster.release)
        detached.start(cluster, client, DRIVER, [{"profile": "gpus", "count": GPUS}], order.driver_image)
        example = _write_example(run, cluster, client)
        run.keep()
    except BaseException:
        reaper.remove(run)
        raise
    run.release()
    tell("ready")
    print(_manual(run, cluster, kubectl.path, example))
    return 0


def _write_example(run: Run, cluster: PooledCluster, client: Client) -> Path:
    """A Pod that gets a GPU, to begin with."""
    objects = [
        claim_template("one-gpu", request(DRIVER)),
        pod("example", templates={"gpu": "one-gpu"}, image=cluster.image),
    ]
    file = run.directory / "example.yaml"
    complete = [{"apiVersion": "", "kind": "", **client.complete(each)} for each in objects]  # in the usual order
    file.write_text(yaml.safe_dump_all(complete, sort_keys=False), encoding="utf-8")
    return file


def _manual(run: Run, cluster: PooledCluster, kubectl: Path, example: Path) -> str:
    logs = sorted({path.parent for path in run.directory.glob("*/logs/**/*.log")})
    return f"""
A cluster of Kubernetes {cluster.release.version} with the driver {DRIVER}, {GPUS} GPUs on each node:

  export KUBECONFIG={cluster.kubeconfig}
  export PATH={kubectl.parent}:$PATH

  kubectl get nodes,deviceclasses,resourceslices
  kubectl apply -f {example}
  kubectl get pods,resourceclaims -o wide

logs:    {", ".join(map(str, logs))}
remove:  .venv/bin/python -m harness down {run.id}   (make down removes all of yours)"""


def _down(chosen: argparse.Namespace) -> int:
    return _tell_removed(reaper.remove_kept(chosen.run))


def _reap(chosen: argparse.Namespace) -> int:
    if chosen.kubeconfig or chosen.context:
        return _tell_removed(existing.clear(targets.read(chosen.kubeconfig, chosen.context)))
    return _tell_removed(reaper.reap(kept=chosen.kept))


def _tell_removed(runs: list[str]) -> int:
    print(f"removed: {', '.join(runs)}" if runs else "nothing to remove")
    return 0
