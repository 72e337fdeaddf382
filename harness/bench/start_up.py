"""Starts of whole clusters beside the floor: no start can be faster than etcd and API server alone."""

import time
from pathlib import Path

from harness.bench.rounds import Samples
from harness.clusters.local.provider import LocalProvider
from harness.clusters.profile import Profile

TITLES = {
    "floor": "etcd and API server ready",
    "start": "whole cluster ready, with its kubelets",
    "teardown": "cluster removed",
}


def start_up(provider: LocalProvider, directory: Path, profile: Profile) -> Samples:
    """One of each, one after the other. Raises InfrastructureError when one does not start."""
    floor = provider.floor(directory / "floor", profile)
    began = time.monotonic()
    cluster = provider.start(directory / "start", name="bench", profile=profile)
    started = time.monotonic()
    cluster.delete()
    return {"floor": [floor], "start": [started - began], "teardown": [time.monotonic() - started]}
