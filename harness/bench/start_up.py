"""Starts of whole clusters beside the floor: no start can be faster than etcd and API server alone."""

import time
from pathlib import Path

from harness.bench.model import Series
from harness.clusters.local.cluster import LocalCluster
from harness.clusters.local.provider import LocalProvider
from harness.clusters.profile import Profile


def start_up(
    provider: LocalProvider, directory: Path, profile: Profile, repetitions: int
) -> tuple[list[Series], LocalCluster]:
    """Measure both in turn, so that a disturbance hits both; the last cluster is left running, and returned.

    Raises InfrastructureError when one does not start.
    """
    floors, starts, removals = [], [], []
    for number in range(repetitions + 1):
        floors.append(provider.floor(directory / f"f{number}", profile))
        began = time.monotonic()
        cluster = provider.start(directory / f"c{number}", name=f"bench-{number}", profile=profile)
        starts.append(time.monotonic() - began)
        if number == repetitions:
            break
        began = time.monotonic()
        cluster.delete()
        removals.append(time.monotonic() - began)
    # The first of each reads the programs from disk.
    series = [
        Series("floor", "etcd and API server ready", tuple(floors[1:])),
        Series("start", f"whole cluster ready, {len(cluster.kubelet_nodes())} kubelets", tuple(starts[1:])),
        Series("teardown", "cluster removed", tuple(removals)),
    ]
    return series, cluster
