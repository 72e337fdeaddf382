"""The fixtures of a scenario."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.clusters.run import Run
from harness.evidence import keep
from harness.plugin import markers
from harness.plugin.controller import REPORT
from harness.plugin.keys import CALL, CONTROLLER, MARKS, OPTIONS, TRACE, WORKER, is_worker
from harness.plugin.outcome import Difference
from harness.plugin.scenario import Scenario
from harness.plugin.worker import Trace, Worker
from harness.report import catalogue
from harness.timeline import svg

#: The time axis among the evidence.
TIMELINE = "timeline.svg"


def worker_of(config: pytest.Config) -> Worker:
    """The part of this process in the run, made on first need."""
    if WORKER not in config.stash:
        if is_worker(config):
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
    marks = request.node.stash[MARKS]
    trace = request.node.stash[TRACE]
    _skip_where_unseen(request, marks, trace)
    with worker_of(request.config).scenario(request.node.originalname, marks) as own:
        trace.scenario = own
        yield own
        trace.timeline = own.timeline()
        _keep_evidence(request, trace)


@pytest.fixture
def difference(request: pytest.FixtureRequest) -> Difference:
    """`difference("the class is missing")`: False in an ordinary run, True where the scenario must fail."""
    return Difference(request.config.stash[OPTIONS].controls, request.node.stash[TRACE].differences)


def _skip_where_unseen(request: pytest.FixtureRequest, marks: markers.Marks, trace: Trace) -> None:
    release = request.config.stash[OPTIONS].release
    if unknown := sorted(gate for gate in _gates(marks) if not release.knows(gate)):
        trace.skip = "release"
        pytest.skip(f"{release.name} has no feature gate {', '.join(unknown)}")
    if lacking := sorted(feature for feature in marks.features if not release.has(feature)):
        trace.skip = "release"
        pytest.skip(f"{release.name} has no {', '.join(lacking)}")
    if obstacles := worker_of(request.config).obstacles(marks, _named(marks)):
        trace.skip = "need"
        pytest.skip(f"the cluster offers no {', no '.join(obstacles)}")
    if marks.needs and (missing := marks.needs - worker_of(request.config).capabilities(marks)):
        trace.skip = "need"
        pytest.skip(f"the cluster offers no {', '.join(sorted(missing))}")


def _gates(marks: markers.Marks) -> set[str]:
    """The feature gates that the marked statements name; API groups, which have a slash or a dot, are not gates."""
    return {gate for gate in _named(marks) if gate.isalnum()}


def _named(marks: markers.Marks) -> set[str]:
    """The feature gates and API versions that the marked statements name."""
    statements = [catalogue.load()[identifier] for identifier in marks.ids]
    return {gate for statement in statements for gate in (*statement.gates, *statement.gates_extra)}


def _keep_evidence(request: pytest.FixtureRequest, trace: Trace) -> None:
    """Keep everything that can explain a failure, as long as the scenario's objects are there."""
    report = request.node.stash.get(CALL, None)
    if report is None or not report.failed or trace.scenario is None:
        return
    own = trace.scenario
    trace.evidence = Path("evidence") / own.namespace
    report_directory = Path((worker_of(request.config).run.directory / REPORT).read_text(encoding="utf-8"))
    keep(own.cluster, own.client, own.namespace, own.marks(), report_directory / trace.evidence)
    if trace.timeline:
        (report_directory / trace.evidence / TIMELINE).write_text(svg.document(trace.timeline), encoding="utf-8")
