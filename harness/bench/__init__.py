"""Numbers: how fast Kubernetes decides, what a start and a scenario take, how fast a wait wakes up."""

from harness.bench.files import read, write
from harness.bench.machine import describe
from harness.bench.model import Backlog, Bench, Budget, Series
from harness.bench.suite import PARTS, Side, Suite

__all__ = ["PARTS", "Backlog", "Bench", "Budget", "Series", "Side", "Suite", "describe", "read", "write"]
