"""The pytest plugin: options, markers, fixtures and report hooks. Nothing else in the harness knows pytest."""

import signal
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from types import FrameType

import pytest

from harness.clusters.profile import load
from harness.clusters.run import Run
from harness.errors import HarnessError, UsageError
from harness.evidence import keep
from harness.plugin import markers, options, outcome, selection
from harness.plugin.controller import REPORT, Controller, one_line
from harness.plugin.outcome import Difference
from harness.plugin.results import ATTRIBUTE
from harness.plugin.scenario import Scenario
from harness.plugin.worker import Trace, Worker
from harness.releases import Release
from harness.report import catalogue

OPTIONS = pytest.StashKey[options.Options]()
CONTROLLER = pytest.StashKey[Controller]()
WORKER = pytest.StashKey[Worker]()
TRACE = pytest.StashKey[Trace]()
COLLECTED = pytest.StashKey[list[dict[str, object]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    options.add(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Check the command line; a wrong one ends here, in one line, with pytest's exit code for usage."""
    for marker in markers.MARKERS:
        config.addinivalue_line("markers", marker)
    if _is_worker(config):
        # A seed that was not given was chosen by the process that started the workers.
        config.option.seed = config.workerinput["dra_e2e_seed"]  # type: ignore[attr-defined]
    try:
        config.stash[OPTIONS] = options.read(config)
    except HarnessError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[COLLECTED] = []
    if not _is_worker(config):
        controller = Controller(config, config.stash[OPTIONS])
        config.stash[CONTROLLER] = controller
        config.pluginmanager.register(controller, "dra-e2e-controller")
        signal.signal(signal.SIGTERM, _interrupt)


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    """A polite kill ends a run as Ctrl-C does: with its report, and with nothing left behind."""
    raise KeyboardInterrupt


# -- collection ---------------------------------------------------------------------------------------------------


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeat scenarios for --rounds."""
    if "scenario" in metafunc.fixturenames:
        selection.repeat(metafunc, metafunc.config.stash[OPTIONS].rounds)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Read the markers of all scenarios and keep those that the user asked for."""
    scenarios = [item for item in items if "scenario" in getattr(item, "fixturenames", ())]
    if not scenarios:
        return
    statements = catalogue.load()
    try:
        for item in scenarios:
            item.stash[selection.MARKS] = markers.read(item, statements)
        _check_profiles(scenarios, config.stash[OPTIONS].release)
    except HarnessError as error:
        if not _is_worker(config):
            raise pytest.UsageError(str(error)) from None
        config.workeroutput["dra_e2e_misuse"] = str(error)  # type: ignore[attr-defined]
        items.clear()  # an exception here would be a crash to xdist; all workers find the same
        return
    if listing := config.getoption("list_marks"):
        marks = (item.stash[selection.MARKS] for item in scenarios)
        rows = (f"{','.join(mark.statements)}\t{','.join(mark.controls)}\n" for mark in marks)
        listing.write_text("".join(rows), encoding="utf-8")
    chosen = config.stash[OPTIONS]
    release = chosen.release.minor
    config.stash[COLLECTED] = [
        Trace(item.stash[selection.MARKS]).result(item.nodeid, "deselected", "", release, swapped=False)
        for item in scenarios
    ]
    others = [item for item in items if item not in scenarios]
    kept = [*scenarios]
    deselected = selection.select(kept, chosen)
    items[:] = others + kept
    config.hook.pytest_deselected(items=deselected)


def _check_profiles(scenarios: Sequence[pytest.Item], release: Release) -> None:
    """Find a profile or gate that cannot be before anything is started for another one."""
    for item in scenarios:
        if wanted := item.stash[selection.MARKS].profile:
            name, off, on = wanted
            try:
                load(name).variation(off=off, on=on).resolve(release)
            except HarnessError as error:
                raise UsageError(f"{item.nodeid}: {error}") from None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Tell what there is and, in a single process, have the programs ready."""
    config = session.config
    chosen = {item.nodeid for item in session.items}
    collected = [
        {**entry, "outcome": "not run"} if entry["nodeid"] in chosen else entry for entry in config.stash[COLLECTED]
    ]
    if _is_worker(config):
        config.workeroutput["dra_e2e_collected"] = collected  # type: ignore[attr-defined]
        return
    config.stash[CONTROLLER].collected(collected)
    distributed = getattr(config.option, "dist", "no") != "no"
    if collected and chosen and not distributed and not config.option.collectonly:
        with one_line():
            config.stash[CONTROLLER].prepare()


# -- fixtures -----------------------------------------------------------------------------------------------------


def _worker(config: pytest.Config) -> Worker:
    if WORKER not in config.stash:
        if _is_worker(config):
            workerinput = config.workerinput  # type: ignore[attr-defined]
            run = Run.attach(Path(workerinput["dra_e2e_run"]))
            number = int(workerinput["workerid"].removeprefix("gw"))
        else:
            run, number = config.stash[CONTROLLER].run(), 0
        config.stash[WORKER] = Worker(config.stash[OPTIONS], run, number)
    return config.stash[WORKER]


@pytest.fixture
def scenario(request: pytest.FixtureRequest) -> Iterator[Scenario]:
    """The scenario's own part of a cluster: a namespace, drivers, nodes; see harness.plugin.scenario.Scenario."""
    marks = request.node.stash[selection.MARKS]
    trace = request.node.stash[TRACE]
    _skip_where_unseen(request, marks, trace)
    with _worker(request.config).scenario(request.node.originalname, marks) as own:
        trace.scenario = own
        yield own
        _keep_evidence(request, trace)


@pytest.fixture
def difference(request: pytest.FixtureRequest) -> Difference:
    """`difference("the class is missing")`: False in an ordinary run, True where the scenario must fail."""
    return Difference(request.config.stash[OPTIONS].controls, request.node.stash[TRACE].differences)


def _skip_where_unseen(request: pytest.FixtureRequest, marks: markers.Marks, trace: Trace) -> None:
    release = request.config.stash[OPTIONS].release
    if unknown := sorted(gate for gate in _gates(marks) if release.gate(gate) is None):
        trace.skip = "release"
        pytest.skip(f"{release.minor} has no feature gate {', '.join(unknown)}")
    if marks.needs and (missing := marks.needs - _worker(request.config).capabilities(marks)):
        trace.skip = "need"
        pytest.skip(f"the cluster offers no {', '.join(sorted(missing))}")


def _gates(marks: markers.Marks) -> set[str]:
    """The feature gates that the marked statements name; API groups, which have a slash or a dot, are not gates."""
    statements = catalogue.load()
    named = {
        gate
        for identifier in marks.ids
        for gate in (*statements[identifier].gates, *statements[identifier].gates_extra)
    }
    return {gate for gate in named if gate.isalnum()}


def _keep_evidence(request: pytest.FixtureRequest, trace: Trace) -> None:
    """Keep everything that can explain a failure, as long as the scenario's objects are there."""
    report = request.node.stash.get(CALL, None)
    if report is None or not report.failed or trace.scenario is None:
        return
    own = trace.scenario
    trace.evidence = Path("evidence") / own.namespace
    report_directory = Path((_worker(request.config).run.directory / REPORT).read_text(encoding="utf-8"))
    keep(own.cluster, own.client, own.namespace, own.marks(), report_directory / trace.evidence)


# -- outcomes -----------------------------------------------------------------------------------------------------

CALL = pytest.StashKey[pytest.TestReport]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Begin the trace of a scenario."""
    if selection.MARKS in item.stash:
        item.stash[TRACE] = Trace(item.stash[selection.MARKS])
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say what the end of each phase means for the scenario, in the report that travels to the controller."""
    report = yield
    if selection.MARKS not in item.stash or (call.when != "call" and report.passed):
        if call.when == "teardown" and CALL in item.stash:
            _attach_result(item, report, item.stash[CALL])
        return report
    error = call.excinfo.value if call.excinfo else None
    if isinstance(error, HarnessError):
        report.longrepr = str(error)  # where it was raised says nothing to the user
    trace = item.stash[TRACE]
    swapped = item.config.stash[OPTIONS].controls
    if call.when == "call" and swapped and not report.skipped:
        verdict, reason = outcome.inverted(error, trace.differences)
        report.outcome = "passed" if verdict == "passed" else "failed"
        report.longrepr = None if verdict == "passed" else report.longrepr or reason
    elif report.skipped:
        verdict, reason = "skipped", _skip_reason(report)
    elif error is None:
        verdict, reason = "passed", ""
    else:
        verdict = outcome.of_exception(error) if call.when == "call" else "error"
        reason = f"{type(error).__name__}: {error}" if verdict == "error" else str(error)
    item.stash[VERDICT] = (verdict, _first_lines(reason))
    if call.when == "call":
        item.stash[CALL] = report
    else:
        _attach_result(item, report, report)
    return report


VERDICT = pytest.StashKey[tuple[str, str]]()

#: A reason stands in tables: the first lines tell, the rest is in the evidence.
REASON_LENGTH = 600


def _attach_result(item: pytest.Item, report: pytest.TestReport, judged: pytest.TestReport) -> None:
    chosen = item.config.stash[OPTIONS]
    verdict, reason = item.stash[VERDICT]
    data = item.stash[TRACE].result(item.nodeid, verdict, reason, chosen.release.minor, chosen.controls)
    setattr(report, ATTRIBUTE, data)


def _skip_reason(report: pytest.TestReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def _first_lines(text: str) -> str:
    return text if len(text) <= REASON_LENGTH else f"{text[:REASON_LENGTH]}…"


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Wait until the scenarios of this process have left their clusters."""
    worker = session.config.stash.get(WORKER, None)
    if worker is None:
        return
    lines = [f"a scenario did not leave its cluster cleanly: {line}" for line in worker.close()]
    if _is_worker(session.config):
        session.config.workeroutput["dra_e2e_trouble"] = lines  # type: ignore[attr-defined]
    else:
        session.config.stash[CONTROLLER].trouble(lines)
