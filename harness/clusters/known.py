"""A cluster as every process of the run knows it, whoever started it."""

from pathlib import Path

from harness.clusters.facts import Facts
from harness.releases import Release


class KnownCluster:
    """What the facts in its directory tell of a cluster."""

    facts: Facts

    def __init__(self, directory: Path, facts: Facts) -> None:
        self.directory = directory
        self.facts = facts

    @property
    def name(self) -> str:
        """The name by which the run knows the cluster."""
        return self.facts.name

    @property
    def release(self) -> Release:
        """The release its control plane runs."""
        return self.facts.release
