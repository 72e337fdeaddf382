"""The process that starts a run: it owns the clusters, collects the results and writes the report."""

import contextlib
import json
import os
import platform
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from harness import drivers, programs, releases
from harness.clusters import providers, reaper
from harness.clusters.local.cluster import PROGRAMS, LocalCluster
from harness.clusters.run import Run
from harness.errors import HarnessError, InfrastructureError, UsageError
from harness.plugin import outcome
from harness.plugin.options import Options
from harness.plugin.results import Results
from harness.report import Host, Replacement, Report, assess, catalogue, column, exit_code, headline, write
from harness.report import Program as ProgramFacts
from harness.report import Run as RunFacts

#: The file in a run's directory that tells its workers where the report, and so the evidence, goes.
REPORT = "report"

#: The folder of a report for the logs of clusters that did not start.
FAILED_CLUSTERS = Path("evidence") / "clusters"

#: The file there in which a worker tells what it has collected; all collect the same.
COLLECTION = "collected.json"

INTERRUPTED = 2


@contextlib.contextmanager
def one_line() -> Iterator[None]:
    """Trouble of the harness ends the session with one line and its exit code, instead of a traceback."""
    try:
        yield
    except HarnessError as error:
        pytest.exit(str(error), returncode=error.exit_code)


class Controller:
    """Everything that happens once per run, in the process the user started."""

    def __init__(self, config: pytest.Config, options: Options) -> None:
        self._config = config
        self._options = options
        self._results = Results()
        self._run: Run | None = None
        self._started = datetime.now(UTC)
        self._clock = time.monotonic()
        self._warnings: list[str] = []
        self._misuse: str | None = None
        self._troubled = False
        self._prepared = False
        self._programs: dict[str, programs.Program] = {}
        self._report: tuple[Report, Path] | None = None

    # -- before the first scenario ------------------------------------------------------------------------------

    def run(self) -> Run:
        """The run, made on first need: what dead runs left behind is removed and the programs are there."""
        if self._run is None:
            if reaped := reaper.reap():
                print(f"dra-e2e: removed what dead runs left behind: {', '.join(reaped)}", file=sys.stderr)
            self._run = Run.create()
            (self._run.directory / REPORT).write_text(str(self._directory(self._run).absolute()), encoding="utf-8")
            if self._options.keep_cluster:
                self._run.keep()
        return self._run

    def prepare(self) -> None:
        """Have the host and the programs ready, once and with progress, before workers wait for them."""
        if self._prepared:
            return
        self._prepared = True
        self.run()
        options = self._options
        for notice in providers.prepare(options.provider, options.release, options.target, options.wishes):
            print(f"dra-e2e: {notice}", file=sys.stderr)
            self._warnings.append(notice)
        drivers.prepare(options.provider, options.driver_image, _tell)
        # kubectl: some scenarios do what a document tells its reader to type.
        all_programs = (*PROGRAMS, "kubectl") if options.provider == LocalCluster.provider else ("kubectl",)
        replaced = options.components.replacements
        wanted = [name for name in all_programs if name not in replaced]
        try:
            self._programs = {**programs.get_all(wanted, options.release), **replaced}
        except InfrastructureError as error:
            if options.target is None:
                raise
            # In a Pod of the cluster itself there may be no way to it, and few scenarios need it.
            self._warnings.append(f"statements that show what kubectl does are not observable here: {error}")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """xdist: tell a worker which run it belongs to, and the order of the scenarios."""
        with one_line():
            node.workerinput["dra_e2e_run"] = str(self.run().directory)
            node.workerinput["dra_e2e_seed"] = self._options.seed

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """xdist: the last moment before workers begin; the programs are fetched once, where the user sees it."""
        if ids:
            with one_line():
                self.prepare()

    # -- while it runs ------------------------------------------------------------------------------------------

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in what a worker, or this process itself, says about a scenario."""
        self._results.add(report)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """xdist: a worker also tells what went wrong beside scenarios."""
        output: Mapping[str, Any] = getattr(node, "workeroutput", None) or {}
        self.trouble(output.get("dra_e2e_trouble", []))
        self._misuse = output.get("dra_e2e_misuse", self._misuse)

    def collected(self, scenarios: list[dict[str, Any]]) -> None:
        """Remember every scenario there is: what was not selected or did not run has its verdict, too."""
        self._results.collected(scenarios)

    def trouble(self, lines: Iterable[str]) -> None:
        """Take in what went wrong beside the scenarios: they say nothing of it, but the run is not clean."""
        for line in lines:
            self._troubled = True
            self._warnings.append(line)

    # -- at the end ---------------------------------------------------------------------------------------------

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the report, remove the clusters, and turn the verdicts into the exit code."""
        if self._run is None:
            return
        try:
            if self._results.any():
                self._write_report(self._run, interrupted=exitstatus == INTERRUPTED)
        except HarnessError as error:
            self.trouble([str(error)])
        finally:
            self._end(self._run)
        if self._misuse:
            session.exitstatus = UsageError.exit_code
        elif exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            stated = exit_code(self._report[0].statements) if self._report else exitstatus
            session.exitstatus = outcome.exit_code(stated, self._results.others_failed(), self._troubled)

    def _end(self, run: Run) -> None:
        if self._options.keep_cluster:
            run.release()
            return
        try:
            reaper.remove(run)
        except HarnessError as error:
            self.trouble([str(error)])

    def _write_report(self, run: Run, *, interrupted: bool) -> None:
        options = self._options
        collection = run.directory / COLLECTION
        if collection.exists():
            self.collected(json.loads(collection.read_text(encoding="utf-8")))
        pool = providers.pool(options.provider, run, options.release, options.components, options.target)
        facts, notes = column.of_cluster(pool.find(options.profile), options.profile.name)
        replaced = options.components.replacements
        if facts:
            facts = replace(facts, programs=self._program_facts(), configuration=self._configuration())
            own = {component: gates for component, gates in facts.gates.items() if component not in replaced}
            disagreements = releases.disagreements(options.release, own)
            if options.target:  # another patch, or a distribution's own: news, and no trouble
                self._warnings += disagreements
            else:
                self.trouble(disagreements)
        report = Report(
            RunFacts(
                id=run.id,
                started=self._started.isoformat(timespec="seconds"),
                duration=round(time.monotonic() - self._clock, 1),
                releases=(facts,) if facts else (),
                host=Host(sys.platform, platform.machine(), os.cpu_count() or 0),
                command=("pytest", *self._config.invocation_params.args),
                seed=options.seed,
                mode="controls" if options.controls else "statements",
                interrupted=interrupted,
                replacements=tuple(Replacement(p.name, p.version, p.sha256) for p in replaced.values()),
                warnings=(*self._warnings, *notes, *self._profile_notes()),
                packages=_packages(),
            ),
            assess(
                catalogue.load(),
                self._results.all(),
                release=options.release.name,
                provider=options.provider,
                selected=self._selected(),
            ),
        )
        directory = self._directory(run)
        write(report, directory)
        for failed in pool.failed():
            kept = directory / FAILED_CLUSTERS / failed.name
            shutil.copytree(failed / "logs", kept, dirs_exist_ok=True)
            self._warnings.append(f"a cluster did not start; its logs: {kept}")
        self._report = (report, directory)

    def _profile_notes(self) -> tuple[str, ...]:
        """What of the profile the release does not have; a cluster that is there knows no profile."""
        options = self._options
        return () if options.target else options.profile.resolve(options.release).notes

    def _program_facts(self) -> tuple[ProgramFacts, ...]:
        if self._options.target:
            return ()
        return tuple(ProgramFacts(p.name, p.version, p.sha256, p.origin) for p in self._programs.values())

    def _configuration(self) -> dict[str, Any]:
        """What the clusters were started with; a cluster that is there was not started by us."""
        options = self._options
        return {} if options.target else asdict(options.profile.resolve(options.release))

    def _selected(self) -> frozenset[str] | None:
        """The statements asked for: by ID, or those of the files named; None when the whole suite was."""
        if self._options.statements is not None:
            return self._options.statements
        root = self._config.rootpath / "scenarios"
        named = [Path(argument.split("::")[0]).resolve() for argument in self._config.args]
        return None if any(path in (root, root.parent) for path in named) else self._results.statements()

    def _directory(self, run: Run) -> Path:
        return self._options.reports / f"{self._started:%Y%m%d-%H%M%S}-{run.id}"

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Tell the answer in one sentence, and where to read on."""
        if self._report:
            report, directory = self._report
            terminalreporter.section("does the cluster do what the documents say?")
            terminalreporter.line(headline(report))
            for statement in report.statements:
                if statement.verdict in ("broken", "error", "unproved"):
                    terminalreporter.line(f"  {statement.id} {statement.verdict}: {statement.reason}")
            terminalreporter.line(f"report: {directory / 'index.html'}")
        if self._options.seed is not None:
            terminalreporter.line(f"random order: --seed={self._options.seed}")
        for warning in self._warnings:
            terminalreporter.line(f"dra-e2e: {warning}")
        if self._misuse:
            terminalreporter.line(f"ERROR: {self._misuse}")

    def pytest_unconfigure(self) -> None:
        """Nothing stays where the session never got to its end."""
        if self._run is not None and self._run.directory.exists() and not self._options.keep_cluster:
            with contextlib.suppress(HarnessError):
                reaper.remove(self._run)


def _packages() -> dict[str, str]:
    """The Python that runs this and its packages, by their usual names."""
    found = {each.metadata["Name"].lower(): each.version for each in metadata.distributions() if each.metadata["Name"]}
    return {"python": platform.python_version(), **dict(sorted(found.items()))}


def _tell(text: str) -> None:
    print(f"dra-e2e: {text}", file=sys.stderr)
