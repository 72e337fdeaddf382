"""Numbers: how long a start takes, what a scenario costs beside Kubernetes, how fast a wait wakes up."""

from harness.bench.files import read, write
from harness.bench.held_back import held_back
from harness.bench.machine import describe
from harness.bench.model import Bench, Budget, Series
from harness.bench.overhead import overhead
from harness.bench.pods import pods
from harness.bench.start_up import start_up
from harness.bench.wake_up import wake_up

__all__ = [
    "Bench",
    "Budget",
    "Series",
    "describe",
    "held_back",
    "overhead",
    "pods",
    "read",
    "start_up",
    "wake_up",
    "write",
]
