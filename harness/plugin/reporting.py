"""Reporting: what the end of each phase of a test means for the scenario."""

from collections.abc import Generator

import pytest

from harness.clusters.protocol import NotObservable
from harness.errors import HarnessError
from harness.plugin import outcome
from harness.plugin.keys import CALL, MARKS, OPTIONS, TRACE, VERDICT
from harness.plugin.results import ATTRIBUTE
from harness.plugin.worker import Trace

#: A reason stands in tables: the first lines tell, the rest is in the evidence.
REASON_LENGTH = 600


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Begin the trace of a scenario."""
    if MARKS in item.stash:
        item.stash[TRACE] = Trace(item.stash[MARKS])
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say what the end of each phase means for the scenario, in the report that travels to the controller."""
    report = yield
    if MARKS not in item.stash or (call.when != "call" and report.passed):
        if call.when == "teardown" and CALL in item.stash:
            _attach_result(item, report, item.stash[CALL])
        return report
    error = call.excinfo.value if call.excinfo else None
    if isinstance(error, HarnessError):
        report.longrepr = str(error)  # where it was raised says nothing to the user
    trace = item.stash[TRACE]
    if isinstance(error, NotObservable) and call.when != "teardown":
        trace.skip = "need"
        report.outcome = "skipped"
        report.longrepr = (*item.reportinfo()[:2], f"Skipped: {error}")  # type: ignore[assignment]
    swapped = item.config.stash[OPTIONS].controls
    if call.when == "call" and swapped and not report.skipped:
        verdict, reason = outcome.inverted(error, trace.differences)
        report.outcome = "passed" if verdict == "passed" else "failed"
        report.longrepr = None if verdict == "passed" else report.longrepr or reason
    elif report.skipped:
        verdict, reason = "skipped", _skip_reason(report)
    elif error is None and report.passed and trace.scenario and not trace.scenario.asked:
        verdict, reason = "failed", "asks nothing of the cluster: it proves nothing"
        report.outcome, report.longrepr = "failed", reason
    elif error is None:  # a failure without an exception: xfail(strict=True) that passed
        verdict, reason = ("failed", str(report.longrepr)) if report.failed else ("passed", "")
    else:
        verdict = outcome.of_exception(error) if call.when == "call" else "error"
        reason = f"{type(error).__name__}: {error}" if verdict == "error" else str(error)
    if item.stash.get(VERDICT, ("", ""))[0] != "failed":  # trouble on leaving does not hide a broken statement
        item.stash[VERDICT] = (verdict, _first_lines(reason))
    if call.when == "call":
        item.stash[CALL] = report
    else:
        _attach_result(item, report, report)
    return report


def _attach_result(item: pytest.Item, report: pytest.TestReport, judged: pytest.TestReport) -> None:
    chosen = item.config.stash[OPTIONS]
    verdict, reason = item.stash[VERDICT]
    data = item.stash[TRACE].result(item.nodeid, verdict, reason, chosen.release.programs.minor, chosen.controls)
    setattr(report, ATTRIBUTE, data)


def _skip_reason(report: pytest.TestReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def _first_lines(text: str) -> str:
    return text if len(text) <= REASON_LENGTH else f"{text[:REASON_LENGTH]}…"
