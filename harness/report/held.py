"""What each gang that was held back lacked, as the cluster told it."""

from dataclasses import dataclass

from harness.report.model import Report


@dataclass(frozen=True)
class Held:
    """A held gang: `lacks` is `quorum` (too few of its Pods exist) or `resources` (no room for as many as it needs)."""

    scenario: str
    gang: str
    lacks: str
    text: str


def held(report: Report) -> list[Held]:
    """Every held gang of every scenario, those that lack the same side by side."""
    found = [
        Held(result.nodeid.rsplit("::", 1)[-1], seen.object.removeprefix("gang "), seen.lacks, seen.text)
        for result in report.scenarios().values()
        for seen in result.observed
        if seen.lacks
    ]
    return sorted(found, key=lambda gang: gang.lacks)
