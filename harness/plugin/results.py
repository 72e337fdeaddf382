"""The results of the scenarios, as the controlling process gathers them from its workers."""

from typing import Any

import pytest

from harness.report import ScenarioResult

#: The attribute by which a test report carries a scenario's result from worker to controller (plain data).
ATTRIBUTE = "dra_e2e"


class Results:
    """Every scenario's result; of several reports on one scenario (call, teardown) the worst outcome stays."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, Any]] = {}
        self._finished: dict[str, dict[str, Any]] = {}
        self._unexplained: dict[str, str] = {}

    def add(self, report: pytest.TestReport) -> None:
        """Take in a report. A failure that tells no result is a test that is no scenario, or a worker that died."""
        data: dict[str, Any] | None = getattr(report, ATTRIBUTE, None)
        if data is None:
            if report.failed:
                self._unexplained[report.nodeid] = report.longreprtext
            return
        earlier = self._finished.get(report.nodeid, data)
        self._finished[report.nodeid] = max(earlier, data, key=_badness)

    def collected(self, scenarios: list[dict[str, Any]]) -> None:
        """Take in scenarios that exist, selected or not."""
        for scenario in scenarios:
            self._known[scenario["nodeid"]] = scenario

    def statements(self) -> frozenset[str]:
        """Every statement that a collected scenario or control names."""
        return frozenset(
            identifier for data in self._known.values() for identifier in (*data["statements"], *data["controls"])
        )

    def any(self) -> bool:
        """Whether a scenario came to a result."""
        return bool(self._finished or self._unexplained.keys() & self._known.keys())

    def all(self) -> list[ScenarioResult]:
        """Results of all scenarios, those without one included."""
        lost = {
            nodeid: {**self._known[nodeid], "outcome": "error", "reason": reason}
            for nodeid, reason in self._unexplained.items()
            if nodeid in self._known
        }
        return [ScenarioResult.from_json(data) for data in {**self._known, **lost, **self._finished}.values()]

    def others_failed(self) -> bool:
        """Whether a test that is no scenario failed."""
        return bool(self._unexplained.keys() - self._known.keys())


def _badness(data: dict[str, Any]) -> int:
    return {"failed": 2, "error": 1}.get(data["outcome"], 0)
